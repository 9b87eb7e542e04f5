"""Many runs on the console: a line each, and a summary."""

from collections.abc import Sequence

from rich.text import Text

from rocketchaos.harness.core.model import Holds
from rocketchaos.harness.core.text import counted, seconds_text, some
from rocketchaos.harness.reporting.base import Report, outcome_counts
from rocketchaos.harness.reporting.parts.screen import Screen, outcome_style
from rocketchaos.harness.reporting.parts.screen_one import show_finding, show_trouble
from rocketchaos.harness.reporting.parts.shares import Repeats, attempts, conditions, repeats
from rocketchaos.harness.reporting.parts.verdict import (
    expectation,
    failing_findings,
    judged,
    reason_and_hint,
    tells_why,
)

_FOLDERS_NAMED = 3


def show_runs(screen: Screen, runs: Sequence[Report]) -> None:
    """A line each, what failed in full, the distributions of repeats, the sum."""
    screen.table(["outcome", "scenario", "expected?", "took"], [_row(screen, run) for run in runs])
    show_unexpected_and_repeats(screen, runs)
    show_sum(screen, runs)


def show_unexpected_and_repeats(screen: Screen, runs: Sequence[Report]) -> None:
    """What is not as it should be, and the distributions of what was run more than once."""
    alike: dict[tuple[object, ...], list[Report]] = {}
    for run in runs:
        if tells_why(run):
            key = (run.scenario.name, conditions(run), run.outcome.kind, reason_and_hint(run)[0])
            alike.setdefault(key, []).append(run)
    for first, *others in alike.values():
        _show_unexpected(screen, first)
        if others:
            screen.line(
                f"{counted(len(others), 'run')} more ended so, for the same reason: "
                f"{some([other.folder.name for other in others], _FOLDERS_NAMED)}",
                indent=2,
            )
    for group in repeats(runs):
        _show_repeats(screen, group)


def _row(screen: Screen, run: Report) -> list[Text | str]:
    return [
        screen.text(run.outcome.kind.value, outcome_style(run)),
        run.scenario.name,
        expectation(run),
        seconds_text(run.seconds),
    ]


def _show_unexpected(screen: Screen, run: Report) -> None:
    client = run.record.get("client")
    whose = f" ({client} on RocketMQ {run.record['rocketmq']})" if client and run.record.get("cell") else ""
    screen.heading(f"{run.outcome.kind.value}: {run.scenario.name}{whose}", run.scenario.title)
    show_trouble(screen, run)
    unanswered = [finding for finding in run.outcome.findings if finding.holds is Holds.UNKNOWN]
    failing = failing_findings(run) if run.outcome.wrong else unanswered
    if run.outcome.trouble is not None and all(finding.holds is Holds.UNKNOWN for finding in failing):
        screen.line(f"none of its {len(run.outcome.findings)} checks could be answered", indent=2)
    else:
        for finding in failing:
            show_finding(screen, run, finding)
    screen.unbroken("  read     ", str(run.folder / "START-HERE.md"))
    screen.unbroken("  reproduce", run.reproduce_command)


def _show_repeats(screen: Screen, group: Repeats) -> None:
    text = ", ".join(part for part in group.conditions if part)
    screen.heading(f"{group.scenario}: {len(group.runs)} runs", text)
    rows: list[list[str]] = [["outcome", kind.value, str(share)] for kind, share in group.outcomes().items()]
    rows += [["holder", str(holder), str(share)] for holder, share in group.holders().items()]
    without = len(group.runs) - sum(share.count for share in group.holders().values())
    if group.holders() and without:
        rows.append(["holder", "none bound", f"{without} of {len(group.runs)} runs, not counted above"])
    rows += [
        [name, value, str(share)]
        for name, values in group.values().items()
        for value, share in values.items()
    ]
    rows.append(["attempts", "", f"{group.attempts} for {len(group.runs)} runs"])
    screen.table(["", "", ""], rows)


def show_sum(screen: Screen, runs: Sequence[Report]) -> None:
    """How many there were, how they ended, and what they took."""
    counts = outcome_counts(runs)
    screen.heading(
        f"{counted(len(runs), 'run')}: {judged(runs)}",
        ", ".join(f"{count} {kind.value}" for kind, count in sorted(counts.items())),
    )
    total_s = sum(run.seconds for run in runs)
    tries = sum(attempts(run) for run in runs)
    versions = ", ".join(sorted({conditions(run)[0] for run in runs} - {""}))
    screen.line(
        f"{seconds_text(total_s)}, all runs added up"
        + (f" · RocketMQ {versions}" if versions else "")
        + f" · {counted(tries, 'attempt')} for {counted(len(runs), 'run')}",
        indent=2,
    )
