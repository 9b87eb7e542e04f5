"""The matrix: every scenario with every client on every version of RocketMQ, without what is impossible. Pure.

`--matrix clients=java,python rocketmq=4.9.4,5.5.0`: words `DIMENSION=A,B` in any order. A dimension that is not
there stays as it is otherwise: the scenario's own clients, the one version of `--rocketmq`.
Among the versions may be folders of builds, relative to the current one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.core.nearest import clipped, listed, nearest
from rocketchaos.harness.jars.builds import names_a_folder, version_of
from rocketchaos.harness.plan.feasibility import lacks
from rocketchaos.harness.plan.job import Job, job_of
from rocketchaos.harness.rocketmq import versions
from rocketchaos.harness.rocketmq.client_kinds import ClientChoice, client_choice
from rocketchaos.harness.scenario.model import Scenario

EXAMPLE = "clients=java,python rocketmq=4.9.4,5.5.0"


@dataclass(frozen=True, slots=True)
class Cell:
    """One client on one version of RocketMQ."""

    client: ClientChoice | None
    """What consumers get that name no client; None: the scenario's own."""
    rocketmq: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """The dimensions that the user chose. Empty: the default."""

    clients: tuple[ClientChoice, ...] = ()
    rocketmq: tuple[str, ...] = ()

    def cells(self, version: str, client: ClientChoice | None = None) -> tuple[Cell, ...]:
        """Every combination, version by version; `version` and `client` where none is asked for."""
        return tuple(
            Cell(item, release)
            for release in self.rocketmq or (version,)
            for item in self.clients or (client,)
        )


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A scenario in a cell in which it can't run."""

    scenario: str
    client: str
    """As in the table: `java`, `java@4.9.4+python`."""
    rocketmq: str
    reason: str
    code: ExitCode = ExitCode.AS_EXPECTED
    """How the command ends at best: a named version that isn't available must not end as if all was well."""
    lacks: str = ""
    """The reason without the scenario's name, where that is in it: several may have the same."""


def left_out_lines(left_out: Iterable[LeftOut]) -> list[str]:
    """What is left out, a line for each cell and reason, with all the scenarios that it is true of."""
    found: dict[tuple[str, str, str], list[str]] = {}
    absent: dict[tuple[str, str], list[str]] = {}
    for item in left_out:
        if item.code is not ExitCode.AS_EXPECTED:
            # Of every scenario alike: without their names.
            absent.setdefault((item.rocketmq, item.reason), []).append(item.client)
            continue
        found.setdefault((item.client, item.rocketmq, item.lacks or item.reason), []).append(item.scenario)
    return [
        *(
            f"{', '.join(dict.fromkeys(clients))} on RocketMQ {rocketmq}: {reason}"
            for (rocketmq, reason), clients in absent.items()
        ),
        *(
            f"{client} on RocketMQ {rocketmq}: {', '.join(scenarios)} {why}"
            for (client, rocketmq, why), scenarios in found.items()
        ),
    ]


def code_with(left_out: Iterable[LeftOut], code: ExitCode) -> ExitCode:
    """The exit code of runs that end with this one, together with the cells that were left out."""
    return ExitCode.gravest([code, *(item.code for item in left_out)])


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run, and what of the product is not."""

    jobs: tuple[Job, ...]
    left_out: tuple[LeftOut, ...]


def is_word(text: str) -> bool:
    """Whether a word of the command line belongs to `--matrix`: it begins as no path of a user's does."""
    dimension, equals, _ = text.partition("=")
    return bool(equals) and dimension.isalpha()


def parse_matrix(words: Sequence[str]) -> Matrix:
    """What the words ask for.

    Raises:
        UsageProblem: with everything that is wrong with them.
    """
    problems: list[str] = []
    found: dict[str, tuple[object, ...]] = {}
    for word in words:
        name, equals, values = word.partition("=")
        if name not in _DIMENSIONS:
            near = nearest(name, _DIMENSIONS)
            meant = f"; did you mean `{near}=…`?" if near else ""
            what = f"there is no dimension `{clipped(name)}`" if equals else f"`{clipped(word)}` lacks a `=`"
            problems.append(f"{what} (the dimensions are {listed(_DIMENSIONS)}){meant if equals else ''}")
        elif name in found:
            problems.append(f"`{name}` is given twice: write its values in one list, `{name}=A,B`")
        else:
            found[name] = tuple(_values(name, values, problems))
    if problems or not words:
        raise UsageProblem(
            "\n".join(f"--matrix: {problem}" for problem in problems or ["no dimension is named"]),
            f"Write it as `--matrix {EXAMPLE}`.",
        )
    return Matrix(**found)  # type: ignore[arg-type]  # each dimension parses into its own type


