"""A watch tells what changes, and serves what it finds."""

from __future__ import annotations

import urllib.request
from dataclasses import replace
from typing import Any

from rocketchaos.harness.diagnose.changes import FindingChanges, changes
from rocketchaos.harness.diagnose.checks.offsets import Point, state
from rocketchaos.harness.diagnose.metrics import Metrics, lines
from tests.unit.diagnose.member_edits import ALIKE
from tests.unit.diagnose.reports import by_look, codes, diagnosed


def test_a_flip_is_reported_with_its_time_and_in_the_finding() -> None:
    report = diagnosed("mismatch-4.9.4.json", looks=2)
    (view,) = report.views.values()
    assert list(changes(view)) == []
    held = next(iter(view.now.stored[view.group].values()))
    flipped = {
        topic: replace(subscription, expression="tagC") if subscription.expression == "tagB" else subscription
        for topic, subscription in held.subscriptions.items()
    }
    view.now.stored[view.group]["broker-1"] = replace(held, subscriptions=flipped)
    (text,) = changes(view)
    assert "broker-1 held `tagB` for topic-1, and holds `tagC` now" in text


def test_a_finding_is_reported_once_it_is_there_and_once_it_has_gone() -> None:
    sick, fine = diagnosed("mismatch-4.9.4.json"), diagnosed("mismatch-4.9.4.json", ALIKE)
    findings = FindingChanges()
    (text,) = findings.of(sick)
    assert (
        " error [RC0101] (group group-1, topic topic-1) members of one group subscribe differently: " in text
    )
    assert list(findings.of(sick)) == []
    (text,) = findings.of(fine)
    assert " no longer found: [RC0101] (group group-1, topic topic-1) " in text


def test_what_was_found_at_any_time_is_not_ruled_out() -> None:
    def agree_later(document: Any, look: int) -> None:
        for item in document["subscriptionSet"] if look else ():
            item["subString"] = "*" if item["topic"].startswith("%RETRY%") else "tagB"

    report = diagnosed("mismatch-4.9.4.json", by_look(307, agree_later), looks=2)
    assert codes(report) == set()
    assert "RC0101" not in {item.check.code for item in report.ruled_out}
    assert "RC0106" in {item.check.code for item in report.ruled_out}


def test_metrics_are_served_until_the_end() -> None:
    report = diagnosed("mismatch-4.9.4.json")
    assert codes(report) == {"RC0101"}
    with Metrics("127.0.0.1", 0) as metrics:
        metrics.tell(report)
        with urllib.request.urlopen(f"http://127.0.0.1:{metrics.port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
    assert (
        'rocketchaos_diagnose_finding{code="RC0101",level="error",group="group-1",topic="topic-1"} 1' in text
    )
    assert text.splitlines() == list(lines(report))


def _points(*pairs: tuple[int, int], every_s: int = 10) -> list[Point]:
    return [Point(index * every_s * 1000, offset, lag) for index, (offset, lag) in enumerate(pairs)]


def test_the_rules_of_burrow() -> None:
    assert state(_points((5, 3), (5, 0), (5, 3), (5, 9))) == "ok"  # a lag of zero somewhere
    assert state(_points((5, 3), (5, 3), (5, 4), (5, 9))) == "stop"
    assert state(_points((5, 3), (6, 3), (7, 3), (8, 9))) == "warning"
    assert state(_points((5, 9), (6, 8), (7, 9), (8, 9))) == "ok"  # it fell once
    assert state(_points((9, 3), (4, 8))) == "rewind"
    assert state(_points((9, 3), (4, 8), (10, 4), (11, 3))) == "ok"  # it has recovered
    assert state(_points((5, 3), (5, 3), (5, 3), every_s=1)) == "unknown"  # too little history
    assert state([]) == "ok"


def test_a_report_of_any_size_has_a_short_repr() -> None:
    assert len(repr(diagnosed("mismatch-4.9.4.json"))) < 200
