"""The evidence of a run for its claims: the checks of these claims, and the events that the checks cite.

One file for each version and scenario, `<version>/<scenario>.jsonl`, so that a link can point to a line: first
what the file is of, then run by run the run itself, its checks, and their events. The same runs make the same
files.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.harness.core.model import SCHEMA_VERSION, Event, Holds, OutcomeKind

CITED_AT_MOST = 8
"""At most this many events of a check are kept, the first ones and the last two."""
_PLACE = re.compile(r"(?<![\w:/.])(?:/[\w.+@~-]+){2,}/([\w.+@~-]+)")
EXAMPLES = 2
"""Of this many runs in which a check had the same answer its events are kept; of further ones only the answer."""


@dataclass(frozen=True, slots=True)
class CheckSeen:
    """What one check of a run said of a claim."""

    section: str
    name: str
    holds: Holds
    expected: str
    observed: str
    claim: str | None
    refutes: str | None
    events: tuple[int, ...]
    """Those that prove it, or of many the first and the last ones."""
    cited: int
    """How many they were."""
    id: str = ""
    """As `harness.core.model.Finding.id`; empty in evidence from before checks had ids."""

    @property
    def key(self) -> str:
        """What tells it apart from the other checks of its scenario."""
        return self.id or self.name


@dataclass(frozen=True, slots=True)
class RunSeen:
    """One run, as far as claims go."""

    run: str
    """`<scenario>/<time>-<seed>`."""
    scenario: str
    rocketmq: str
    client: str
    timing: str
    outcome: OutcomeKind
    expected: OutcomeKind | None
    not_counted: str
    """Why it counts for no claim; empty if it does."""
    checks: tuple[CheckSeen, ...]
    events: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    """By their numbers: `s` is the time in seconds since the run began."""
    lines: Mapping[int, int] = field(default_factory=dict)
    """The line of each event in the file that this was read from."""


def some_of(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """The first and the last ones of many."""
    if len(numbers) <= CITED_AT_MOST:
        return numbers
    return (*numbers[: CITED_AT_MOST - 2], *numbers[-2:])


def without_places(value: Any) -> Any:
    """The value, in which paths of the machine are cut to their last part: evidence is for everybody."""
    if isinstance(value, str):
        return _PLACE.sub(r"…/\1", value)
    if isinstance(value, Mapping):
        return {key: without_places(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_places(item) for item in value]
    return value


def compact(events: Iterable[Event], numbers: Iterable[int]) -> dict[int, Mapping[str, Any]]:
    """The events with these numbers, without what only tells runs and machines apart."""
    wanted, begin, found = set(numbers), None, {}
    for event in events:
        begin = event.mono_ns if begin is None else begin
        if event.n in wanted:
            seconds = round((event.mono_ns - begin) / 1e9, 3)
            found[event.n] = {
                "s": seconds,
                "node": event.node,
                "kind": event.kind,
                "data": without_places(event.data),
            }
    return dict(sorted(found.items()))


def write_evidence(folder: Path, runs: Iterable[RunSeen]) -> None:
    """Write the files of the versions and scenarios of these runs; those of others stay.

    Raises:
        EnvironmentNotReady: it can't be written.
    """
    by_file: dict[tuple[str, str], list[RunSeen]] = {}
    for run in runs:
        by_file.setdefault((run.rocketmq, run.scenario), []).append(run)
    try:
        for (version, scenario), own in sorted(by_file.items()):
            path = folder / version / f"{scenario}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(_lines(version, scenario, own)), encoding="utf-8")
    except OSError as error:
        raise EnvironmentNotReady(
            f"the evidence can't be written to {folder}: {error.strerror}", "Choose another --evidence."
        ) from error


def _lines(version: str, scenario: str, runs: list[RunSeen]) -> Iterator[str]:
    yield _line(schema_version=SCHEMA_VERSION, rocketmq=version, scenario=scenario)
    counted: dict[tuple[str, str, Holds], int] = {}
    for run in sorted(runs, key=lambda item: item.run):
        yield _line(
            run=run.run,
            client=run.client,
            timing=run.timing,
            outcome=run.outcome,
            expected=run.expected,
            not_counted=run.not_counted,
        )
        wanted: set[int] = set()
        for check in run.checks:
            answer = (check.section, check.key, check.holds)
            counted[answer] = counted.get(answer, 0) + 1
            kept = check.events if counted[answer] <= EXAMPLES and not run.not_counted else ()
            wanted.update(kept)
            yield _line(
                check=check.name,
                section=check.section,
                holds=check.holds,
                claim=check.claim,
                refutes=check.refutes,
                expected=check.expected,
                observed=check.observed,
                events=kept,
                cited=check.cited,
                id=check.id,
            )
        for number, event in run.events.items():
            if number in wanted:
                yield _line(n=number, **event)


def _line(**fields: Any) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(", ", ": ")) + "\n"


def read_evidence(folder: Path) -> list[RunSeen]:
    """Every run of a folder of evidence.

    Raises:
        UsageProblem: there is no such folder, nothing is in it, or a file is none that this version writes.
    """
    files = sorted(folder.glob("*/*.jsonl")) if folder.is_dir() else []
    if not files:
        raise UsageProblem(
            f"there is no evidence in {folder}",
            "`rocketchaos claims table RUNS --evidence DIR` makes it from run folders.",
        )
    return [run for path in files for run in _read(path)]


def _read(path: Path) -> Iterator[RunSeen]:
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        head = rows[0]
        if head["schema_version"] != SCHEMA_VERSION:
            version = head["schema_version"]
            raise UsageProblem(
                f"{path} is of schema version {version}, and this rocketchaos reads {SCHEMA_VERSION}",
                "Make it again from the run folders.",
            )
        yield from _runs(head, rows)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UsageProblem(
            f"{path} is no file of evidence: {type(error).__name__}: {error}",
            "Make it again from the run folders.",
        ) from error


def _runs(head: Mapping[str, Any], rows: list[dict[str, Any]]) -> Iterator[RunSeen]:
    current: RunSeen | None = None
    checks: list[CheckSeen] = []
    events: dict[int, Mapping[str, Any]] = {}
    lines: dict[int, int] = {}
    for number, row in enumerate([*rows[1:], {"run": None}], 2):
        if "run" in row:
            if current is not None:
                yield replace(current, checks=tuple(checks), events=events, lines=lines)
            current, checks, events, lines = _begun(head, row), [], {}, {}
        elif "check" in row:
            checks.append(_check(row))
        else:
            events[row["n"]] = {key: row[key] for key in ("s", "node", "kind", "data")}
            lines[row["n"]] = number


def _begun(head: Mapping[str, Any], row: Mapping[str, Any]) -> RunSeen | None:
    if row["run"] is None:
        return None
    return RunSeen(
        run=row["run"],
        scenario=head["scenario"],
        rocketmq=head["rocketmq"],
        client=row["client"],
        timing=row["timing"],
        outcome=OutcomeKind(row["outcome"]),
        expected=OutcomeKind(row["expected"]) if row["expected"] else None,
        not_counted=row["not_counted"],
        checks=(),
    )


def _check(row: Mapping[str, Any]) -> CheckSeen:
    return CheckSeen(
        section=row["section"],
        name=row["check"],
        holds=Holds(row["holds"]),
        expected=row["expected"],
        observed=row["observed"],
        claim=row["claim"],
        refutes=row["refutes"],
        events=tuple(row["events"]),
        cited=row["cited"],
        id=row.get("id", ""),
    )
