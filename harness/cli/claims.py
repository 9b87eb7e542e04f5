"""`rocketchaos claims ...`: claims about RocketMQ, measured."""

import os
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from rocketchaos.harness.claims.diff import differences
from rocketchaos.harness.claims.evidence import RunSeen, read_evidence, write_evidence
from rocketchaos.harness.claims.expected_verdicts import expected_text, read_expected, unexpected
from rocketchaos.harness.claims.plan import Speed, by_claim, carriers, planned, why_no_run
from rocketchaos.harness.claims.registry import FILE, VERSIONS, chosen, claims
from rocketchaos.harness.claims.rounds import run_rounds
from rocketchaos.harness.claims.runs import seen_in
from rocketchaos.harness.claims.table import Verdicts, claims_table
from rocketchaos.harness.claims.verdicts import Verdict, VerdictKind, verdicts
from rocketchaos.harness.cli.bisect import claims_bisect
from rocketchaos.harness.cli.common_options import OnOption, ParallelOption, RunsOption, SeedOption
from rocketchaos.harness.cli.ending import ending_in_a_code
from rocketchaos.harness.cli.matrix_option import WordsCommand
from rocketchaos.harness.cli.output_files import runs_or_default, write_text
from rocketchaos.harness.cli.single_options import SingleOptionsCommand
from rocketchaos.harness.cli.terminal import OUT, Progress, tell_left_out
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.jars.builds import version_of
from rocketchaos.harness.plan.library import scenarios_folder, shipped
from rocketchaos.harness.plan.matrix import LeftOut, code_with, left_out_lines
from rocketchaos.harness.plan.obtainable import obtainable
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.plan.selection import load_all
from rocketchaos.harness.scenario.model import Scenario

EVIDENCE = "evidence"
"""The folder of the evidence that comes with rocketchaos, next to its scenarios."""
_STYLES = {
    VerdictKind.REFUTED: "yellow",
    VerdictKind.NOT_OBSERVED: "yellow",
    VerdictKind.CONTRADICTORY: "red",
    VerdictKind.UNMEASURED: "dim",
}

RunFolders = Annotated[
    list[Path] | None, typer.Argument(metavar="[RUNS...]", help="Run folders, or folders that contain some.")
]


def claims_run(
    rocketmq: Annotated[
        list[str] | None,
        typer.Option(
            "--rocketmq",
            metavar="V|DIR,...",
            help="Versions of RocketMQ, or folders of builds; can be repeated. "
            f"Default: {','.join(VERSIONS)}.",
        ),
    ] = None,
    only: Annotated[
        str, typer.Option("--only", metavar="IDS", help="Only these claims, or whole groups: `A,B07`.")
    ] = "",
    slow: Annotated[
        bool, typer.Option("--slow", help="Only scenarios that are marked `slow` or have `timing: faithful`.")
    ] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Only all others.")] = False,
    parallel: ParallelOption = None,
    on: OnOption = ClusterKind.EMBEDDED,
    runs: RunsOption = None,
    seed: SeedOption = None,
) -> ExitCode:
    """Run every scenario that measures a claim, races repeatedly, and report the verdicts.

    The exit code is 1 if a verdict is not the expected one, and 3 if a claim's runs show nothing. A
    version that isn't available is left out: 2 if there is none, 4 if the network fails.
    """
    if slow and fast:
        raise UsageProblem("--slow and --fast exclude each other", "Leave one of them out.")
    wanted, expected = chosen(only), read_expected()
    speed = Speed.SLOW if slow else Speed.FAST if fast else Speed.ALL
    named = (item.strip() for text in rocketmq or VERSIONS for item in text.split(","))
    versions = tuple(dict.fromkeys(version_of(item) for item in named if item))
    plan = planned(carriers(_library(), wanted, speed), versions, on)
    for line in left_out_lines(plan.left_out):
        tell_left_out(line)
    found: list[RunSeen] = []
    absent: list[LeftOut] = []
    try:
        with Progress() as progress:
            options = Options(on=on, runs=runs_or_default(runs), seed=seed, progress=progress)
            with Runner(options) as runner:
                jobs, absent = obtainable(plan.jobs, on, runner.absences(plan.jobs))
                for line in left_out_lines(absent):
                    tell_left_out(line)
                found.extend(run_rounds(runner, jobs, parallel, progress))
    finally:
        shown = {key: verdict for key, verdict in verdicts(found).items() if key[0] in wanted}
        _tell(shown, versions)
        _tell_not_counted(found)
    changed = unexpected(shown.values(), expected)
    for line in changed:
        OUT.print(f"not as expected: {line}")
    return code_with(absent, _code_of(found, shown.values(), any_changed=bool(changed)))


def _code_of(found: Sequence[RunSeen], shown: Collection[Verdict], *, any_changed: bool) -> ExitCode:
    if all(run.outcome is OutcomeKind.ERROR for run in found):
        return ExitCode.ENVIRONMENT
    if any_changed:
        return ExitCode.NOT_AS_EXPECTED
    unclear = any(verdict.kind is VerdictKind.UNMEASURED and verdict.not_counted for verdict in shown)
    return ExitCode.INCONCLUSIVE if unclear else ExitCode.AS_EXPECTED


