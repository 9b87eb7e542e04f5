"""Golden runs as the claims see them, and what could have been seen in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rocketchaos.assertions.judge import judge
from rocketchaos.harness.claims.evidence import CheckSeen, RunSeen
from rocketchaos.harness.claims.runs import seen
from rocketchaos.harness.core.model import Holds
from rocketchaos.harness.plan.library import shipped
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.folder import load_report
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.model import Scenario

RUNS = Path(__file__).resolve().parents[2] / "golden" / "runs"


def golden(name: str, *, as_now: bool = False, more: str = "") -> RunSeen:
    """A golden run; `as_now`: judged by the scenario as it is shipped today, with `more` added to its file."""
    report = load_report(RUNS / name)
    if as_now or more:
        scenario: Scenario = parse_scenario(shipped()[name].read_text("utf-8") + more, f"{name}.yaml")
        report = Report(scenario, judge(scenario, report.events), report.events, report.record, report.folder)
    return replace(seen(report), run=f"{name}/1")


def again(
    run: RunSeen, number: int, changed: Callable[[CheckSeen], CheckSeen] = lambda item: item
) -> RunSeen:
    """The same once more, with its checks changed."""
    return replace(run, run=f"{run.scenario}/{number}", checks=tuple(map(changed, run.checks)))


def answering(claim: str, holds: Holds) -> Callable[[CheckSeen], CheckSeen]:
    """Changes what the checks that speak of a claim say."""
    return lambda item: replace(item, holds=holds) if claim in (item.claim, item.refutes) else item
