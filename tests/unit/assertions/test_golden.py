"""Recorded histories of real runs, judged again: the same outcome, and every check can hold and can fail."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.assertions import CHECKS
from rocketchaos.assertions.judge import judge
from rocketchaos.harness.core.model import Event, Finding, Holds, MessageClass, OutcomeKind, Trouble
from rocketchaos.harness.core.run_folder import message_document
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.folder import load_report

RUNS = sorted((Path(__file__).parents[2] / "golden" / "runs").iterdir())
WITNESSES = ("delivery_ms", "broker_track", "dashboard_track")
RAW = ("pull", "client-pull", "answer", "mqadmin")
"""Words that read the answer to a single request, which is an event of its own."""
SHIPPED = {
    "same-group-different-tags": (OutcomeKind.REPRODUCED, True),
    "same-group-different-tags-other-order": (OutcomeKind.REPRODUCED, True),
    "same-group-same-tags": (OutcomeKind.NOT_REPRODUCED, True),
    "kill-flips-the-subscription": (OutcomeKind.REPRODUCED, True),
    "kill-of-the-other": (OutcomeKind.NOT_REPRODUCED, True),
}
FAILING = {
    "different-tags-but-both-take-it": (OutcomeKind.NOT_REPRODUCED, False),
    "same-tags-but-one-differs": (OutcomeKind.REPRODUCED, False),
}


def by_name(name: str) -> Report:
    return load_report(next(run for run in RUNS if run.name == name))


def word_of(report: Report, finding: Finding) -> str:
    checks = getattr(report.scenario, finding.section)
    return str(next(check.word for check in checks if check.title() == finding.name))


def _without_witnesses(message: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in message.items() if name not in WITNESSES}


@pytest.mark.parametrize("run", RUNS, ids=lambda run: str(run.name))
def test_the_same_history_gives_the_same_outcome(run: Path) -> None:
    report = load_report(run)
    stored = json.loads((run / "outcome.json").read_text())
    assert (report.outcome.kind, report.outcome.reason) == (stored["outcome"], stored["reason"])
    assert report.outcome.as_expected == stored["as_expected"]
    checks = json.loads((run / "checks.json").read_text())["checks"]
    assert [check["holds"] for check in checks] == [finding.holds for finding in report.outcome.findings]
    messages = [json.loads(line) for line in (run / "messages.jsonl").read_text().splitlines()]
    # Most runs were recorded before messages had what their witnesses say (`tests/unit/facts`).
    messages = [_without_witnesses(message) for message in messages]
    again = [
        _without_witnesses(document)
        for fate in report.outcome.messages
        for document in [json.loads(json.dumps({"schema_version": 1, **message_document(fate)}))]
    ]
    assert again == messages


@pytest.mark.parametrize(("name", "ending"), sorted({**SHIPPED, **FAILING}.items()))
def test_golden_runs_ended_as_they_were_meant_to(name: str, ending: tuple[OutcomeKind, bool]) -> None:
    outcome = by_name(name).outcome
    assert (outcome.kind, outcome.as_expected) == ending


def test_every_check_holds_and_fails_on_some_real_run() -> None:
    seen = defaultdict(set)
    for run in RUNS:
        report = load_report(run)
        for finding in report.outcome.findings:
            seen[word_of(report, finding)].add(finding.holds)
    assert {word: {Holds.YES, Holds.NO} - seen[word] for word in CHECKS} == {word: set() for word in CHECKS}


@pytest.mark.parametrize("run", RUNS, ids=lambda run: str(run.name))
def test_without_the_last_observation_no_check_holds(run: Path) -> None:
    report = load_report(run)
    blind = [event for event in report.events if event.data.get("moment") != "end"]
    outcome = judge(report.scenario, blind)
    for (_, _, check), finding in zip(report.scenario.checks(), outcome.findings, strict=True):
        assert check.at != "end" or check.word in RAW or finding.holds is Holds.UNKNOWN, finding
    sections = (report.scenario.anomaly, report.scenario.healthy)
    if not any(all(check.word in RAW for check in section) for section in sections):
        assert outcome.kind is OutcomeKind.INCONCLUSIVE


@pytest.mark.parametrize("run", RUNS, ids=lambda run: str(run.name))
def test_a_history_cut_off_anywhere_is_an_error_and_never_evidence(run: Path) -> None:
    report = load_report(run)
    for length in range(0, len(report.events), 7):
        outcome = judge(report.scenario, report.events[:length])
        assert (outcome.kind, outcome.trouble) == (OutcomeKind.ERROR, Trouble.HARNESS)


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        (Trouble.PRECONDITION, OutcomeKind.INCONCLUSIVE),
        (Trouble.INTERRUPTED, OutcomeKind.INCONCLUSIVE),
        (Trouble.ENVIRONMENT, OutcomeKind.ERROR),
        (Trouble.HARNESS, OutcomeKind.ERROR),
    ],
)
def test_trouble_comes_before_what_was_seen(trouble: Trouble, kind: OutcomeKind) -> None:
    report = by_name("same-group-different-tags")
    note = Event(
        len(report.events) + 1, 0, 0, "run", "harness", "trouble", {"trouble": trouble, "message": "so"}
    )
    outcome = judge(report.scenario, [*report.events, note])
    assert (outcome.kind, outcome.trouble, outcome.reason, outcome.as_expected) == (
        kind,
        trouble,
        "so",
        False,
    )


def without(report: Report, *keys: str) -> list[Event]:
    """The history as if these messages had never reached a listener."""
    return [
        event
        for event in report.events
        if event.kind not in ("received", "consumed") or event.data["key"] not in keys
    ]


def test_a_message_of_a_matching_owner_that_vanishes_is_lost_and_breaks_the_verdict() -> None:
    report = by_name("same-group-different-tags")
    got = next(fate.key for fate in report.outcome.messages if fate.deliveries)
    outcome = judge(report.scenario, without(report, got))
    assert next(fate for fate in outcome.messages if fate.key == got).message_class == "lost"
    assert outcome.kind is OutcomeKind.INCONCLUSIVE


def test_a_delivery_too_many_breaks_the_verdict() -> None:
    report = by_name("same-group-different-tags")
    stray = next(fate for fate in report.outcome.messages if not fate.deliveries)
    model = next(event for event in report.events if event.kind == "received")
    broker, _, queue = str(stray.queue).rpartition(":")
    data = {**model.data, "key": stray.key, "broker": broker, "queue_id": int(queue), "offset": stray.offset}
    at = model.n
    events = [
        *report.events[:at],
        Event(at, model.mono_ns, 0, "", model.node, "received", data),
        *report.events[at:],
    ]
    outcome = judge(report.scenario, events)
    first = outcome.findings[0]
    assert (first.name, first.holds) == ("delivered to $holder", Holds.NO)
    assert outcome.kind is not OutcomeKind.REPRODUCED


def test_a_failing_also_is_not_as_expected_though_reproduced() -> None:
    report = by_name("same-group-different-tags")
    events = [
        Event(
            e.n, e.mono_ns, e.wall_ms, e.run, e.node, e.kind, {**e.data, "tracks": {"g": "NOT_CONSUME_YET"}}
        )
        if e.kind == "tracks-observed"
        else e
        for e in report.events
    ]
    outcome = judge(report.scenario, events)
    assert (outcome.kind, outcome.as_expected) == (OutcomeKind.REPRODUCED, False)


def test_too_early_to_say_is_unknown() -> None:
    report = by_name("same-group-different-tags")
    early = [event for event in report.events if event.kind != "offsets-observed"]
    outcome = judge(report.scenario, early)
    finding = next(item for item in outcome.findings if item.name == "delivered to $others")
    assert finding.holds is Holds.UNKNOWN
    assert "too early" in finding.observed
    counted = Counter(item.holds for item in outcome.findings if item.section == "anomaly")
    assert counted[Holds.UNKNOWN]
    assert f"{counted[Holds.UNKNOWN]} of " in outcome.reason
    assert ("don't hold" in outcome.reason.split(";")[0]) == bool(counted[Holds.NO])
    assert "can't be answered" in outcome.reason


def stripped(report: Report, kind: str) -> list[Event]:
    """The history with events of one kind that lack what belongs to them."""
    return [
        Event(
            e.n,
            e.mono_ns,
            e.wall_ms,
            e.run,
            e.node,
            e.kind,
            {"moment": "end", "topic": "orders", "key": "orders-1"},
        )
        if e.kind == kind
        else e
        for e in report.events
    ]


def test_a_check_that_crashes_is_unknown() -> None:
    report = by_name("same-group-different-tags")
    outcome = judge(report.scenario, stripped(report, "tracks-observed"))
    finding = next(item for item in outcome.findings if item.name == "tracks of orders for g")
    assert finding.holds is Holds.UNKNOWN
    assert "BrokenEvent" in finding.observed


def test_an_oracle_that_crashes_makes_it_an_error() -> None:
    report = by_name("same-group-different-tags")
    outcome = judge(report.scenario, stripped(report, "offsets-observed"))
    assert (outcome.kind, outcome.trouble) == (OutcomeKind.ERROR, Trouble.HARNESS)
    assert "BrokenEvent" in outcome.reason


def test_what_changes_hands_under_way_is_never_called_lost() -> None:
    """Sent while a new member's start may flip the subscription: the history can't tell, and says so."""
    report = by_name("early-flip")
    classes = {fate.message_class for fate in report.outcome.messages}
    assert MessageClass.LOST not in classes
    assert MessageClass.UNDETERMINED in classes or report.outcome.kind is not OutcomeKind.REPRODUCED


def test_all_that_was_sent_has_come_is_final() -> None:
    report = by_name("same-group-same-tags")
    early = [event for event in report.events if event.kind != "offsets-observed"]
    finding = next(item for item in judge(report.scenario, early).findings if item.name == "delivered to g")
    assert finding.holds is Holds.YES


def test_fewer_than_stated_is_unknown_while_more_may_come() -> None:
    report = by_name("same-group-same-tags")
    got = next(fate.key for fate in report.outcome.messages if fate.deliveries)
    early = [event for event in without(report, got) if event.kind != "offsets-observed"]
    finding = next(item for item in judge(report.scenario, early).findings if item.name == "delivered to g")
    assert finding.holds is Holds.UNKNOWN


def test_a_hole_in_the_history_is_damage(tmp_path: Path) -> None:
    run = next(run for run in RUNS if run.name == "same-group-different-tags")
    lines = (run / "events.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "scenario.yaml").write_text((run / "scenario.yaml").read_text())
    (tmp_path / "events.jsonl").write_text("".join(lines[:50] + lines[51:]))
    outcome = load_report(tmp_path).outcome
    assert (outcome.kind, outcome.trouble) == (OutcomeKind.ERROR, Trouble.HARNESS)
    assert "where 51 belongs" in outcome.reason
