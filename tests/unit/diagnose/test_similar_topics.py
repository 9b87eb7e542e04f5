"""A topic without a route, and another one whose name is like it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.pseudonyms import Pseudonyms
from rocketchaos.harness.diagnose.requests import (
    GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
    GET_BROKER_CLUSTER_INFO,
    GET_ROUTEINFO_BY_TOPIC,
)
from rocketchaos.harness.diagnose.similar import kept
from tests.unit.diagnose.broker_edits import offset
from tests.unit.diagnose.member_edits import ALIKE
from tests.unit.diagnose.reports import Change, Edit, diagnosed, renamed

RECORDED = "mismatch-4.9.4.json"


def _of_names(*names: str) -> bytes:
    return json.dumps({"topicList": list(names)}).encode()


def _without_route(*names: str) -> Edit:
    """The name server has no route of the group's topic, and topics of these names."""

    def edited(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
        for item in exchanges:
            if item.code == GET_ROUTEINFO_BY_TOPIC and not item.fields["topic"].startswith("%"):
                item = replace(item, answer_code=17, remark="No topic route info", body="")
            if item.code == GET_BROKER_CLUSTER_INFO:
                body = kept(_of_names(*names), ["Orders"]).decode()
                yield replace(item, code=GET_ALL_TOPIC_LIST_FROM_NAMESERVER, body=body)
            yield item

    return edited


@pytest.mark.parametrize(
    ("missing", "like"),
    [
        ("Orders", "orders"),
        ("orders ", "orders"),
        (" orders", "orders"),
        ("shop-orders", "shop_orders"),
        ("order", "orders"),
        ("invoices", None),
        ("orders", None),  # nothing else is like it
        ("o" * 300, None),
    ],
)
def test_a_similar_name_differs_in_capitals_blanks_signs_or_a_letter(missing: str, like: str | None) -> None:
    names = ["payments", "shop_orders", "orders", "%RETRY%orders", "SCHEDULE_TOPIC_XXXX"]
    pairs = json.loads(kept(_of_names(*(set(names) - {missing})), [missing]))["similar"]
    found = {item["topic"] for item in pairs} - ({"shop_orders"} if missing == "orders" else set())
    assert found == ({like} if like else set())


def test_an_answer_that_cannot_be_read_has_no_similar_name() -> None:
    assert kept(b"<html>", ["orders"]) == b""
    assert json.loads(kept(b'{"topicList": "orders"}', ["order"])) == {"similar": []}


NEVER_CONSUMED: Change = (43, lambda document: document["offsetTable"].clear())


def test_a_topic_without_a_route_is_named_with_the_one_that_may_be_meant() -> None:
    changes = (ALIKE, NEVER_CONSUMED, renamed({"topic-1": "Orders"}))
    report = diagnosed(RECORDED, *changes, _without_route("orders", "payments"), looks=15)
    (item,) = [item for item in report.findings if item.check.code == "RC0401"]
    assert item.sentence == "no name server has a route for it; did you mean orders?"
    assert any(proof.says == "orders is there, and its name is like Orders" for proof in item.evidence)
    # No other topic is like it.
    report = diagnosed(RECORDED, *changes, _without_route("payments"), looks=15)
    (item,) = [item for item in report.findings if item.check.code == "RC0401"]
    assert item.sentence == "no name server has a route for it"


def test_a_topic_that_the_group_has_consumed_from_was_deleted_and_is_not_mistyped() -> None:
    """Measured on 4.9.4: a deleted topic was taken for a mistyped one, since another name is like it."""
    consumed = offset(lambda _look: 5)
    report = diagnosed(
        RECORDED, ALIKE, *consumed, renamed({"topic-1": "Orders"}), _without_route("orders"), looks=15
    )
    (item,) = [item for item in report.findings if item.check.code == "RC0401"]
    assert (
        item.sentence
        == "no name server has a route for it; it was there, since the group has consumed from it"
    )
    assert any(proof.says.startswith("offsets of Orders on broker-1: 0: 5") for proof in item.evidence)


def test_a_blank_at_the_end_of_a_name_is_said() -> None:
    changes = (ALIKE, NEVER_CONSUMED, renamed({"topic-1": "orders "}))
    report = diagnosed(RECORDED, *changes, _without_route(), looks=15)
    (item,) = [item for item in report.findings if item.check.code == "RC0401"]
    assert item.sentence == "no name server has a route for it, and its name has a blank at an end"


def test_a_bundle_has_the_similar_name_as_a_pseudonym() -> None:
    asked = Exchange(
        0, "host:9876", GET_ALL_TOPIC_LIST_FROM_NAMESERVER, {}, 0, answer_code=0,
        body=kept(_of_names("orders"), ["Orders"]).decode(),
    )  # fmt: skip
    names = Pseudonyms()
    names.exchange(asked)
    assert names._seen["topic"] == {"Orders", "orders"}


def _route_of_bills(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
    """The name server has a route of bills, too."""
    for item in exchanges:
        if item.code == GET_ROUTEINFO_BY_TOPIC and not item.fields["topic"].startswith("%"):
            yield replace(item, fields={"topic": "bills"})
        yield item


def test_a_named_topic_that_nobody_consumes_is_there() -> None:
    (item,) = diagnosed(RECORDED, ALIKE, _route_of_bills, topics=("bills",)).undetermined
    assert (item.check.code, item.topic) == ("RC0401", "bills")
    assert item.reason == "it has one, and no group of this diagnosis consumes it"
    assert {evidence.exchange.code for evidence in item.evidence} == {GET_ROUTEINFO_BY_TOPIC}


def _names_like_bill(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
    for item in exchanges:
        if item.code == GET_BROKER_CLUSTER_INFO:
            body = kept(_of_names("topic-1", "bills"), ["bill"]).decode()
            yield replace(item, code=GET_ALL_TOPIC_LIST_FROM_NAMESERVER, body=body)
            yield replace(
                item,
                code=GET_ROUTEINFO_BY_TOPIC,
                fields={"topic": "bill"},
                answer_code=17,
                remark="No topic route info",
                body="",
            )
        yield item


def test_a_named_topic_that_is_not_there_may_be_one_that_nobody_consumes() -> None:
    (item,) = diagnosed(RECORDED, ALIKE, _names_like_bill, topics=("bill",)).undetermined
    assert item.reason == "no group of this diagnosis consumes it; did you mean bills?"
