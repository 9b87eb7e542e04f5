"""Warnings of values that are hardly meant."""

from __future__ import annotations

from rocketchaos.harness.scenario import parse_document
from rocketchaos.harness.scenario.slips import slips


def warned(
    consumers: str, *, topics: str = "{orders: {queues: 4}}", steps: str = ""
) -> list[tuple[int, str]]:
    text = (
        f"name: x\ntitle: t\ntopics: {topics}\nconsumers:\n{consumers}"
        f"steps:\n  - start: a\n{steps}"
        "anomaly:\n  - delivered: {to: g, count: 0}\nhealthy:\n  - delivered: {to: g, count: 8}\n"
    )
    scenario, document = parse_document(text, "x.yaml", reach=False)
    return [(one.line or 0, one.message) for one in slips(document, scenario)]


def test_two_members_with_one_client_id() -> None:
    message = (
        "a and b are members of g with one client id, `{}`: both are given the same queues, and others stay "
        "without an owner"
    )
    first = "  a: {group: g, client_id: 10.0.0.1@8, subscribe: {orders: '*'}}\n"
    second = first.replace("a:", "b:", 1)
    assert warned(first + second) == [(6, message.format("10.0.0.1@8"))]
    own_name = (
        "  a: {group: g, subscribe: {orders: '*'}}\n  b: {group: g, client_id: a, subscribe: {orders: '*'}}\n"
    )
    assert warned(own_name) == [(6, message.format("a"))]
    assert warned(first + second.replace("group: g", "group: h")) == []
    # These make ids of their own.
    assert warned(own_name.replace("group: g,", "group: g, client: python,")) == []
