"""The oracle where every member is served from every queue (POP, gRPC): one's filter is everybody's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketchaos.assertions.completeness import still_possible
from rocketchaos.assertions.delivered import Delivered
from rocketchaos.assertions.offsets import Offsets
from rocketchaos.assertions.ownership import Ownership
from rocketchaos.assertions.undelivered import Undelivered
from rocketchaos.harness.core.model import Holds, MessageClass, MessageFate
from rocketchaos.harness.language.tags import client_matches, pulled_matches
from tests.unit.history_builder import HistoryBuilder, OneMessage, scenario_of

TWO = """\
name: two
title: two members
topics: {orders: {queues: 1}, bills: {queues: 1}}
consumers:
  a: {group: g, A}
  b: {group: g, B}
steps: [{start: [a, b]}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""
GRPC = "client: grpc, subscribe: {orders: TAG}"
POP = "api: pop, subscribe: {orders: TAG}"
JAVA = "subscribe: {orders: TAG}"


class Story(OneMessage):
    """One message of tagB to the only queue; a subscribes to tagA, b to tagB, unless told."""

    def __init__(
        self, a: str = GRPC.replace("TAG", "tagA"), b: str = GRPC.replace("TAG", "tagB"), start: str = "ab"
    ) -> None:
        self.scenario = scenario_of(TWO.replace(" A}", f" {a}}}").replace(" B}", f" {b}}}"))
        self.made = HistoryBuilder().begin(self.scenario)
        self.made.events[0].data["timing"] = "compressed"
        for name in start:
            self.made.start(self.scenario, name)
        self.made.stored("g", {"orders": "tagB"}, list(start))
        self.made.offsets("g", "orders", [(0, 0)])

    def passed(self) -> Story:
        self.made.offsets("g", "orders", [(1, 1)])
        return self

    def later(self, seconds: float) -> Story:
        """So long after the beginning, at the end."""
        self.made.at(seconds).add("harness", "moment-observed", moment="end")
        return self


def both(text: str, a: str = "tagA", b: str = "tagB") -> tuple[str, str]:
    return text.replace("TAG", a), text.replace("TAG", b)


@pytest.mark.parametrize("text", [GRPC, POP, GRPC.replace("grpc", "grpc, api: simple")])
def test_what_one_member_s_receive_skips_nobody_gets(text: str) -> None:
    fate = Story(*both(text)).sent().passed().later(10).fate()
    assert fate.message_class is MessageClass.FILTERED_BY_BROKER
    assert "a receive of a was served" in fate.reason
    assert "had b popped it, it would have come by now" in fate.reason
    assert fate.owner is None


def test_as_long_as_the_other_may_have_popped_it_nothing_is_decided() -> None:
    fate = Story().sent().passed().later(3).fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "or b popped it, and less than 6 s ago" in fate.reason


def counted(story: Story, passed_messages: int) -> Story:
    """b's client says how many messages its filter has let through so far."""
    counts = {"consumer": "b", "topic": "orders", "found_pulls": 1, "passed_messages": passed_messages}
    story.made.add("harness", "pull-counts-observed", **counts)
    return story


def test_a_client_that_was_sent_nothing_which_its_listener_did_not_get_holds_nothing() -> None:
    story = counted(Story(*both(POP)).sent().passed(), 0)
    fate = story.fate()
    assert fate.message_class is MessageClass.FILTERED_BY_BROKER
    assert "the listener of b got all that its client was sent" in fate.reason
    assert story.made.events[-1].n in fate.events
    assert counted(Story(*both(POP)).sent().passed(), 1).found() is MessageClass.UNDETERMINED
    before = counted(Story(*both(POP)).sent(), 0).passed()
    assert before.found() is MessageClass.UNDETERMINED


def test_what_was_sent_to_a_client_that_was_cut_off_it_may_not_have_counted() -> None:
    story = Story(*both(POP)).sent()
    sides = ["b", "broker-a"]
    story.made.add("b", "fault-effective", fault="partition", target="b", sides=sides)
    story.made.add("b", "fault-healed", fault="partition", target="b", sides=sides)
    story.passed()
    assert counted(story, 0).found() is MessageClass.UNDETERMINED
    assert story.later(90).found() is MessageClass.FILTERED_BY_BROKER


def test_where_nobody_skips_counts_alone_lose_nothing() -> None:
    story = Story(a="api: pop, subscribe: {bills: tagA}", b=POP.replace("TAG", "tagB")).sent().passed()
    assert counted(story, 0).found() is MessageClass.IN_FLIGHT


@pytest.mark.parametrize(("kind", "until"), [("consumer-stopped", 60), ("killed", 60), ("paused", 600)])
def test_what_a_member_that_is_gone_may_have_popped_comes_again(kind: str, until: int) -> None:
    story = Story().sent()
    if kind == "consumer-stopped":
        story.made.add("b", kind)
    else:
        fault = {"killed": "kill", "paused": "pause"}[kind]
        story.made.add("b", "fault-effective", fault=fault, target="b")
    assert story.passed().later(until).found() is MessageClass.UNDETERMINED
    after = MessageClass.UNDETERMINED if kind == "paused" else MessageClass.FILTERED_BY_BROKER
    assert story.later(until + 30).found() is after


def test_a_blocked_listener_may_have_it_waiting_behind_what_it_holds() -> None:
    story = Story().sent()
    story.made.add("b", "blocked", key="orders-0")
    fate = story.passed().later(100).fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "the listener of b is blocked" in fate.reason
    story.made.add("b", "consumed", key="orders-0", status="CONSUME_SUCCESS")
    assert story.later(200).found() is MessageClass.FILTERED_BY_BROKER


def test_a_busy_listener_may_still_come_to_it() -> None:
    story = Story().sent().passed().later(20)
    story.made.receive("b", "orders", "orders-0", "tagB", 0, 5)
    busy_ns = next(event.mono_ns for event in story.made.events if event.kind == "received")
    fate = story.later(22).fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert fate.not_before_ns == busy_ns + 6_000_000_000
    assert story.later(27).found() is MessageClass.FILTERED_BY_BROKER


def test_a_blocked_member_that_could_not_take_it_makes_no_difference() -> None:
    story = Story().sent()
    story.made.add("a", "blocked", key="orders-0")
    assert story.passed().later(10).found() is MessageClass.FILTERED_BY_BROKER


def test_nobody_takes_it_and_that_is_known_at_once() -> None:
    fate = Story().sent("tagC").passed().fate()
    assert fate.message_class is MessageClass.FILTERED_BY_BROKER
    assert "a receive of a, b was served" in fate.reason


def test_everybody_takes_it_so_it_is_in_somebody_s_hands_and_lost_in_the_end() -> None:
    story = Story(*both(GRPC, "tagB", "'*'")).sent().passed()
    fate = story.later(30).fate()
    assert fate.message_class is MessageClass.IN_FLIGHT
    assert "one of a, b popped it" in fate.reason
    assert story.later(80).found() is MessageClass.LOST


def test_one_that_went_before_the_sending_may_have_left_a_receive_behind() -> None:
    story = Story()
    story.made.add("a", "consumer-stopped")
    story.sent().passed()
    assert story.later(10).found() is MessageClass.FILTERED_BY_BROKER
    long_gone = Story()
    long_gone.made.add("a", "consumer-stopped")
    long_gone.made.at(40)
    assert long_gone.sent().passed().later(50).found() is MessageClass.IN_FLIGHT  # b alone has asked


def test_one_that_came_before_the_passing_counts_from_its_start_on() -> None:
    story = Story(start="b").sent()
    story.made.start(story.scenario, "a")
    assert story.passed().later(10).found() is MessageClass.FILTERED_BY_BROKER
    late = Story(start="b").sent().passed()
    late.made.start(late.scenario, "a")
    assert late.later(10).found() is MessageClass.IN_FLIGHT


def test_where_the_first_receive_began_is_unknown_if_nobody_was_there_at_the_sending() -> None:
    story = Story(start="").sent()
    story.made.start(story.scenario, "a")
    fate = story.passed().later(10).fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "no member of the group was online when it was sent" in fate.reason


def test_a_member_that_does_not_subscribe_to_the_topic_receives_nothing_of_it() -> None:
    story = Story(a="client: grpc, subscribe: {bills: tagA}").sent().passed().later(80)
    assert story.found() is MessageClass.LOST


def test_a_member_that_changed_its_mind_may_have_done_either() -> None:
    story = Story(*both(GRPC, "tagB", "tagB")).sent()
    story.made.add("a", "subscribed", topic="orders", expression="tagA")
    fate = story.passed().later(10).fate()
    assert fate.message_class is MessageClass.FILTERED_BY_BROKER
    assert "a receive of a was served" in fate.reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [(GRPC, MessageClass.FILTERED_BY_BROKER), (POP, MessageClass.FILTERED_BY_CLIENT)],
)
def test_a_collision_is_acknowledged_by_the_proxy_or_dropped_by_the_client(
    text: str, expected: MessageClass
) -> None:
    assert Story(*both(text, "Aa", "Aa")).sent("BB").passed().found() is expected


