"""The phrases of the report."""

from rocketchaos.harness.core.text import counted
from rocketchaos.spark_reports.diff.compare import CauseChange, Change, State, TimingChange
from rocketchaos.spark_reports.number_text import chance
from rocketchaos.spark_reports.run_names import named_run
from rocketchaos.spark_reports.statistics.interval import Interval
from rocketchaos.spark_reports.timing.deciders import WHATS, duration

_WORSE = {State.NEVER: "became failing", State.SOMETIMES: "became flaky", State.ALWAYS: "became sound"}
_CLAIM = {State.NEVER: "no longer so", State.SOMETIMES: "only sometimes so", State.ALWAYS: "always so"}


def kind(change: Change) -> str:
    """`became failing`, `became flaky`, `became sound`, `fails more often`, …; of claims `no longer so`, …"""
    before, after = change.states
    if change.claim is not None:
        if before is after:
            return "more rarely so" if change.worse else "more often so"
        return _CLAIM[after]
    if before is after:
        return "fails more often" if change.worse else "fails less often"
    return "no longer always fails" if before is State.NEVER and after is State.SOMETIMES else _WORSE[after]


def certainty(sure: bool) -> str:
    """Whether it holds for more than these runs."""
    return "sure" if sure else "in these runs"


def sentence(change: Change, settling: int) -> str:
    """A change in a sentence, with a run."""
    pair, before, after = change.pair, change.before, change.after
    name = f"{pair.cell.scenario} {pair.cell.client} {pair.cell.rocketmq}"
    what = f"claim {change.claim} in {name}" if change.claim else name
    unit = "so" if change.claim else "as expected"
    text = f"{what} {kind(change)}: {before.hits} of {before.of} → {after.hits} of {after.of} {unit}"
    if pair.change:
        text += f", with {pair.change}"
    text += f"; difference {bracket(change.difference)}, {chance(change.p)}"
    if not change.sure:
        text += f", too few runs to be sure ({settling} on each side, all alike, are enough)"
    return f"{text}; see {named_run(change.source)}"


def bracket(interval: Interval) -> str:
    """`-1.00 [-1.00, -0.31]`."""
    return f"{interval.point + 0.0:.2f} [{interval.low + 0.0:.2f}, {interval.high + 0.0:.2f}]"


def cause_sentence(item: CauseChange) -> str:
    """A cause in a sentence, with a run."""
    cause = item.cause
    seen = cause.after if item.new else cause.before
    other = cause.before if item.new else cause.after
    when = "before" if item.new else "now"
    text = " ".join(cause.text.split())
    text = text if len(text) <= 160 else f"{text[:159].rstrip()}…"
    where = cause.scenario if cause.scenarios == 1 else counted(cause.scenarios, "scenario")
    unit = "bad run" if cause.of_bad_runs else "run"
    against = f"none of {counted(other.of, unit)} {when}" if other.of else f"no runs of it {when}"
    return (
        f"{'New' if item.new else 'Gone'} cause ({cause.side}) in {seen.hits} of {counted(seen.of, unit)} of "
        f"{where}, {against}, {chance(item.p)}: {text}; see {named_run(cause.source)}"
    )


def timing_sentence(item: TimingChange) -> str:
    """A duration that changed, with a run."""
    before, after = item.before.median_ms, item.after.median_ms
    cell, change = item.pair.cell, item.pair.change
    return (
        f"{WHATS[item.what].title} of {cell.scenario} {cell.client} {cell.rocketmq} is "
        f"{'slower' if item.slower else 'faster'}: {duration(before)} → {duration(after)}, the medians of "
        f"{item.before.runs} and {counted(item.after.runs, 'run')}, "
        f"{f'with {change}, ' if change else ''}delta {bracket(item.delta)}, {chance(item.p)}; "
        f"see {named_run(item.source)}"
    )
