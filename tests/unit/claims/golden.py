"""Golden runs as the claims see them, and what could have been seen in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from assertions.judge import judge
from harness.claims.evidence import CheckSeen, RunSeen
from harness.claims.runs import seen
from harness.library import shipped
from harness.model import Holds
from harness.reporters.base import Report
from harness.reporters.folder import load_report
from harness.scenario import Scenario
from harness.spec import parse_scenario

RUNS = Path(__file__).resolve().parents[2] / "golden" / "runs"


def golden(name: str, *, as_now: bool = False, more: str = "") -> RunSeen:
    """A golden run; `as_now`: judged by the scenario as it is shipped today, with `more` added to its file."""
    report = load_report(RUNS / name)
    if as_now or more:
        scenario: Scenario = parse_scenario(shipped()[name].read_text("utf-8") + more, f"{name}.yaml")
        report = Report(scenario, judge(scenario, report.events), report.events, report.record, report.folder)
    return replace(seen(report), run=f"{name}/1")


def again(run: RunSeen, number: int, changed: Callable[[CheckSeen], CheckSeen] = lambda one: one) -> RunSeen:
    """The same once more, with its checks changed."""
    return replace(run, run=f"{run.scenario}/{number}", checks=tuple(map(changed, run.checks)))


def answering(claim: str, holds: Holds) -> Callable[[CheckSeen], CheckSeen]:
    """Changes what the checks that speak of a claim say."""
    return lambda one: replace(one, holds=holds) if claim in (one.claim, one.refutes) else one