def test_skipped_for_one_or_dropped_by_the_other_can_not_be_decided() -> None:
    assert Story(*both(POP, "Aa", "tagC")).sent("BB").passed().later(99).found() is MessageClass.UNDETERMINED


def test_by_sql_only_the_broker_knows() -> None:
    sql = "{sql: a = 1}"
    fate = Story(*both(GRPC, sql, "tagB")).sent().passed().later(99).fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "only the broker evaluates" in fate.reason
    # Whatever b's SQL matches: a's receive skips it.
    assert (
        Story(*both(GRPC, "tagA", sql)).sent().passed().later(10).found() is MessageClass.FILTERED_BY_BROKER
    )


def test_what_waits_is_in_flight_and_never_stranded_while_a_member_receives_from_the_topic() -> None:
    story = Story().sent()
    fate = story.fate()
    assert fate.message_class is MessageClass.IN_FLIGHT
    assert "for a or b, served from every queue" in fate.reason
    only_a = Story(b="client: grpc, subscribe: {bills: tagB}").sent()
    assert only_a.found() is MessageClass.IN_FLIGHT
    only_a.made.add("a", "unsubscribed", topic="orders")
    fate = only_a.fate()
    assert fate.message_class is MessageClass.STRANDED
    assert "no online member receives from its topic" in fate.reason


