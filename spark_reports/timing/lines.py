"""The short text of the report."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rocketchaos.spark_reports.report import StoreSummary
from rocketchaos.spark_reports.statistics.percentiles import rank
from rocketchaos.spark_reports.timing.deciders import WHATS, deciding, duration
from rocketchaos.spark_reports.timing.read import Facts, Measured
from rocketchaos.spark_reports.timing.tables import ENOUGH

MOST_LINES = 12


def headline(facts: Facts) -> str:
    """What matters most."""
    measured = facts.measured
    intervals = sum(one.intervals for one in measured)
    if not intervals:
        return "There is nothing to time: no run in the store has a delivery, a rebalance, a flip or a correction."
    gravest = _gravest(measured)
    if gravest:
        more = f" So it is for {len(gravest) - 1} more of the rows below." if gravest[1:] else ""
        return f"{_beyond(gravest[0])}.{more}"
    perhaps = [one for one in measured if one.perhaps_beyond]
    if perhaps:
        return f"{_perhaps(max(perhaps, key=_ratio))}."
    faulty = sum(one.intervals for one in measured if one.with_faults)
    untold = sum(one.intervals for one in measured if one.limit_ms is None) - faulty
    if untold + faulty == intervals:
        why = (
            "they are deliveries in runs with faults"
            if faulty == intervals
            else "the run folders don't tell them, as older ones don't. Run the scenarios again"
            if facts.untold_runs
            else "they are of runs with several kinds of clients, which have different ones"
        )
        return (
            f"{intervals:,} intervals were measured, and none can be held against RocketMQ's timers: {why}."
        )
    part = f"; of {untold:,} more the timers are unknown" if untold else ""
    part += f"; {faulty:,} deliveries are of runs with faults" if faulty else ""
    intervals -= faulty
    return f"All {intervals - untold:,} intervals whose timers are known are within RocketMQ's timers{part}."


def lines(facts: Facts, summary: StoreSummary) -> list[str]:
    """The gravest first."""
    measured = facts.measured
    told = [f"{_beyond(one)}." for one in _gravest(measured)]
    perhaps = sorted(
        (one for one in measured if one.perhaps_beyond and not one.beyond), key=_ratio, reverse=True
    )
    told += [f"{_perhaps(one)}." for one in perhaps[:3]]
    for what in WHATS:
        every = [one for one in measured if one.what == what]
        own = [one for one in every if not one.with_faults] or every
        if own:
            told.append(_slowest(max(own, key=lambda one: one.took.percentile(0.99).value)))
    if facts.untold_runs:
        told.append(f"Runs whose folders don't tell RocketMQ's timers, as older ones: {facts.untold_runs:,}.")
    if summary.quarantined:
        told.append(f"Run folders that are quarantined, and count nowhere: {summary.quarantined:,}.")
    return told[:MOST_LINES] if len(told) <= MOST_LINES else [*told[: MOST_LINES - 2], *told[-2:]]


def _gravest(measured: Sequence[Measured]) -> list[Measured]:
    return sorted((one for one in measured if one.beyond), key=_ratio, reverse=True)


def _ratio(one: Measured) -> float:
    """How often its limit fits into the longest; a timer of 0 ms does so without end."""
    longest = one.worst_for_certain.at_least_ms if one.beyond else one.worst.highest_ms
    return longest / one.limit_ms if one.limit_ms else math.inf


def _who(one: Measured) -> str:
    return f"{one.side.client} {one.side.rocketmq}, {one.side.timing}"


def _where(scenario: str, source: str | None) -> str:
    return f"see {source}" if source else f"in {scenario}"


def _beyond(one: Measured) -> str:
    what, worst = WHATS[one.what], one.worst_for_certain
    return (
        f"{what.title} takes longer than RocketMQ's timers allow ({duration(one.limit_ms or 0)}) for "
        f"{one.beyond:,} of {one.intervals:,} {what.many} with {_who(one)}, the longest "
        f"{duration(worst.at_least_ms)} at least; {_where(worst.scenario, worst.certain_source)}"
    )


def _perhaps(one: Measured) -> str:
    what, worst = WHATS[one.what], one.worst
    return (
        f"{what.title} may take longer than RocketMQ's timers allow ({duration(one.limit_ms or 0)}) for "
        f"{one.perhaps_beyond:,} of {one.intervals:,} {what.many} with {_who(one)}: looks were too far apart "
        f"to tell, the longest was seen after {duration(worst.highest_ms)}; "
        f"{_where(worst.scenario, worst.source)}"
    )


def _slowest(one: Measured) -> str:
    """The p99 of the slowest side, and what decides it."""
    what, found = WHATS[one.what], one.took.percentile(0.99)
    name = "p99" if one.intervals >= ENOUGH else f"the longest of {one.intervals:,}"
    if one.with_faults:
        decides = "faults decide"
    elif not one.deciders:
        decides = "its timers are unknown"
    elif one.limit_ms is not None and one.perhaps_beyond > one.intervals - rank(0.99, one.intervals):
        certain = one.beyond > one.intervals - rank(0.99, one.intervals)
        decides = f"{'' if certain else 'perhaps '}more than its timers allow ({duration(one.limit_ms)})"
    elif (decider := deciding(found.value, one.deciders)) is None:
        decides = "no timer has to run out"
    else:
        decides = f"{decider.words} ({duration(decider.ms)}) decides"
    runs = f"{one.runs:,} runs" if one.runs != 1 else "one run"
    return f"{what.title}: {name} is {duration(found.value)} with {_who(one)} ({runs}): {decides}."
