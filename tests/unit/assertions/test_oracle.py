"""The oracle on hand-made histories: each class, and the evidence that tells it from its neighbours."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.assertions.attempts import awaiting_retry
from rocketchaos.assertions.oracle import fates
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import MessageClass, MessageFate
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.history_builder import HistoryBuilder, OneMessage, eight_messages, scenario_of

TWO_TAGS = """\
name: two-tags
title: two members
topics: {orders: {queues: 2}, bills: {queues: 2}}
consumers:
  a: {group: g, subscribe: {SUBSCRIBE_A}}
  b: {group: g, subscribe: {SUBSCRIBE_B}}
steps: [{start: [a, b]}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""


def scenario_with(a: str, b: str) -> Scenario:
    return scenario_of(TWO_TAGS.replace("SUBSCRIBE_A", a).replace("SUBSCRIBE_B", b))


class Story(OneMessage):
    """One message of tagB to queue 0, which a owns; b owns queue 1."""

    def __init__(self, a: str = "orders: tagA", b: str = "orders: tagB", stored: str = "tagB") -> None:
        self.scenario = scenario_with(a, b)
        self.stored = stored
        self.queues = [0], [1]
        self.made = HistoryBuilder().begin(self.scenario)
        self.made.start(self.scenario, "a")
        self.made.start(self.scenario, "b")
        self.made.stored("g", {"orders": stored}, ["a", "b"])
        self.made.owns(self.scenario, "a", "orders", [0])
        self.made.owns(self.scenario, "b", "orders", [1])
        self.made.offsets("g", "orders", [(0, 0), (0, 0)])

    def passed(self) -> Story:
        self.made.offsets("g", "orders", [(1, 1), (0, 0)])
        return self

    def looked_again(self, stored: str | None = None) -> Story:
        """The looks that close the bracket: everything as it was, or with another stored subscription."""
        self.made.stored("g", {"orders": stored or self.stored}, ["a", "b"])
        self.made.owns(self.scenario, "a", "orders", self.queues[0])
        self.made.owns(self.scenario, "b", "orders", self.queues[1])
        return self


def test_stored_tag_matches_and_the_owners_own_does_not() -> None:
    fate = Story().sent().passed().looked_again().fate()
    assert fate.message_class is MessageClass.FILTERED_BY_CLIENT
    assert (fate.owner, fate.subscription) == ("a", "tagB")


def test_stored_tag_does_not_match() -> None:
    assert Story(stored="tagA").sent().passed().looked_again().found() is MessageClass.FILTERED_BY_BROKER


def test_both_match_and_nobody_got_it() -> None:
    assert Story(a="orders: tagB").sent().passed().looked_again().found() is MessageClass.LOST


def test_a_star_lets_everything_pass_so_it_is_lost() -> None:
    assert (
        Story(a="orders: '*'", b="orders: '*'", stored="*").sent(None).passed().looked_again().found()
        is MessageClass.LOST
    )


def test_a_collision_passes_the_broker_and_not_the_client() -> None:
    story = Story(a="orders: Aa", b="orders: Aa", stored="Aa").sent("BB").passed().looked_again()
    assert story.found() is MessageClass.FILTERED_BY_CLIENT


def test_not_passed_and_owned_is_in_flight() -> None:
    assert Story().sent().found() is MessageClass.IN_FLIGHT


def test_not_passed_and_owned_by_nobody_is_stranded() -> None:
    story = Story(a="bills: tagA", b="orders: tagB")
    story.made.owns(story.scenario, "a", "bills", [0])
    fate = story.sent().fate()
    assert fate.message_class is MessageClass.STRANDED
    assert fate.owner == "a"  # on paper


def test_nobody_online_is_in_flight() -> None:
    story = Story().sent()
    for name in "ab":
        story.made.add(name, "consumer-stopped")
    assert story.found() is MessageClass.IN_FLIGHT


def test_got_is_delivered_even_though_the_offset_is_behind() -> None:
    story = Story().sent()
    story.made.receive("b", "orders", "orders-1", "tagB", 0, 0)
    fate = story.fate()
    assert (fate.message_class, fate.deliveries) == (MessageClass.DELIVERED, ("b",))


def test_failed_is_in_retry_and_delivered_once_it_succeeds() -> None:
    story = Story(a="orders: tagB").sent()
    received: dict[str, Any] = {
        "topic": "orders", "key": "orders-1", "tag": "tagB", "broker": "broker-a", "queue_id": 0, "offset": 0,
    }  # fmt: skip
    story.made.add("a", "received", **received, reconsume_times=0)
    story.made.add("a", "consumed", key="orders-1", status="RECONSUME_LATER")
    assert story.passed().found() is MessageClass.IN_RETRY
    story.made.add("b", "received", **received, reconsume_times=1)
    story.made.add("b", "consumed", key="orders-1", status="CONSUME_SUCCESS")
    assert story.found() is MessageClass.DELIVERED


def test_a_subscription_that_changed_meanwhile_leaves_it_open() -> None:
    story = Story(stored="tagA").sent()
    story.made.stored("g", {"orders": "tagB"}, ["a", "b"])
    fate = story.passed().looked_again("tagB").fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "no two looks" in fate.reason


def test_a_change_that_is_only_seen_after_the_passing_leaves_it_open() -> None:
    """Between two looks it may have changed before or after the pull; one look proves nothing."""
    assert Story(a="orders: tagB").sent().passed().looked_again("tagA").found() is MessageClass.UNDETERMINED


def test_without_a_look_after_the_passing_it_is_open() -> None:
    assert Story().sent().passed().found() is MessageClass.UNDETERMINED


def test_a_topic_that_was_absent_meanwhile_leaves_it_open() -> None:
    story = Story(a="orders: tagB").sent()
    story.made.stored("g", {}, ["a", "b"])
    assert story.passed().looked_again().found() is MessageClass.UNDETERMINED


def test_a_subscription_that_changed_before_the_sending_does_not_matter() -> None:
    story = Story(stored="tagA")
    story.made.stored("g", {"orders": "tagB"}, ["a", "b"])
    assert story.sent().passed().looked_again("tagB").found() is MessageClass.FILTERED_BY_CLIENT


def test_an_owner_that_changed_meanwhile_leaves_it_open() -> None:
    story = Story().sent()
    story.queues = [1], [0]
    assert story.passed().looked_again().found() is MessageClass.UNDETERMINED


def test_an_owner_that_lost_its_queue_and_got_it_back_leaves_it_open() -> None:
    """Its own subVersion tells, though both looks show the same queues."""
    story = Story(a="orders: tagB").sent()
    story.made.owns(story.scenario, "a", "orders", [1])
    del story.made.events[-1]
    assert story.passed().looked_again().found() is MessageClass.UNDETERMINED


def test_an_owner_that_was_killed_meanwhile_leaves_it_open() -> None:
    story = Story(a="orders: tagB").sent()
    story.made.add("harness", "fault-effective", fault="kill", target="a")
    story.passed().made.stored("g", {"orders": "tagB"}, ["b"])
    assert story.found() is MessageClass.UNDETERMINED


def test_in_flight_says_that_the_broker_refuses_pulls() -> None:
    story = Story().sent()
    story.made.stored("g", {"bills": "tagA"}, ["a", "b"])
    fate = story.fate()
    assert fate.message_class is MessageClass.IN_FLIGHT
    assert "code 24" in fate.reason
    assert fate.subscription is None


def test_a_delivery_proves_the_owner() -> None:
    story = Story().sent()
    story.made.receive("b", "orders", "orders-1", "tagB", 0, 0)
    assert story.fate().owner == "b"


def test_what_was_never_observed_leaves_it_open() -> None:
    scenario = scenario_with("orders: tagA", "orders: tagB")
    made = HistoryBuilder().begin(scenario)
    made.start(scenario, "a")
    made.send("orders", "tagB", 1, 0, 0)
    made.offsets("g", "orders", [(1, 1), (0, 0)])
    (fate,) = fates(RunView(scenario, made.events), made.events[-1].n)
    assert fate.message_class is MessageClass.UNDETERMINED


def late_starter() -> MessageFate:
    """Of a message that was sent before anybody started."""
    scenario = scenario_with("orders: tagA", "orders: tagA")
    made = HistoryBuilder().begin(scenario)
    made.send("orders", "tagB", 1, 0, 0)
    made.start(scenario, "a")
    made.stored("g", {"orders": "tagA"}, ["a"])
    made.offsets("g", "orders", [(1, 1), (0, 0)])
    (fate,) = fates(RunView(scenario, made.events), made.events[-1].n)
    return fate


def test_a_tag_to_which_no_member_subscribes_was_filtered_by_the_broker_whenever_it_was_looked_at() -> None:
    """As right after a start: the member's queues, and with them its version, change while messages come."""
    story = Story(b="orders: tagA", stored="tagA").sent()
    story.passed().looked_again().made.events[-3].data["subscriptions"]["orders"]["sub_version"] += 1
    fate = story.fate()
    assert fate.message_class is MessageClass.FILTERED_BY_BROKER
    assert "whichever member's subscription" in fate.reason
    assert late_starter().message_class is MessageClass.FILTERED_BY_BROKER
    for change in ("a member wants it", "a hand-made member", "a stranger's subscription"):
        other = Story(
            b="orders: tagA || tagB" if change == "a member wants it" else "orders: tagA", stored="tagA"
        )
        if change == "a hand-made member":
            hand_made = {"orders": {"expression": "tagB", "sub_version": 1}}
            other.made.add("h1", "heartbeat-sent", client_id="h1@t", group="g", subscriptions=hand_made)
        other.sent().passed().looked_again("tagB" if change == "a stranger's subscription" else "tagA")
        other.made.events[-3].data["subscriptions"]["orders"]["sub_version"] += 1
        assert other.found() is MessageClass.UNDETERMINED, change


def test_the_eight_messages() -> None:
    scenario, events = eight_messages()
    found = fates(RunView(scenario, events), events[-1].n)
    assert [fate.message_class for fate in found].count(MessageClass.DELIVERED) == 4
    filtered = [fate for fate in found if fate.message_class is MessageClass.FILTERED_BY_CLIENT]
    assert {fate.queue for fate in filtered} == {"broker-a:0", "broker-a:1"}
    kinds = {events[number - 1].kind for number in filtered[0].events}
    assert kinds >= {
        "sent",
        "subscription-observed",
        "ownership-observed",
        "offsets-observed",
        "pull-counts-observed",
    }


@pytest.mark.parametrize("until", range(1, 60, 3))
def test_a_history_cut_off_anywhere_is_judged_without_a_crash(until: int) -> None:
    scenario, events = eight_messages()
    for fate in fates(RunView(scenario, events[:until]), until):
        assert fate.message_class is not MessageClass.LOST


@pytest.mark.parametrize(
    ("fields", "times", "letters", "expected"),
    [
        ("max_reconsume_times: 1", 1, 1, MessageClass.DEAD_LETTER),
        ("max_reconsume_times: 1", 0, 1, MessageClass.IN_RETRY),
        ("max_reconsume_times: 1", 1, 0, MessageClass.IN_RETRY),
        ("retry_delay_level: -1", 0, 1, MessageClass.DEAD_LETTER),
        ("threads: 20", 16, 1, MessageClass.DEAD_LETTER),
        ("threads: 20", 15, 1, MessageClass.IN_RETRY),
        ("listener: orderly", 16, 1, MessageClass.IN_RETRY),
    ],
)
def test_failed_for_the_last_time_is_a_dead_letter_once_the_queue_has_one(
    fields: str, times: int, letters: int, expected: MessageClass
) -> None:
    story = Story(a=f"orders: tagB}}, {fields}, behaviour: {{fail: 99").sent()
    received = {"topic": "orders", "key": "orders-1", "tag": "tagB", "broker": "broker-a", "queue_id": 0}
    story.made.add("a", "received", **received, offset=0, reconsume_times=times)
    status = "SUSPEND_CURRENT_QUEUE_A_MOMENT" if "orderly" in fields else "RECONSUME_LATER"
    story.made.add("a", "consumed", key="orders-1", status=status)
    story.made.add("harness", "dead-letters-observed", group="g", count=letters)
    # An orderly client commits what failed only once it is a dead letter.
    assert (story if expected is MessageClass.IN_RETRY else story.passed()).found() is expected


@pytest.mark.parametrize(
    ("fields", "queues", "status", "expected"),
    [
        ("threads: 20", 0, "RECONSUME_LATER", MessageClass.LOST),
        ("threads: 20", 1, "RECONSUME_LATER", MessageClass.IN_RETRY),
        ("listener: orderly", 0, "SUSPEND_CURRENT_QUEUE_A_MOMENT", MessageClass.IN_RETRY),
    ],
)
def test_what_a_broker_keeps_no_retry_of_is_lost(
    fields: str, queues: int, status: str, expected: MessageClass
) -> None:
    story = Story(a=f"orders: tagB}}, {fields}, behaviour: {{fail: 99")
    settings = {"retryQueueNums": queues}
    story.made.add(
        "harness", "group-configured", group="g", settings={"retryQueueNums": 0}, brokers=["broker-a"]
    )
    story.made.add("harness", "group-configured", group="g", settings=settings, brokers=["broker-a"])
    story.made.add(
        "harness", "group-configured", group="h", settings={"retryQueueNums": 0}, brokers=["broker-a"]
    )
    story.sent()
    received = {"topic": "orders", "key": "orders-1", "tag": "tagB", "broker": "broker-a", "queue_id": 0}
    story.made.add("a", "received", **received, offset=0, reconsume_times=0)
    story.made.add("a", "consumed", key="orders-1", status=status)
    # An orderly client commits what failed only behind it.
    assert (story if "orderly" in fields else story.passed()).found() is expected
    awaited = awaiting_retry(story.view, "g", story.made.events[-1].n)
    assert awaited == ([] if expected is MessageClass.LOST else ["orders-1"])


@pytest.mark.parametrize(
    ("fields", "status", "passes", "expected"),
    [
        ("listener: orderly, client: go", "RECONSUME_LATER", True, MessageClass.LOST),
        ("listener: orderly, client: go", "RECONSUME_LATER", False, MessageClass.IN_RETRY),
        ("listener: orderly, client: go", "SUSPEND_CURRENT_QUEUE_A_MOMENT", True, MessageClass.LOST),
        ("listener: orderly", "SUSPEND_CURRENT_QUEUE_A_MOMENT", True, MessageClass.LOST),
        ("listener: orderly", "SUSPEND_CURRENT_QUEUE_A_MOMENT", False, MessageClass.IN_RETRY),
        ("client: go", "RECONSUME_LATER", True, MessageClass.IN_RETRY),
    ],
)
def test_what_an_orderly_listener_failed_is_lost_once_the_offset_passes_it(
    fields: str, status: str, passes: bool, expected: MessageClass
) -> None:
    story = Story(a=f"orders: tagB}}, {fields}, behaviour: {{fail: 99").sent()
    received = {"topic": "orders", "key": "orders-1", "tag": "tagB", "broker": "broker-a", "queue_id": 0}
    story.made.add("a", "received", **received, offset=0, reconsume_times=0)
    story.made.add("a", "consumed", key="orders-1", status=status)
    assert (story.passed() if passes else story).found() is expected
    awaited = awaiting_retry(story.view, "g", story.made.events[-1].n)
    assert awaited == ([] if expected is MessageClass.LOST else ["orders-1"])


@pytest.mark.parametrize("before", [True, False])
def test_an_offset_that_was_set_or_passed_before_says_nothing_of_an_orderly_failure(before: bool) -> None:
    story = Story(a="orders: tagB}, listener: orderly, behaviour: {fail: 99").sent()
    received = {"topic": "orders", "key": "orders-1", "tag": "tagB", "broker": "broker-a", "queue_id": 0}
    story.made.add("a", "received", **received, offset=0, reconsume_times=0)
    if before:
        story.passed()
        story.made.add("a", "consumed", key="orders-1", status="SUSPEND_CURRENT_QUEUE_A_MOMENT")
    else:
        story.made.add("a", "consumed", key="orders-1", status="SUSPEND_CURRENT_QUEUE_A_MOMENT")
        story.made.add("harness", "offsets-reset", group="g", topic="orders", queues=[])
        story.passed()
    assert story.found() is MessageClass.IN_RETRY


def test_a_dead_letter_of_before_proves_nothing() -> None:
    story = Story(a="orders: tagB}, max_reconsume_times: 0, behaviour: {fail: 99").sent()
    story.made.add("harness", "dead-letters-observed", group="g", count=1)
    received = {"topic": "orders", "key": "orders-1", "tag": "tagB", "broker": "broker-a", "queue_id": 0}
    story.made.add("a", "received", **received, offset=0, reconsume_times=0)
    story.made.add("a", "consumed", key="orders-1", status="RECONSUME_LATER")
    assert story.passed().found() is MessageClass.IN_RETRY


class Anew(Story):
    """b, which owns the queue, subscribes anew to the tag that is then sent and stored."""

    def __init__(self, gap_s: float = 1.0) -> None:
        super().__init__(a="orders: tagA", b="orders: tagA")
        self.queues = [1], [0]
        self.made.add("b", "subscribed", topic="orders", expression="tagB")
        self.made.at(gap_s)
        self.stored = "tagB"
        self.looked_again()

    def counted(self, passed_messages: int) -> Anew:
        counts = {"found_pulls": 1, "passed_messages": passed_messages}
        self.made.add("harness", "pull-counts-observed", consumer="b", topic="orders", **counts)
        return self


def test_a_pull_that_was_held_when_its_consumer_subscribed_anew_drops_by_the_old_expression() -> None:
    story = Anew().sent().passed().looked_again()
    assert isinstance(story, Anew)
    assert story.fate().message_class is MessageClass.UNDETERMINED
    fate = story.counted(0).fate()
    assert fate.message_class is MessageClass.FILTERED_BY_CLIENT
    assert "the pull's beginning" in fate.reason


def test_what_the_client_let_through_and_no_listener_got_stays_open_after_subscribing_anew() -> None:
    story = Anew().sent().passed().looked_again()
    assert isinstance(story, Anew)
    assert story.counted(1).fate().message_class is MessageClass.UNDETERMINED


def test_no_pull_is_held_so_long_that_an_old_expression_could_still_count() -> None:
    story = Anew(gap_s=31.0).sent().passed().looked_again()
    assert isinstance(story, Anew)
    assert story.counted(0).fate().message_class is MessageClass.LOST


def test_a_consumer_started_anew_holds_no_pull_of_before() -> None:
    story = Anew()
    story.made.add("b", "consumer-starting", pid=1, subscribe={"orders": "tagB"})
    story.looked_again().sent().passed().looked_again()
    assert story.fate().message_class is MessageClass.LOST