def test_a_queue_without_an_owner_is_served_by_the_member_that_shares() -> None:
    story = Story(a="subscribe: {bills: tagA}").sent()
    story.made.owns(story.scenario, "a", "bills", [0])
    assert story.found() is MessageClass.IN_FLIGHT
    story.made.add("b", "consumer-stopped")
    assert story.found() is MessageClass.STRANDED


def test_on_paper_a_queue_never_belongs_to_a_member_that_shares() -> None:
    story = Story(a="subscribe: {bills: tagA}")
    story.made.add("b", "unsubscribed", topic="orders")
    story.made.owns(story.scenario, "a", "bills", [0])
    story.made.offsets("g", "orders", [(0, 0), (0, 0)])
    story.made.send("orders", "tagB", 1, 1, 0)
    fate = story.fate()
    assert (fate.message_class, fate.owner) == (MessageClass.STRANDED, None)


def test_a_look_at_the_queues_of_a_member_that_shares_makes_it_no_owner() -> None:
    """A consumer in POP mode tells all queues as its own."""
    story = Story(*both(POP))
    for name in "ab":
        story.made.owns(story.scenario, name, "orders", [0], moment="end")
    story.sent().passed()
    for name in "ab":
        story.made.owns(story.scenario, name, "orders", [0], moment="end")
    story.later(10)
    fate = story.fate()
    assert (fate.message_class, fate.owner) == (MessageClass.FILTERED_BY_BROKER, None)
    for check in (
        Ownership(topic="orders", of="a", count=1),
        Ownership(topic="orders", group="g"),
        Offsets(group="g", topic="orders", lag=0, queues_of="a"),
    ):
        story.made.offsets("g", "orders", [(1, 1)], moment="end")
        answer = check.evaluate(story.view)
        assert answer.holds is Holds.UNKNOWN
        assert "owns no queue" in answer.observed
    got = Story(*both(POP)).sent()
    got.made.owns(got.scenario, "b", "orders", [0])
    got.made.receive("b", "orders", "orders-1", "tagB", 0, 0)
    answer = Delivered(to="b", count=1, from_queues_of="b").evaluate(got.later(1).view)
    assert answer.holds is Holds.UNKNOWN


def test_a_node_that_is_away_may_keep_it() -> None:
    story = Story()
    story.made.add("harness", "fault-effective", fault="pause", target="broker-a")
    fate = story.sent().passed().later(200).fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "broker-a is away" in fate.reason


def test_an_owner_that_does_not_subscribe_to_the_topic_moves_no_offset_of_it() -> None:
    story = Story(a="subscribe: {bills: tagA}").sent("tagC").passed()
    assert story.found() is MessageClass.FILTERED_BY_BROKER


def test_who_moved_the_offset_of_a_mixed_group_is_not_to_be_seen() -> None:
    story = Story(a=JAVA.replace("TAG", "tagA"))
    story.made.owns(story.scenario, "a", "orders", [0])
    story.sent().passed()
    story.made.owns(story.scenario, "a", "orders", [0])
    fate = story.later(99).fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "whose did among those of a, b" in fate.reason


