"""Own offsets at the end: what a member says of each of its queues."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rocketchaos.harness.conditions.own_offsets_reached import own_offsets_reached
from rocketchaos.harness.core.errors import RequestFailed
from tests.unit.conditions.groups import two


@pytest.mark.parametrize("client", ["java", "python"])
def test_own_offsets_are_at_the_end_once_the_member_says_so_of_each_of_its_queues(client: str) -> None:
    group = two(client)
    seen = own_offsets_reached(group.context, "a", "orders")
    assert (seen.holds, seen.text) == (False, "a has come to broker-a:0 0 of 2, broker-a:1 0 of 2")
    group.members["a"].come_to = [2, 1, 0, 0]
    assert own_offsets_reached(group.context, "a", "orders").text == "a has come to broker-a:1 1 of 2"
    group.members["a"].come_to = [2, 2, 0, 0]
    assert own_offsets_reached(group.context, "a", "orders").holds
    assert not own_offsets_reached(group.context, "b", "orders").holds


def test_own_offsets_are_not_at_an_end_that_the_queue_does_not_show_yet() -> None:
    group = two("java")
    group.members["a"].come_to = [2, 2, 0, 0]
    where = {"topic": "orders", "broker": "broker-a", "queue_id": 0, "queue_offset": 2}
    group.sent = [SimpleNamespace(key="orders-9", **where)]
    seen = own_offsets_reached(group.context, "a", "orders")
    assert (seen.holds, seen.text) == (False, "the queue broker-a:0 doesn't show orders-9 yet")


def test_own_offsets_of_a_queue_whose_end_nobody_tells_are_not_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where its broker is down, and the name server has forgotten it."""
    group = two("java")
    group.members["a"].come_to = [2, 2, 0, 0]
    first = group._offsets("g", "orders")["queues"][:1]
    monkeypatch.setattr(group, "_offsets", lambda *_asked: {"queues": first})
    seen = own_offsets_reached(group.context, "a", "orders")
    assert not seen.holds
    assert seen.text == "no broker tells the end of broker-a:1, which a has"


def test_own_offsets_of_who_has_no_queue_or_does_not_answer_are_not_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = two("java")
    group.members["a"].queues = []
    assert own_offsets_reached(group.context, "a", "orders").text == "a tells no offset of orders"

    def refuses(*_unused: object) -> dict[str, Any]:
        raise RequestFailed("not connected", code=206)

    monkeypatch.setattr(group, "_running_info", refuses)
    seen = own_offsets_reached(group.context, "a", "orders")
    assert not seen.holds
    assert "did not report its queues" in seen.text
