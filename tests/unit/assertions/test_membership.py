"""Owners whose queues leave their subVersion as it is (the C++ client): what else proves them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketchaos.assertions.oracle import fates
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Event, MessageClass
from tests.unit.history_builder import HistoryBuilder, OneMessage, scenario_of

TWO = """\
name: two
title: two members
topics: {orders: {queues: 2}}
consumers:
  a: {group: g, client: python, subscribe: {orders: A}}
  b: {group: g, client: CLIENT, subscribe: {orders: B}}
steps: [{start: [a, b]}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""


class Story(OneMessage):
    """One message of tagB to queue 0, which a owns, a member of the C++ client; b owns queue 1."""

    def __init__(
        self, a: str = "tagA", b: str = "tagB", client: str = "python", stored: str = "tagB"
    ) -> None:
        text = TWO.replace("CLIENT", client).replace("orders: A", f"orders: {a}")
        self.scenario = scenario_of(text.replace("orders: B", f"orders: {b}"))
        self.stored = stored
        self.made = HistoryBuilder().begin(self.scenario)
        for name in "ab":
            self.made.start(self.scenario, name)
        self.looked()

    def looked(self, addresses: tuple[str, ...] = (":1", ":2"), clients: str = "ab") -> Story:
        """What the broker knows, then what the members say, as at every moment."""
        self.made.stored("g", {"orders": self.stored}, list(clients), addresses=list(addresses))
        self.owns([0], [1])
        return self

    def owns(self, *queues: list[int]) -> None:
        """What the members say; their subVersions stay the same, whatever they own."""
        for name, own in zip("ab", queues, strict=True):
            self.made.owns(self.scenario, name, "orders", own)
            self.made.events[-1].data["subscriptions"]["orders"]["sub_version"] = 7

    def passed(self) -> Story:
        self.made.offsets("g", "orders", [(1, 1), (0, 0)])
        return self


def test_its_own_expression_counts_whatever_is_stored() -> None:
    for stored in ("tagA", "tagB"):
        fate = Story(stored=stored).sent().passed().looked().fate()
        assert (fate.message_class, fate.owner) == (MessageClass.FILTERED_BY_BROKER, None)
        assert "the pulls of a carried 'tagA'" in fate.reason
    assert Story(a="tagB").sent().passed().looked().found() is MessageClass.LOST
    assert Story(a="Aa").sent().passed().looked().found() is MessageClass.FILTERED_BY_BROKER


def test_a_collision_passes_its_pull_and_not_its_client() -> None:
    story = Story(a="Aa")
    story.made.send("orders", "BB", 1, 0, 0)
    assert story.passed().looked().found() is MessageClass.FILTERED_BY_CLIENT


def test_both_ends_prove_nothing_where_the_membership_may_have_changed() -> None:
    story = Story().sent().passed()
    story.owns([0], [1])  # nobody looked at the broker again
    assert story.found() is MessageClass.UNDETERMINED


def test_a_look_between_at_which_another_owned_it_leaves_it_open() -> None:
    story = Story().sent()
    story.owns([], [0, 1])
    assert story.passed().looked().found() is MessageClass.UNDETERMINED


@pytest.mark.parametrize(
    "between",
    [
        {"clients": "abb", "addresses": (":1", ":2", ":3")},
        {"clients": "a", "addresses": (":1",)},
        {"addresses": (":1", ":3")},  # it was away, and came back over another connection
    ],
)
def test_others_who_were_there_meanwhile_leave_it_open(between: dict[str, Any]) -> None:
    assert Story().sent().looked(**between).passed().looked().found() is MessageClass.UNDETERMINED


@pytest.mark.parametrize(
    ("node", "kind", "data"),
    [
        ("b", "consumer-starting", {"pid": 1, "subscribe": {"orders": "tagB"}}),
        ("b", "consumer-stopped", {}),
        ("b", "subscribed", {"topic": "orders", "expression": "tagC"}),
        ("b", "fault-effective", {"fault": "pause", "target": "b"}),
        ("broker-a", "fault-effective", {"fault": "pause", "target": "broker-a"}),
        ("x", "heartbeat-sent", {"group": "g", "client_id": "x@t"}),
    ],
)
def test_whatever_happened_meanwhile_leaves_it_open(node: str, kind: str, data: dict[str, Any]) -> None:
    story = Story().sent()
    story.made.add(node, kind, **data)
    assert story.passed().looked().found() is MessageClass.UNDETERMINED


def test_what_stood_still_all_the_time_leaves_it_open() -> None:
    story = Story()
    story.made.add("b", "fault-effective", fault="pause", target="b")
    assert story.looked().sent().passed().looked().found() is MessageClass.UNDETERMINED


def test_histories_that_tell_no_addresses_are_judged_by_the_clients() -> None:
    story = Story().sent().passed().looked()
    for event in story.made.events:
        event.data.pop("addresses", None)
    assert story.found() is MessageClass.FILTERED_BY_BROKER


def test_a_java_owner_s_version_still_says_more_than_the_membership() -> None:
    """b is Java's, and owns the queue of the message, at two versions."""
    for versions, expected in (
        ((7, 7), MessageClass.FILTERED_BY_CLIENT),
        ((7, 8), MessageClass.UNDETERMINED),
    ):
        story = Story(b="tagC", client="java")
        story.made.send("orders", "tagB", 1, 1, 0)
        story.made.offsets("g", "orders", [(0, 0), (1, 1)])
        story.looked()
        story.made.events[-1].data["subscriptions"]["orders"]["sub_version"] = versions[1]
        assert story.found() is expected


def test_in_a_mixed_group_the_owner_s_client_says_whose_filter_counts() -> None:
    """What is stored is the C++ member's, with the codes that its client registers: none of a tag."""
    story = Story(b="tagB", client="java", stored="tagB")
    story.made.send("orders", "tagB", 1, 1, 0)
    story.made.offsets("g", "orders", [(0, 0), (1, 1)])
    story.looked()
    assert story.found() is MessageClass.LOST
    for event in story.made.events:
        if event.kind == "subscription-observed":
            event.data["subscriptions"]["orders"]["codes"] = [0]
    story.made.events = [replace(event) for event in story.made.events]  # an event's body is read once
    assert story.found() is MessageClass.FILTERED_BY_BROKER


def test_it_does_not_matter_who_owned_it_where_nobody_s_pull_matches() -> None:
    story = Story(b="tagC").sent().passed()
    fate = story.fate()
    assert fate.message_class is MessageClass.FILTERED_BY_BROKER
    assert "whoever owned the queue" in fate.reason
    assert Story(b="tagC", client="java").sent().passed().found() is MessageClass.UNDETERMINED
    assert Story(b="'*'").sent().passed().found() is MessageClass.UNDETERMINED


def test_a_group_that_began_behind_the_message_pulled_nothing() -> None:
    carries = "java, post_subscription_when_pull: true"
    assert Story(b="tagC", client=carries).sent().passed().found() is MessageClass.FILTERED_BY_BROKER
    late = Story(b="tagC", client=f"{carries}, consume_from: last-offset").sent().passed()
    assert late.found() is MessageClass.UNDETERMINED


def test_nor_did_one_that_was_not_there_at_the_sending() -> None:
    story = Story(b="tagC")
    for name in "ab":
        story.made.add(name, "consumer-stopped")
    story.made.at(40)
    story.sent()
    story.made.start(story.scenario, "a")
    assert story.passed().found() is MessageClass.UNDETERMINED


def test_an_owner_that_filters_nothing_itself_drops_nothing() -> None:
    for filters_itself, expected in ((True, MessageClass.FILTERED_BY_CLIENT), (False, MessageClass.LOST)):
        story = Story(a="Aa")
        for event in story.made.events:
            if event.kind == "consumer-started":
                event.data["filters_itself"] = filters_itself
        story.made.send("orders", "BB", 1, 0, 0)
        assert story.passed().looked().found() is expected


def test_one_that_does_not_tell_its_queues_leaves_it_open() -> None:
    story = Story()
    for event in story.made.events:
        if event.kind == "consumer-started":
            event.data["tells_queues"] = False
    story.made.events = [event for event in story.made.events if event.kind != "ownership-observed"]
    fate = story.sent().fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "the client of a, b doesn't tell which queues it owns" in fate.reason
    assert story.passed().found() is MessageClass.UNDETERMINED


@given(drop=st.sets(st.integers(0, 40)))
def test_less_history_never_turns_one_answer_into_another(drop: set[int]) -> None:
    """Whichever looks are missing: the answer is the one of the whole history, or open."""
    story = Story().sent().looked().passed().looked()
    whole = story.found()
    kept: list[Event] = [
        event
        for event in story.made.events
        if event.n not in drop or event.kind not in ("ownership-observed", "subscription-observed")
    ]
    (fate,) = fates(RunView(story.scenario, kept), kept[-1].n)
    assert fate.message_class in (whole, MessageClass.UNDETERMINED)


@pytest.mark.parametrize(("before_ms", "proven"), [(0.5, True), (60_000.0, False), (None, False)])
def test_who_goes_after_the_last_look_has_not_gone_before(before_ms: float | None, proven: bool) -> None:
    story = Story(a="tagA", stored="tagA").sent().passed().looked()
    story.made.add("b", "consumer-stopping")
    story.made.stored("g", {"orders": "tagA"}, ["a"], addresses=[":1"], look_began_before_ms=before_ms)
    assert (story.found() is MessageClass.FILTERED_BY_BROKER) is proven
