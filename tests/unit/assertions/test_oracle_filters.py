"""The oracle where the broker's filter is SQL, is carried by the pull, or changes with the member's own mind."""

from __future__ import annotations

import pytest

from rocketchaos.assertions.delivered import Delivered
from rocketchaos.assertions.oracle import fates
from rocketchaos.harness.core.model import Holds, MessageClass
from tests.unit.history_builder import BROKER, HistoryBuilder, OneMessage, scenario_of

ONE_QUEUE = """\
name: one-queue
title: a owns the only queue
topics: {orders: {queues: 1}, bills: {queues: 1}}
consumers:
  a: {group: g, A}
  b: {group: g, B}
steps: [{start: [a, b]}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""
SQL = "subscribe: {orders: {sql: a = 1}}"


class Story(OneMessage):
    """One message of tagB to the only queue, which a owns."""

    def __init__(self, a: str = SQL, b: str = SQL, stored: str = "a = 1", kind: str = "SQL92") -> None:
        self.scenario = scenario_of(ONE_QUEUE.replace(" A}", f" {a}}}").replace(" B}", f" {b}}}"))
        self.made = HistoryBuilder().begin(self.scenario)
        for name in "ab":
            self.made.start(self.scenario, name)
        self.store(stored, kind)
        self.made.owns(self.scenario, "a", "orders", [0])
        self.made.owns(self.scenario, "b", "orders", [])
        self.made.offsets("g", "orders", [(0, 0)])

    def store(self, expression: str, kind: str) -> Story:
        self.stored = expression, kind
        self.made.stored("g", {"orders": expression}, ["a", "b"])
        self.made.events[-1].data["subscriptions"]["orders"]["type"] = kind
        if kind == "SQL92":
            self.made.events[-1].data["subscriptions"]["orders"].update(tags=[], codes=[])
        return self

    def passed(self) -> Story:
        """The offset passes it, and the looks after that close the bracket."""
        self.made.offsets("g", "orders", [(1, 1)])
        self.store(*self.stored)
        self.made.owns(self.scenario, "a", "orders", [0])
        self.made.owns(self.scenario, "b", "orders", [])
        return self

    def counts(self, found: int, passed: int, consumer: str = "a") -> Story:
        counts = {"consumer": consumer, "topic": "orders", "found_pulls": found, "passed_messages": passed}
        self.made.add("harness", "pull-counts-observed", **counts)
        return self


def test_sql_and_the_client_was_sent_nothing() -> None:
    fate = Story().sent().passed().counts(0, 0).fate()
    assert fate.message_class is MessageClass.FILTERED_BY_BROKER
    assert (fate.owner, fate.subscription) == ("a", "a = 1")


def test_sql_and_the_client_was_sent_what_its_listener_did_not_get() -> None:
    fate = Story().sent().passed().counts(1, 1).fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "only the broker evaluates" in fate.reason


def test_sql_and_nobody_counted() -> None:
    fate = Story().sent().passed().fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "pull counts of a were not observed" in fate.reason


def test_sql_and_what_the_listener_got_of_other_messages_counts() -> None:
    story = Story().sent()
    story.made.receive("a", "orders", "orders-0", "tagA", 0, 9)
    assert story.passed().counts(1, 1).found() is MessageClass.FILTERED_BY_BROKER


def test_sql_and_what_an_earlier_process_got_does_not_count() -> None:
    story = Story()
    story.made.receive("a", "orders", "orders-0", "tagA", 0, 9)
    story.made.start(story.scenario, "a")
    assert story.sent().passed().counts(1, 1).found() is MessageClass.UNDETERMINED


def test_stored_sql_and_an_owner_that_drops_the_tag() -> None:
    story = Story(a="subscribe: {orders: tagA}").sent().passed().counts(1, 0)
    assert story.found() is MessageClass.UNDETERMINED


def test_stored_tag_and_an_owner_by_sql_which_drops_nothing() -> None:
    assert Story(stored="tagB", kind="TAG").sent().passed().counts(1, 0).found() is MessageClass.LOST
    assert Story(stored="tagA", kind="TAG").sent().passed().found() is MessageClass.FILTERED_BY_BROKER


def test_stored_from_tag_to_sql_meanwhile() -> None:
    story = Story(stored="tagB", kind="TAG").sent().store("a = 1", "SQL92").passed().counts(0, 0)
    assert story.found() is MessageClass.UNDETERMINED


POSTS = "post_subscription_when_pull: true, subscribe: {orders: TAG}"


@pytest.mark.parametrize(
    ("own", "found"),
    [
        ("tagA", MessageClass.FILTERED_BY_BROKER),
        ("tagB", MessageClass.LOST),
        ("'*'", MessageClass.LOST),
    ],
)
@pytest.mark.parametrize("how", [POSTS, "api: lite-pull, subscribe: {orders: TAG}"])
def test_a_pull_that_carries_its_own_expression(how: str, own: str, found: MessageClass) -> None:
    for stored in ("tagA", "tagB"):
        fate = Story(a=how.replace("TAG", own), stored=stored, kind="TAG").sent().passed().fate()
        assert fate.message_class is found
        assert "carried" in fate.reason


def test_a_collision_passes_a_pull_s_own_expression() -> None:
    story = Story(a=POSTS.replace("TAG", "tagAa"), stored="*", kind="TAG")
    story.made.send("orders", "tagAB", 1, 0, 0)
    story.made.events[-1].data["tag"] = "tagBB"  # the same hash as tagAa
    assert story.passed().found() is MessageClass.FILTERED_BY_CLIENT


def test_a_pull_that_carries_sql() -> None:
    by_sql = POSTS.replace("TAG", "{sql: a = 1}")
    assert Story(a=by_sql, stored="tagB", kind="TAG").sent().passed().counts(0, 0).found() is (
        MessageClass.FILTERED_BY_BROKER
    )
    assert Story(a=by_sql, stored="tagB", kind="TAG").sent().passed().found() is MessageClass.UNDETERMINED


def test_handed_from_one_that_carries_its_own_to_one_that_does_not() -> None:
    story = Story(
        a=POSTS.replace("TAG", "tagA"), b="subscribe: {orders: tagB}", stored="tagB", kind="TAG"
    ).sent()
    story.made.owns(story.scenario, "a", "orders", [])
    story.made.owns(story.scenario, "b", "orders", [0])
    assert story.passed().found() is MessageClass.UNDETERMINED


def test_the_owner_changed_its_mind_long_before_the_sending() -> None:
    story = Story(a="subscribe: {orders: tagA}", stored="tagB", kind="TAG")
    story.made.add("a", "subscribed", topic="orders", expression="tagB")
    story.made.at(40)
    assert story.sent().passed().found() is MessageClass.LOST


def test_the_owner_changed_its_mind_meanwhile() -> None:
    story = Story(a="subscribe: {orders: tagA}", stored="tagB", kind="TAG").sent()
    story.made.add("a", "subscribed", topic="orders", expression="tagB")
    fate = story.passed().fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "changed its own subscription" in fate.reason


def test_the_owner_started_anew_with_what_it_was_declared_to_have() -> None:
    story = Story(a="subscribe: {orders: tagA}", stored="tagB", kind="TAG")
    story.made.add("a", "subscribed", topic="orders", expression="tagB")
    story.made.add("a", "consumer-starting", pid=3, subscribe={"orders": "tagA"})
    assert story.sent().passed().found() is MessageClass.FILTERED_BY_CLIENT


def test_a_topic_that_was_subscribed_to_only_while_running_has_fates_too() -> None:
    plain = "subscribe: {bills: tagA}"
    story = Story(a=plain, b=plain, stored="tagB", kind="TAG")
    story.made.send("orders", "tagB", 1, 0, 0)
    assert fates(story.view, story.made.events[-1].n) == []
    story.made.add("a", "subscribed", topic="orders", expression="tagB")
    assert story.found() is MessageClass.IN_FLIGHT


def test_broadcasting_offsets_are_not_to_be_seen() -> None:
    story = Story(a="model: broadcasting, subscribe: {orders: tagB}", stored="tagB", kind="TAG").sent()
    fate = story.fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "broadcasting" in fate.reason


def received(story: Story, status: str) -> None:
    where = {
        "topic": "orders",
        "key": "orders-1",
        "tag": "tagB",
        "broker": BROKER,
        "queue_id": 0,
        "offset": 0,
    }
    story.made.add("a", "received", **where, reconsume_times=0)
    story.made.add("a", "consumed", key="orders-1", status=status)


def test_what_an_orderly_listener_suspends_waits_for_it() -> None:
    story = Story(a="listener: orderly, subscribe: {orders: tagB}", stored="tagB", kind="TAG").sent()
    received(story, "SUSPEND_CURRENT_QUEUE_A_MOMENT")
    fate = story.fate()
    assert fate.message_class is MessageClass.IN_RETRY
    assert "hands it over again" in fate.reason


def test_what_fails_by_broadcasting_is_delivered_for_nobody_tries_again() -> None:
    story = Story(a="model: broadcasting, subscribe: {orders: tagB}", stored="tagB", kind="TAG").sent()
    received(story, "RECONSUME_LATER")
    fate = story.fate()
    assert fate.message_class is MessageClass.DELIVERED
    assert "no retries" in fate.reason


def test_a_lite_pull_owner_whose_offset_does_not_pass_what_it_passes_over() -> None:
    story = Story(a="api: lite-pull, subscribe: {orders: tagA}", stored="tagA", kind="TAG").sent()
    fate = story.fate()
    assert fate.message_class is MessageClass.IN_FLIGHT
    assert "passes that only with the next message" in fate.reason


def test_once_all_are_delivered_there_is_nothing_to_wait_for() -> None:
    story = Story(a="model: broadcasting, subscribe: {orders: tagB}", stored="tagB", kind="TAG").sent()
    story.made.receive("a", "orders", "orders-1", "tagB", 0, 0)
    story.made.add("harness", "moment-observed", moment="end")
    view = story.view
    assert Delivered(to="a", count=1).evaluate(view).holds is Holds.YES
    # Of those that didn't get it nobody can tell: no offset of a broadcasting group is to be seen.
    assert Delivered(to="b", count=0).evaluate(view).holds is Holds.UNKNOWN