def claims_table_command(
    runs: RunFolders = None,
    evidence: Annotated[
        Path | None,
        typer.Option(
            "--evidence",
            metavar="DIR",
            help="The compact evidence: written if RUNS are given, otherwise read. "
            "Default: that of rocketchaos itself, or `evidence` next to the table.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The table.")] = Path("CLAIMS.md"),
    verdicts_file: Annotated[
        Path | None,
        typer.Option(
            "--verdicts", metavar="FILE", help="Write the verdicts as the expected ones from now on."
        ),
    ] = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="Without the runs and events that prove the verdicts.")
    ] = False,
) -> ExitCode:
    """Write CLAIMS.md: each claim with its verdict per version, the evidence, and what really happens."""
    folder = evidence or (out.parent / EVIDENCE if runs else scenarios_folder() / EVIDENCE)
    if runs:
        write_evidence(folder, seen_in(runs, tell_left_out))
    found = verdicts(read_evidence(folder))
    text = claims_text(found, out, folder, brief=brief)
    write_text(out, text, "Choose another place with --out.")
    if verdicts_file is not None:
        write_text(verdicts_file, expected_text(found.values()), "Choose another place with --verdicts.")
    OUT.print(f"{out}: {len(claims())} claims, {len(found)} verdicts")
    return ExitCode.AS_EXPECTED


def claims_text(found: Verdicts, out: Path, evidence: Path, *, brief: bool = False) -> str:
    """The table of a file, with links to a folder of evidence."""
    return claims_table(
        claims(),
        found,
        why_no_run=partial(why_no_run, scenarios=by_claim(_library())),
        evidence=_as_seen_from(out, evidence),
        registry=_as_seen_from(out, scenarios_folder() / FILE),
        brief=brief,
    )


def claims_diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The older runs, or evidence.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The newer runs, or evidence.")],
) -> ExitCode:
    """Show which verdicts changed between two sets of runs; the exit code is 1 if any did."""
    found = differences(*(verdicts(seen_in([path], tell_left_out)) for path in (old, new)))
    for change in found.changes:
        before, after = change.before, change.after
        versions = (
            before.version if before.version == after.version else f"{before.version} → {after.version}"
        )
        OUT.print(f"{after.claim} ({versions}): {before.kind} → {after.kind}")
        OUT.print(f"    {change.why}")
    if found.not_compared:
        names = ", ".join(found.not_compared[:12]) + (", …" if len(found.not_compared) > 12 else "")
        OUT.print(f"only in one of the sets: {len(found.not_compared)}: {names}")
    if not found.changes and not found.same:
        raise UsageProblem("the two sets have no claim in common", "Compare runs of the same claims.")
    OUT.print(f"{len(found.changes)} changed, {found.same} the same")
    return ExitCode.NOT_AS_EXPECTED if found.changes else ExitCode.AS_EXPECTED


def claims_application() -> typer.Typer:
    """The group of commands."""
    app = typer.Typer(
        help="Claims about RocketMQ, measured: run them, write CLAIMS.md, compare two sets of runs.",
        no_args_is_help=True,
        add_completion=False,
    )
    app.command("run", cls=SingleOptionsCommand)(ending_in_a_code(claims_run))
    app.command("table", cls=SingleOptionsCommand)(ending_in_a_code(claims_table_command))
    app.command("bisect", cls=WordsCommand)(ending_in_a_code(claims_bisect))
    app.command("diff", cls=SingleOptionsCommand)(ending_in_a_code(claims_diff))
    return app


def _library() -> list[Scenario]:
    return load_all(sorted(shipped().values()))


def _as_seen_from(file: Path, target: Path) -> str:
    """A path as a link in a file has it."""
    return Path(os.path.relpath(target.resolve(), file.resolve().parent)).as_posix()


def _tell(found: Mapping[tuple[str, str], Verdict], versions: Sequence[str]) -> None:
    """A row a claim, a column a version; behind each verdict the number of runs."""
    if not found:
        return
    table = Table("claim", *versions, box=None, pad_edge=False)
    for claim in sorted({claim for claim, _ in found}):
        row = [found.get((claim, version)) for version in versions]
        table.add_row(claim, *("" if item is None else _cell(item) for item in row))
    OUT.print(table)
    for verdict in found.values():
        if verdict.kind in (VerdictKind.DISTRIBUTION, VerdictKind.CONTRADICTORY, VerdictKind.UNMEASURED):
            OUT.print(f"{verdict.claim} on {verdict.version}: {verdict.kind}: {verdict.reason}")


def _cell(verdict: Verdict) -> str:
    style = _STYLES.get(verdict.kind, "")
    text = f"{verdict.kind} ({len(verdict.runs)})"
    return f"[{style}]{text}[/{style}]" if style else text


def _tell_not_counted(runs: Sequence[RunSeen]) -> None:
    for run in runs:
        if run.not_counted:
            OUT.print(f"not counted: {run.run} on {run.rocketmq}: {run.not_counted}")
