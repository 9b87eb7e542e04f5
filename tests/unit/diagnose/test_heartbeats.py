"""Members behind a proxy, which answer no request: what proxies store of their heartbeats, and what flips."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.output.text import text
from rocketchaos.harness.diagnose.reproduction import written
from rocketchaos.harness.nightly.document import text_of
from rocketchaos.harness.scenario import parse_scenario
from tests.unit.diagnose.reports import Edit, by_look, codes, diagnosed, unanswered, unknown

RECORDED = "grpc-5.5.0.json"
NOT_STORED = unanswered(105, 17, topic="DefaultHeartBeatSyncerTopic")
"""A proxy inside a broker stores no heartbeats."""


def _of_first(changed: Callable[[Exchange, Exchange], bool]) -> Edit:
    """tagB instead of tagA in some heartbeats of the first member, chosen by themselves and the newest one."""

    def edit(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
        own = [item for item in exchanges if item.code == 33 and "tagA" in item.body]
        newest = max(own, key=lambda item: int(item.document["storedAt"]))
        for item in exchanges:
            is_changed = item in own and changed(item, newest)
            yield replace(item, body=item.body.replace("tagA", "tagB")) if is_changed else item

    return edit


def test_stored_heartbeats_tell_that_grpc_members_differ() -> None:
    report = diagnosed(RECORDED)
    (finding,) = report.findings
    assert finding.check.code == "RC0101"
    assert {item.exchange.code for item in finding.evidence} == {33, 203}
    assert "which member pops a message first decides" in finding.effect
    assert {"RC0101", "RC0102", "RC0105", "RC0106"}.isdisjoint(unknown(report))
    # Each member pops from all queues: they have no owners.
    assert "RC0301" not in unknown(report) | {item.check.code for item in report.ruled_out}


def test_the_newest_heartbeat_of_each_member_counts() -> None:
    alike = diagnosed(RECORDED, _of_first(lambda item, newest: item is newest))
    assert not alike.findings
    assert "RC0101" in {item.check.code for item in alike.ruled_out}
    assert codes(diagnosed(RECORDED, _of_first(lambda item, newest: item is not newest))) == {"RC0101"}


def test_without_stored_heartbeats_it_is_undetermined_and_the_way_out_is_named() -> None:
    report = diagnosed(RECORDED, NOT_STORED)
    assert not report.findings
    assert "RC0101" in unknown(report)
    assert "`--watch 6m`" in text(report)


@pytest.mark.parametrize(("joins", "is_found"), [(False, True), (True, False)])
def test_a_flip_while_the_same_members_are_connected_tells_that_they_differ(
    joins: bool, is_found: bool
) -> None:
    def flipped(document: Any, look: int) -> None:
        for item in document.get("subscriptionTable", {}).values():
            item["subString"] = "tagA" if look else "tagB"
        if joins and look and document:
            document["connectionSet"][0]["clientId"] = "host-3@1@0@abc"

    report = diagnosed(RECORDED, NOT_STORED, by_look(203, flipped), looks=3)
    assert ("RC0101" in codes(report)) is is_found
    assert ("RC0101" in unknown(report)) is not is_found
    if is_found:
        (finding,) = report.findings
        assert "held `tagB`, and then `tagA`" in finding.sentence
        assert {item.exchange.code for item in finding.evidence} == {203}


def test_the_scenario_has_grpc_members() -> None:
    report = diagnosed(RECORDED)
    (finding,) = report.findings
    made = written(report.views[finding.group], finding)
    assert not isinstance(made, str)
    scenario, control = made
    assert {item["client"] for item in scenario["consumers"].values()} == {"grpc"}
    assert scenario["control"] == control["name"]
    for document in made:
        parse_scenario(text_of(document), "written.scenario.yaml")
