"""What is kept of a run: what was found, whether that was all that there is, and what failed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import Outcome, OutcomeKind, Trouble
from rocketchaos.harness.nightly import findings as findings_module
from rocketchaos.harness.nightly.findings import InvariantFailed, findings
from rocketchaos.harness.nightly.invariants import INVARIANTS, Breach, Judged
from rocketchaos.harness.nightly.nightly_run import judged_run
from rocketchaos.harness.reporting.base import Report
from tests.unit.nightly.stories import Story, quiet


class Crashes:
    kind = "crashes"
    meaning = "it always does"
    judges_unsettled = True

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        raise KeyError("look_began_before_ms")


def report_of(story: Story, trouble: Trouble | None = None) -> Report:
    kind = OutcomeKind.INCONCLUSIVE if trouble else OutcomeKind.NOT_REPRODUCED
    outcome = Outcome(kind, None, None, "not within 90 s", trouble, (), tuple(story.judged.fates))
    return Report(story.scenario, outcome, story.events, {"seconds": 1.0}, Path("runs"))


def owned_twice() -> Story:
    story = quiet()
    story.events = story.events[:-4]
    story.at(20.0).owns(story.scenario, "a", "orders", [0, 1], moment="end")
    story.owns(story.scenario, "b", "orders", [1], moment="end")
    return story.end_of_run()


def test_an_invariant_that_crashes_hides_nothing_that_the_others_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(findings_module, "INVARIANTS", (Crashes(), *INVARIANTS))
    run = judged_run(1, report_of(owned_twice()), 1)
    assert [finding.kind for finding in run.findings] == ["several-owners"]
    assert run.error is ExitCode.HARNESS
    assert run.not_judged == "an invariant failed: crashes: KeyError: 'look_began_before_ms'"


def test_who_asks_for_the_findings_alone_hears_of_the_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings_module, "INVARIANTS", (Crashes(), *INVARIANTS))
    report = report_of(owned_twice())
    with pytest.raises(InvariantFailed, match="crashes: KeyError") as raised:
        findings(report.scenario, report.events, report.outcome)
    assert isinstance(raised.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("story", "found", "why"),
    [(owned_twice(), ["several-owners"], None), (quiet(), [], "precondition: not within 90 s")],
)
def test_a_run_in_which_a_condition_was_not_reached_is_judged_where_that_shows_something(
    story: Story, found: list[str], why: str | None
) -> None:
    run = judged_run(1, report_of(story, Trouble.PRECONDITION), 1)
    assert [finding.kind for finding in run.findings] == found
    assert (run.not_judged, run.error) == (why, None)


@pytest.mark.parametrize("trouble", [None, Trouble.PRECONDITION])
def test_a_run_in_which_the_clock_jumped_says_nothing(trouble: Trouble | None) -> None:
    story = owned_twice()
    last = dataclasses.replace(story.events[-1], wall_ms=story.events[-1].wall_ms + 3_600_000)
    story.events[-1] = last
    run = judged_run(1, report_of(story, trouble), 1)
    assert run.findings == ()
    assert run.not_judged == (
        "precondition: not within 90 s" if trouble else "the machine's clock jumped by 3600.0 s"
    )