def test_whoever_moved_it_where_no_expression_matches_that_travels_the_broker_passed_it_over() -> None:
    story = Story(a="client: python, subscribe: {orders: tagA}").sent("tagC").passed()
    assert story.found() is MessageClass.FILTERED_BY_BROKER
    stored = Story(a=JAVA.replace("TAG", "tagA")).sent("tagC").passed()
    assert stored.found() is MessageClass.UNDETERMINED


def test_a_member_that_shares_and_never_started_leaves_the_queue_to_its_owner() -> None:
    story = Story(a=JAVA.replace("TAG", "tagA"), start="a")
    story.made.owns(story.scenario, "a", "orders", [0])
    story.sent().passed()
    story.made.stored("g", {"orders": "tagB"}, ["a"])
    story.made.owns(story.scenario, "a", "orders", [0])
    assert story.found() is MessageClass.FILTERED_BY_CLIENT


def test_delivered_by_a_member_that_shares_tells_no_owner() -> None:
    story = Story().sent()
    story.made.receive("b", "orders", "orders-1", "tagB", 0, 0)
    fate = story.fate()
    assert (fate.message_class, fate.owner) == (MessageClass.DELIVERED, None)


@pytest.mark.parametrize(
    ("api", "still_waits", "too_late"),
    [("simple", 70, 80), ("simple, invisible: 60s", 100, 110), ("push", 70, 80)],
)
def test_what_should_have_come_again_by_now_may_be_lost(
    api: str, still_waits: float, too_late: float
) -> None:
    """What isn't acknowledged comes again once it is visible."""

    def after(seconds: float) -> MessageFate:
        story = Story(*both(GRPC.replace("grpc", f"grpc, api: {api}"))).sent()
        story.made.receive("b", "orders", "orders-1", "tagB", 0, 0)
        story.made.events[-1].data["status"] = "RECONSUME_LATER"
        begin = (story.made.events[-1].mono_ns - 5e9) / 1e9
        return story.later(begin + seconds).fate()

    for waits in (after(0), after(still_waits)):
        assert waits.message_class is MessageClass.IN_RETRY
        assert "once its invisible time is over" in waits.reason
    late = after(too_late)
    assert late.message_class is MessageClass.UNDETERMINED
    assert (late.deliveries, f"not come again within {too_late} s" in late.reason) == (("b",), True)


def test_the_offset_s_passing_seals_nothing_while_somebody_may_have_popped_it() -> None:
    story = Story(*both(GRPC, "tagB", "tagB")).sent().passed().later(10)
    messages = list(story.view.sent)
    assert "too early" in str(still_possible(story.view, ["g"], messages, story.made.events[-1].n))
    # Nothing is on its way any more once the longest poll is over.
    story.later(40)
    assert still_possible(story.view, ["g"], messages, story.made.events[-1].n) is None
    story.made.add("a", "fault-effective", fault="kill", target="a")
    story.later(80)
    assert "75 s" in str(still_possible(story.view, ["g"], messages, story.made.events[-1].n))


def test_what_was_skipped_is_sealed_though_a_poll_would_last_longer() -> None:
    story = Story().sent().passed().later(10)
    check = Undelivered(group="g", count=1, because=MessageClass.FILTERED_BY_BROKER)
    assert check.evaluate(story.view).holds is Holds.YES
    early = Story().sent().passed().later(3)
    assert check.evaluate(early.view).holds is Holds.UNKNOWN


TAGS = st.sampled_from(["tagA", "tagB", "Aa", "BB", "'*'", "tagA || tagB"])


@given(
    a=TAGS, b=TAGS, tag=st.sampled_from(["tagA", "tagB", "Aa", "BB"]), seconds=st.sampled_from([1, 10, 90])
)
def test_whatever_the_expressions(a: str, b: str, tag: str, seconds: int) -> None:
    """What is concluded follows from some member's filter, and more time only decides what was open."""
    story = Story(*both(POP, a, b)).sent(tag).passed().later(seconds)
    found = story.found()
    own = [item.strip("'") for item in (a, b)]
    skips = [pulled_matches(item, tag) is False for item in own]
    drops = [pulled_matches(item, tag) is True and not client_matches(item, tag) for item in own]
    takes = [client_matches(item, tag) for item in own]
    if found is MessageClass.FILTERED_BY_BROKER:
        assert any(skips)
        assert not any(drops)
    if found is MessageClass.FILTERED_BY_CLIENT:
        assert any(drops)
        assert not any(skips)
    assert (found in (MessageClass.LOST, MessageClass.IN_FLIGHT)) == all(takes)
    assert found is not MessageClass.STRANDED
    if found not in (MessageClass.UNDETERMINED, MessageClass.IN_FLIGHT):
        assert story.later(seconds + 100).found() is found