def refuse_two_versions(matrix: Matrix, rocketmq: str | None) -> None:
    """`--rocketmq` together with a matrix that names versions: one of them would be silently ignored.

    Raises:
        UsageProblem: both are there.
    """
    if matrix.rocketmq and rocketmq is not None:
        raise UsageProblem(
            f"--rocketmq {rocketmq} and --matrix rocketmq={','.join(matrix.rocketmq)} both choose the versions",
            "Leave one of them out; a matrix without `rocketmq=` runs on that of `--rocketmq`.",
        )


def _values(name: str, text: str, problems: list[str]) -> Iterable[object]:
    parse = _DIMENSIONS[name]
    seen: set[str] = set()
    found: list[object] = []
    parts = [part.strip() for part in text.split(",")]
    if not any(parts):
        problems.append(f"`{name}` is empty: write at least one, `{name}=A,B`")
        return
    for part in parts:
        if part in seen or not part:
            problems.append(
                f"`{part}` is given twice in `{name}`" if part else f"an entry of `{name}` is empty"
            )
            continue
        seen.add(part)
        try:
            value = parse(part)
            if value in found:
                # Two folders with the same build.
                problems.append(f"`{part}` is {value}, which is given twice in `{name}`")
            else:
                yield value
            found.append(value)
        except ValueError as wrong:
            problems.append(str(wrong))
        except UsageProblem as wrong:
            problems.append(f"{wrong.message}: {wrong.hint}".rstrip(". "))


def _client(text: str) -> ClientChoice:
    kind, _, version = text.partition("@")
    choice = client_choice(f"{kind}@{version_of(version)}" if version and names_a_folder(version) else text)
    if choice.version is not None:
        versions.numbers(choice.version)
    return choice


def _version(text: str) -> str:
    if names_a_folder(text) or versions.is_build(text):
        return version_of(text)
    versions.numbers(text)
    return text


_DIMENSIONS: Mapping[str, Callable[[str], object]] = {"clients": _client, "rocketmq": _version}


def jobs_of(scenario: Scenario, cells: Iterable[Cell]) -> list[Job]:
    """The scenario in every cell, also where it is impossible.

    One all of whose consumers name their clients is there once for each version, whatever clients there are.
    """
    jobs = (
        job_of(scenario, cell.rocketmq, None if scenario.names_its_clients else cell.client) for cell in cells
    )
    return list({(job.clients, job.rocketmq): job for job in jobs}.values())


def plan(scenarios: Sequence[Scenario], cells: Sequence[Cell], kind: ClusterKind) -> Plan:
    """The jobs, scenario by scenario, and what is impossible, each with its reason.

    Those on a version that isn't available are jobs here: `obtainable` leaves them out.

    Raises:
        UsageProblem: a version is none, or nothing is left.
    """
    unsupported = {
        version
        for version in {cell.rocketmq for cell in cells}
        if not versions.is_supported(versions.numbers(version))
    }
    jobs: list[Job] = []
    left_out: list[LeftOut] = []
    for job in (job for scenario in scenarios for job in jobs_of(scenario, cells)):
        lacking = lacks(job.scenario, job.rocketmq, kind)
        if lacking is None or job.rocketmq in unsupported:
            jobs.append(job)
        else:
            name = job.scenario.name
            reason = f"{name} {lacking}"
            left_out.append(LeftOut(name, job.clients, job.rocketmq, reason, lacks=lacking))
    if not jobs:
        raise UsageProblem(_nothing_left(left_out, kind), _WAYS)
    return Plan(tuple(jobs), tuple(left_out))


_WAYS = "Choose another version with `--rocketmq`, another kind with `--on`, or other cells with `--matrix`."


def _nothing_left(left_out: Sequence[LeftOut], kind: ClusterKind) -> str:
    asked = listed(dict.fromkeys(item.rocketmq for item in left_out)).replace("`", "")
    reasons = "; ".join(dict.fromkeys(item.reason for item in left_out))
    return f"no scenario is left for RocketMQ {asked} on a cluster of kind {kind}: {reasons}"
