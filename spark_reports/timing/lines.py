"""The short text of the report."""

import math
from collections.abc import Sequence

from rocketchaos.spark_reports.report import StoreSummary
from rocketchaos.spark_reports.run_names import named_run
from rocketchaos.spark_reports.statistics.percentiles import rank
from rocketchaos.spark_reports.timing.deciders import WHATS, deciding, duration
from rocketchaos.spark_reports.timing.read import Facts, Measured
from rocketchaos.spark_reports.timing.tables import ENOUGH

MOST_LINES = 12


def headline(facts: Facts) -> str:
    """The most important result."""
    measured = facts.measured
    intervals = sum(item.intervals for item in measured)
    if not intervals:
        return "There is nothing to time: no run in the store has a delivery, a rebalance, a flip or a correction."
    worst = _worst(measured)
    if worst:
        rows = f"{len(worst) - 1} more {'row' if len(worst) == 2 else 'rows'}"
        more = f" The same holds for {rows} below." if worst[1:] else ""
        return f"{_beyond(worst[0])}.{more}"
    perhaps = [item for item in measured if item.perhaps_beyond]
    if perhaps:
        return f"{_perhaps(max(perhaps, key=_ratio))}."
    faulty = sum(item.intervals for item in measured if item.with_faults)
    untold = sum(item.intervals for item in measured if item.limit_ms is None) - faulty
    if untold + faulty == intervals:
        why = (
            "they are deliveries in runs with faults"
            if faulty == intervals
            else "older run folders don't record the timers. Run the scenarios again"
            if facts.untold_runs
            else "the runs have several kinds of clients with different timers"
        )
        return (
            f"{intervals:,} intervals were measured, but none can be compared with RocketMQ's timers: {why}."
        )
    part = f"; of {untold:,} more the timers are unknown" if untold else ""
    part += f"; {faulty:,} deliveries are of runs with faults" if faulty else ""
    intervals -= faulty
    return f"All {intervals - untold:,} intervals whose timers are known are within RocketMQ's timers{part}."


def lines(facts: Facts, summary: StoreSummary) -> list[str]:
    """The worst first."""
    measured = facts.measured
    sentences = [f"{_beyond(measured)}." for measured in _worst(measured)]
    perhaps = sorted(
        (measured for measured in measured if measured.perhaps_beyond and not measured.beyond),
        key=_ratio,
        reverse=True,
    )
    sentences += [f"{_perhaps(measured)}." for measured in perhaps[:3]]
    for what in WHATS:
        every = [measured for measured in measured if measured.what == what]
        own = [measured for measured in every if not measured.with_faults] or every
        if own:
            sentences.append(_slowest(max(own, key=lambda measured: measured.took.percentile(0.99).value)))
    if facts.untold_runs:
        sentences.append(
            f"Runs in older folders, which don't record RocketMQ's timers: {facts.untold_runs:,}."
        )
    if summary.quarantined:
        sentences.append(f"Run folders in quarantine, not counted here: {summary.quarantined:,}.")
    return (
        sentences[:MOST_LINES]
        if len(sentences) <= MOST_LINES
        else [*sentences[: MOST_LINES - 2], *sentences[-2:]]
    )


def _worst(measured: Sequence[Measured]) -> list[Measured]:
    return sorted((item for item in measured if item.beyond), key=_ratio, reverse=True)


def _ratio(measured: Measured) -> float:
    """The longest divided by the limit; infinite for a limit of 0 ms."""
    longest = measured.worst_for_certain.at_least_ms if measured.beyond else measured.worst.highest_ms
    return longest / measured.limit_ms if measured.limit_ms else math.inf


def _who(measured: Measured) -> str:
    return f"{measured.side.client} {measured.side.rocketmq}, {measured.side.timing}"


def _where(scenario: str, source: str | None) -> str:
    return f"see {named_run(source)}" if source else f"in {scenario}"


def _beyond(measured: Measured) -> str:
    what, worst = WHATS[measured.what], measured.worst_for_certain
    return (
        f"{what.title} takes longer than RocketMQ's timers allow ({duration(measured.limit_ms or 0)}) for "
        f"{measured.beyond:,} of {measured.intervals:,} {what.many} with {_who(measured)}, the longest "
        f"at least {duration(worst.at_least_ms)}; {_where(worst.scenario, worst.certain_source)}"
    )


def _perhaps(measured: Measured) -> str:
    what, worst = WHATS[measured.what], measured.worst
    return (
        f"{what.title} may take longer than RocketMQ's timers allow ({duration(measured.limit_ms or 0)}) for "
        f"{measured.perhaps_beyond:,} of {measured.intervals:,} {what.many} with {_who(measured)}: "
        f"the looks were too far apart to be sure. The longest was seen after {duration(worst.highest_ms)}; "
        f"{_where(worst.scenario, worst.source)}"
    )


def _slowest(measured: Measured) -> str:
    """The p99 of the slowest side, and the timer that decides it."""
    what, found = WHATS[measured.what], measured.took.percentile(0.99)
    name = "p99" if measured.intervals >= ENOUGH else f"the longest of {measured.intervals:,}"
    if measured.with_faults:
        decides = "faults decide"
    elif not measured.deciders:
        decides = "its timers are unknown"
    elif measured.limit_ms is not None and measured.perhaps_beyond > measured.intervals - rank(
        0.99, measured.intervals
    ):
        certain = measured.beyond > measured.intervals - rank(0.99, measured.intervals)
        decides = f"{'' if certain else 'perhaps '}more than its timers allow ({duration(measured.limit_ms)})"
    elif (decider := deciding(found.value, measured.deciders)) is None:
        decides = "no timer has to run out"
    else:
        decides = f"{decider.words} ({duration(decider.ms)}) decides"
    runs = f"{measured.runs:,} runs" if measured.runs != 1 else "one run"
    return f"{what.title}: {name} is {duration(found.value)} with {_who(measured)} ({runs}): {decides}."
