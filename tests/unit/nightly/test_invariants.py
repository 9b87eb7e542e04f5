"""Each invariant speaks where it was breached, and says nothing where it wasn't or where nobody can know."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from harness.model import MessageClass, Trouble
from harness.nightly.invariants import INVARIANTS, Invariant
from harness.nightly.invariants.backwards import OffsetBackwards
from harness.nightly.invariants.clock import line_ms
from harness.nightly.invariants.cross import CrossDelivery
from harness.nightly.invariants.lost import Lost
from harness.nightly.invariants.owners import SeveralOwners
from harness.nightly.invariants.refused import RefusedOnAndOn
from harness.nightly.invariants.repeated import Repeated
from harness.nightly.invariants.stuck import Stuck
from harness.nightly.invariants.wanted import WantedButNotDelivered
from tests.unit.history_builder import BROKER
from tests.unit.nightly.stories import Story, quiet

MISMATCH = {"a": "{orders: tagA}", "b": "{orders: tagB}"}


def kill(story: Story, target: str, at: float) -> Story:
    story.at(at).add("harness", "fault-effective", fault="kill", target=target, proof="it is")
    return story


def causes(story: Story, invariant: Invariant) -> list[str]:
    return [one.cause for one in story.breaches(invariant)]


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda one: one.kind)
def test_where_all_goes_well_none_says_anything(invariant: Invariant) -> None:
    assert quiet().breaches(invariant) == []


# wanted-but-not-delivered ------------------------------------------------------------------------------


def half_lost(**who: str) -> Story:
    story = Story(**(who or MISMATCH)).looks("tagB", 2.0).sends("tagB", 3.0)
    return story.got("b", 2, 1).passed(4.0).ends("tagB")


def test_what_the_owner_drops_and_another_member_wants_is_found_with_its_cause() -> None:
    (breach,) = half_lost().breaches(WantedButNotDelivered())
    assert breach.cause.startswith("filtered-by-client: ")
    assert breach.cause.endswith("the members differ in their tags")
    assert "orders-1 (tag tagB), which b wanted" in breach.sentence
    assert breach.anomaly[0]["undelivered"]["because"] == "filtered-by-client"
    assert breach.events


def test_what_the_stored_tag_passes_over_is_another_cause() -> None:
    story = Story(**MISMATCH).looks("tagB", 2.0).sends("tagA", 3.0).passed(4.0).ends("tagB")
    assert [one.partition(":")[0] for one in causes(story, WantedButNotDelivered())] == ["filtered-by-broker"]


def test_what_nobody_wants_is_not_missed() -> None:
    story = Story(**MISMATCH).looks("tagB", 2.0).sends("tagX", 3.0).passed(4.0).ends("tagB")
    assert causes(story, WantedButNotDelivered()) == []


def test_where_who_wanted_it_had_gone_before_nobody_misses_it() -> None:
    story = Story(**MISMATCH).looks("tagB", 2.0)
    kill(story, "b", 2.5).sends("tagB", 3.0).passed(4.0).ends("tagB")
    assert causes(story, WantedButNotDelivered()) == []


def test_who_had_left_and_come_back_meanwhile_did_not_want_it_all_the_time() -> None:
    story = Story(**MISMATCH).looks("tagB", 2.0).sends("tagB", 3.0).got("b", 2, 1)
    story.at(3.3).add("b", "consumer-stopped")
    story.at(3.5)
    story.start(story.scenario, "b")
    assert causes(story.passed(4.0).ends("tagB"), WantedButNotDelivered()) == []


def test_what_nobody_can_know_is_no_finding() -> None:
    # Without the look before the sending nobody knows what was stored, nor who owned the queue.
    story = Story(**MISMATCH).sends("tagB", 3.0).looks("tagB", 3.5).got("b", 2, 1).passed(4.0).ends("tagB")
    assert story.found() == []


def stranded(end: float) -> Story:
    """A message in the queue that on paper belongs to a, who subscribes to another topic."""
    story = Story(a="{bills: '*'}", b="{orders: '*'}")
    for at, moment in ((2.0, None), (end, "end")):
        named = {} if moment is None else {"moment": moment}
        if moment is not None:
            story.sends("tagB", 3.0).got("b", 2, 1).passed(4.0, (0, 1))
        story.at(at).stored("g", {"orders": "*"}, ["a", "b"], **named)
        story.owns(story.scenario, "a", "orders", [], **named)
        story.owns(story.scenario, "b", "orders", [1], **named)
    return story.end_of_run()


def test_what_waits_where_nobody_consumes_is_found_once_nothing_can_come_any_more() -> None:
    (cause,) = causes(stranded(20.0), WantedButNotDelivered())
    assert cause.startswith("stranded: ")
    assert causes(stranded(5.0), WantedButNotDelivered()) == []


# lost --------------------------------------------------------------------------------------------------


def lost(**who: str) -> Story:
    story = Story(**who).looks("*", 2.0).sends("tagB", 3.0).got("b", 2, 1).passed(4.0)
    return kill(story, "a", 5.0).ends("*")


def test_what_was_passed_and_no_filter_can_have_taken_is_lost() -> None:
    (breach,) = lost().breaches(Lost())
    assert breach.cause == "no filter can have taken it; the members agree"
    assert "orders-1" in breach.sentence


def test_that_is_so_whoever_owned_the_queue() -> None:
    story = Story().sends("tagB", 3.0).got("b", 2, 1).passed(4.0).ends("*")
    assert len(causes(story, Lost())) == 1


@pytest.mark.parametrize(
    "who", [{"a": "{orders: tagA}"}, {"a": "{orders: {sql: a = 1}}"}, {"a": "{bills: '*'}"}]
)
def test_where_any_filter_may_have_taken_it_it_is_not_lost(who: dict[str, str]) -> None:
    story = Story(**who).sends("tagB", 3.0).got("b", 2, 1).passed(4.0).ends("*")
    assert causes(story, Lost()) == []


BY_SQL = {"a": "{orders: {sql: a = 1}}", "b": "{orders: {sql: a = 1}}"}


@pytest.mark.parametrize(
    ("stored", "properties", "found"),
    [
        ("a = 1", {"a": "1"}, ["lost: no filter can have taken it; the members agree"]),
        ("a = 1", {"a": "2"}, []),
        ("a = 1", {}, []),
        ("a = 2", {"a": "1"}, []),
        ("a > 0", {"a": "1"}, []),
    ],
)
def test_of_plain_sql_it_is_known_what_it_takes(
    stored: str, properties: dict[str, str], found: list[str]
) -> None:
    story = Story(**BY_SQL).looks("*", 2.0).sends("tagB", 3.0).got("b", 2, 1).passed(4.0)
    assert [one.signature for one in story.ends("*").by_sql(stored, properties).found()] == found


def test_what_matches_the_sql_of_all_is_lost_and_not_taken_by_the_broker() -> None:
    story = Story(**BY_SQL).looks("*", 2.0).sends("tagB", 3.0).got("b", 2, 1).passed(4.0)
    for name, count in (("a", 0), ("b", 1)):
        counts = {"found_pulls": count, "passed_messages": count}
        story.add("harness", "pull-counts-observed", consumer=name, topic="orders", moment="end", **counts)
    story.ends("*").by_sql("a = 1", {"a": "1"})
    assert story.judged.fates[0].message_class is MessageClass.FILTERED_BY_BROKER
    assert [one.kind for one in story.found()] == ["lost"]


def test_where_any_member_may_have_popped_it_it_is_not_lost() -> None:
    popped = "{orders: '*'}, api: pop"
    story = Story(a=popped, b=popped).sends("tagB", 3.0).got("b", 2, 1).passed(4.0).ends("*", 5.0)
    assert causes(story, Lost()) == []


def test_what_a_reset_passed_over_is_not_lost() -> None:
    story = Story().looks("*", 2.0).sends("tagB", 3.0).got("b", 2, 1)
    queues = [{"broker": BROKER, "queue_id": 0, "offset": 1}]
    story.add("harness", "offsets-reset", group="g", topic="orders", queues=queues)
    assert causes(story.passed(4.0).ends("*"), Lost()) == []


# stuck -------------------------------------------------------------------------------------------------


def waiting(at: float = 20.0, **who: str) -> Story:
    story = Story(**who).looks("*", 2.0).sends("tagB", 3.0).got("b", 2, 1)
    return story.passed(4.0, (0, 1)).ends("*", at)


def test_what_waits_for_members_of_one_mind_and_nothing_happens_is_stuck() -> None:
    (breach,) = waiting().breaches(Stuck())
    assert "orders-1" in breach.sentence


def test_what_was_sent_just_now_is_not_stuck() -> None:
    assert causes(waiting(at=5.0), Stuck()) == []


def test_what_the_owner_does_not_want_may_wait() -> None:
    assert causes(waiting(a="{orders: tagA}", b="{orders: tagA}"), Stuck()) == []


@pytest.mark.parametrize(("properties", "found"), [({"a": "1"}, 1), ({"a": "2"}, 0)])
def test_what_matches_the_sql_of_all_is_stuck(properties: dict[str, str], found: int) -> None:
    assert len(causes(waiting(**BY_SQL).by_sql("a = 1", properties), Stuck())) == found


@pytest.mark.parametrize(
    ("listener", "who", "found"),
    [("concurrent", "a", 0), ("concurrent", "b", 1), ("orderly", "a", 0), ("orderly", "b", 0)],
)
def test_a_blocked_listener_holds_up_what_is_its_own(listener: str, who: str, found: int) -> None:
    # orders-1 waits in a's queue; an orderly listener may hold the lock of any.
    wants = f"{{orders: '*'}}, listener: {listener}"
    story = Story(a=wants, b=wants).looks("*", 2.0).sends("tagB", 3.0).got("b", 2, 1)
    story.add(who, "blocked", key="orders-9")
    assert len(causes(story.passed(4.0, (0, 1)).ends("*", 90.0), Stuck())) == found


# cross-delivery ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("times", "way"), [(1, "through the retry topic"), (0, "straight from its queue")])
def test_a_tag_to_which_a_member_never_subscribed(times: int, way: str) -> None:
    story = Story(**MISMATCH).looks("tagB", 2.0).sends("tagB", 3.0).got("b", 1, 0).got("b", 2, 1)
    story.got("a", 1, 0, reconsume_times=times)
    (breach,) = story.passed(4.0).ends("tagB").breaches(CrossDelivery())
    assert breach.cause == f"{way}, of a tag to which it doesn't subscribe"
    assert breach.anomaly[0]["delivered"] == {"to": "a", "topic": "orders", "tag": "tagB", "at_least": 1}


def test_a_topic_to_which_it_never_subscribed() -> None:
    story = Story(a="{bills: '*'}").looks("*", 2.0).sends("tagB", 3.0).got("a", 1, 0, reconsume_times=1)
    assert causes(story.ends("*"), CrossDelivery()) == [
        "through the retry topic, of a topic to which it doesn't subscribe"
    ]


def test_what_it_had_subscribed_to_before_is_its_own() -> None:
    story = Story(**MISMATCH).looks("tagB", 2.0)
    story.add("a", "subscribed", topic="orders", expression="tagB")
    story.add("a", "subscribed", topic="orders", expression="tagC")
    story.sends("tagB", 3.0).got("a", 1, 0, reconsume_times=1)
    assert causes(story.ends("tagB"), CrossDelivery()) == []


# refused-on-and-on -------------------------------------------------------------------------------------


def refused(
    *seconds: float,
    text: str = "subscription not exist, group: g, topic:orders",
    falls: int = 2,
    reconnected_since: float | None = None,
) -> Story:
    """Refused pulls at these times; from 9.5 s on looks show that orders is gone, and back, so often.

    `reconnected_since`: a look at 12.5 s shows another connection, and the one before was begun then.
    """
    story = Story(a="{bills: '*'}").looks("*", 2.0)
    for number in range(falls):
        story.at(9.5 + number).stored("g", {"bills": "*"}, ["a", "b"])
        story.at(9.8 + number).stored("g", {"orders": "*"}, ["a", "b"])
    if reconnected_since is not None:
        before = {"look_began_before_ms": (12.501 - reconnected_since) * 1000}
        story.at(12.5).stored("g", {"orders": "*"}, ["a", "b"], addresses=["1", "2"], **before)
    for second in seconds:
        written = datetime.fromtimestamp(1_760_000_000 + second + 7200, UTC)
        line = f"{written:%Y-%m-%d %H:%M:%S.%f}"[:-3]
        said = {"of": BROKER, "pattern": "subscription", "time": line}
        story.at(19.0).add(BROKER, "log-line", **said, text=f"{line} WARN the consumer's {text}")
    return story.ends("*")


def test_a_line_has_the_time_of_events_whatever_the_zone_of_its_log() -> None:
    story = refused(9.0)
    (line,) = [event for event in story.events if event.kind == "log-line"]
    assert line_ms(line) == 1_760_000_009_000


def test_refusals_that_go_on_long_after_anything_changed() -> None:
    (breach,) = refused(9.0, 10.0, 11.0).breaches(RefusedOnAndOn())
    assert breach.cause == "subscription not exist; the members differ in their topics"
    assert breach.anomaly[0]["log"]["matches"] == "subscription not exist, group: g, topic:orders"


def test_a_pull_that_is_not_the_latest_counts_too() -> None:
    story = refused(9.0, 10.0, 11.0, text="broker's subscription is not latest, group: g tagA")
    assert [one.partition(";")[0] for one in causes(story, RefusedOnAndOn())] == ["subscription not latest"]


@pytest.mark.parametrize("seconds", [(1.1, 1.5, 2.9, 3.2), (9.0, 10.0)])
def test_refusals_after_a_start_or_only_a_few_are_natural(seconds: tuple[float, ...]) -> None:
    assert causes(refused(*seconds), RefusedOnAndOn()) == []


def test_who_disagreed_is_asked_of_the_time_of_the_refusals() -> None:
    story = refused(9.0, 10.0, 11.0)
    stopped = story.add("a", "consumer-stopped")
    story.events.insert(-1, dataclasses.replace(story.events.pop(stopped - 1), wall_ms=1_760_000_018_000))
    lines = [event.n for event in story.events if event.kind == "log-line"]
    # The member goes before the log is read, as the numbers of events have it.
    story.events = [
        dataclasses.replace(event, n=lines[0] - 1) if event.kind == "consumer-stopped" else event
        for event in story.events
    ]
    assert [one.partition("; ")[2] for one in causes(story, RefusedOnAndOn())] == [
        "the members differ in their topics"
    ]


def test_a_heartbeat_that_is_late_on_a_busy_machine_is_natural() -> None:
    # Nothing was ever undone: what is missing had not come yet.
    assert causes(refused(9.0, 10.0, 11.0, falls=0), RefusedOnAndOn()) == []


@pytest.mark.parametrize("step", ["start", "terminate"])
def test_refusals_while_a_member_takes_long_to_come_or_go_are_natural(step: str) -> None:
    story = refused(9.0, 10.0, 11.0)
    begun = story.add("harness", "step-started", index=0, step=step, line=7)
    story.events.insert(3, dataclasses.replace(story.events.pop(begun - 1), wall_ms=1_760_000_001_000))
    assert causes(story, RefusedOnAndOn()) == []


@pytest.mark.parametrize(
    ("since", "seconds", "found"),
    [
        (12.3, (9.0, 9.2, 9.4), 1),
        (8.5, (9.0, 9.2, 9.4), 0),  # it may have been under way at each of them
        (9.7, (9.0, 9.2, 9.4), 0),  # only what was undone before counts
    ],
)
def test_a_change_that_was_only_seen_may_have_happened_since_the_look_before(
    since: float, seconds: tuple[float, ...], found: int
) -> None:
    assert len(causes(refused(*seconds, reconnected_since=since), RefusedOnAndOn())) == found


# repeated ----------------------------------------------------------------------------------------------


def twice(at: float = 15.0) -> Story:
    story = Story().looks("*", 2.0).sends("tagB", 10.0).got("a", 1, 0)
    return story.at(at).got("b", 1, 0)  # type: ignore[attr-defined, no-any-return]


def test_a_repeat_without_any_reason() -> None:
    assert causes(twice().ends("*"), Repeated()) == ["nothing had moved a queue"]


@pytest.mark.parametrize(
    ("strategy", "owned", "cause"),
    [
        (
            "average-by-circle",
            [0, 1],
            "two members consume its queue; the members differ in their allocation",
        ),
        ("average", [0, 1], "two members consume its queue; the members agree"),
        ("average-by-circle", [1], "nothing had moved a queue"),
    ],
)
def test_a_repeat_by_two_owners_of_a_queue_tells_why_there_are_two(
    strategy: str, owned: list[int], cause: str
) -> None:
    story = Story(b=f"{{orders: '*'}}, strategy: {strategy}").at(2.0)
    story.owns(story.scenario, "a", "orders", [0])
    story.owns(story.scenario, "b", "orders", owned)
    story.sends("tagB", 10.0).got("a", 1, 0).got("b", 1, 0).at(20.0)
    story.owns(story.scenario, "b", "orders", owned, moment="end")
    assert causes(story.end_of_run(), Repeated()) == [cause]


def test_a_retry_is_no_repeat() -> None:
    story = Story().looks("*", 2.0).sends("tagB", 10.0).got("a", 1, 0)
    story.at(15.0)
    assert causes(story.got("b", 1, 0, reconsume_times=1).ends("*"), Repeated()) == []


@pytest.mark.parametrize(
    ("answer", "expected"), [("RECONSUME_LATER", []), ("CONSUME_SUCCESS", ["nothing had moved a queue"])]
)
def test_a_retry_may_be_sent_back_twice_and_nothing_else(answer: str, expected: list[str]) -> None:
    story = Story().looks("*", 2.0).sends("tagB", 10.0).got("a", 1, 0)
    story.events[-1] = dataclasses.replace(story.events[-1], data={**story.events[-1].data, "status": answer})
    for at in (15.0, 16.0):
        story.at(at)
        story.got("b", 1, 0, reconsume_times=1)
    assert causes(story.ends("*"), Repeated()) == expected


@pytest.mark.parametrize("target", ["a", BROKER])
def test_a_repeat_after_a_kill_of_a_member_or_a_broker(target: str) -> None:
    story = Story().looks("*", 2.0).sends("tagB", 10.0).got("a", 1, 0)
    kill(story, target, 12.0).at(15.0)
    assert causes(story.got("b", 1, 0).ends("*"), Repeated()) == []


@pytest.mark.parametrize(("told", "expected"), [(True, []), (False, ["nothing had moved a queue"])])
def test_a_repeat_while_a_member_is_still_stopping(told: bool, expected: list[str]) -> None:
    story = Story().looks("*", 2.0).sends("tagB", 10.0).got("a", 1, 0).at(12.0)
    if told:
        story.add("a", "consumer-stopping")
    story.at(12.1).got("b", 1, 0).at(12.2).add("a", "consumer-stopped")
    assert causes(story.ends("*"), Repeated()) == expected


def test_a_repeat_after_a_change_of_queues_that_was_only_seen() -> None:
    story = Story().looks("*", 2.0).sends("tagB", 10.0).got("a", 1, 0)
    story.at(12.0).owns(story.scenario, "a", "orders", [])
    assert causes(story.got("b", 1, 0).ends("*"), Repeated()) == []


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ({"look_began_before_ms": 600}, []),
        ({"look_began_before_ms": 200}, ["nothing had moved a queue"]),
        ({}, []),  # the look before, which was written down at 2 s, is all that is known
    ],
)
def test_a_connection_that_is_seen_to_be_another_one_ended_at_any_time_since_the_look_before(
    before: dict[str, float], expected: list[str]
) -> None:
    story = Story().looks("*", 1.5).at(2.0)
    story.stored("g", {"orders": "*"}, ["a", "b"], addresses=["127.0.0.1:1", "127.0.0.1:2"])
    story.sends("tagB", 9.9).at(10.0)
    story.got("a", 1, 0).at(12.2)
    story.got("b", 1, 0).at(12.5)
    story.stored("g", {"orders": "*"}, ["b"], addresses=["127.0.0.1:2"], **before)
    story.at(12.7).stored(
        "g", {"orders": "*"}, ["a", "b"], addresses=["127.0.0.1:2", "127.0.0.1:3"], **before
    )
    assert causes(story.end_of_run(), Repeated()) == expected


@pytest.mark.parametrize(("done", "expected"), [(True, ["nothing had moved a queue"]), (False, [])])
def test_a_change_of_queues_came_of_what_was_done_meanwhile(done: bool, expected: list[str]) -> None:
    story = Story().looks("*", 2.0).sends("tagB", 20.0).got("a", 1, 0).at(22.0)
    story.got("b", 1, 0)
    if done:
        kill(story, "b", 40.0)
    story.at(41.0).owns(story.scenario, "a", "orders", [0, 1])
    assert causes(story.end_of_run(), Repeated()) == expected


def test_a_repeat_of_what_was_not_acknowledged() -> None:
    story = Story().looks("*", 2.0).sends("tagB", 10.0)
    story.add(
        "producer", "send-failed", topic="orders", key="orders-1", tag="tagB", error="timeout", code=None
    )
    story.got("a", 1, 0).at(15.0)
    assert causes(story.got("b", 1, 0).ends("*"), Repeated()) == []


# offset-backwards --------------------------------------------------------------------------------------


def fallen(story: Story, low: int = 3) -> Story:
    story.at(12.0).offsets("g", "orders", [(5, 9), (0, 0)])
    return story


def test_an_offset_that_ran_back_without_any_reason() -> None:
    story = fallen(Story().looks("*", 2.0))
    story.at(14.0).offsets("g", "orders", [(3, 9), (0, 0)])
    (breach,) = story.ends("*").breaches(OffsetBackwards())
    assert breach.cause == "nothing had moved the queue"
    assert "from 5 to 3" in breach.sentence


@pytest.mark.parametrize("what", ["reset", "kill of a member", "kill of the broker"])
def test_an_offset_may_run_back_after_these(what: str) -> None:
    story = fallen(Story().looks("*", 2.0))
    if what == "reset":
        queues = [{"broker": BROKER, "queue_id": 0, "offset": 3}]
        story.at(13.0).add("harness", "offsets-reset", group="g", topic="orders", queues=queues)
    else:
        kill(story, "a" if what == "kill of a member" else BROKER, 13.0)
    story.at(14.0).offsets("g", "orders", [(3, 9), (0, 0)])
    assert causes(story.ends("*"), OffsetBackwards()) == []


@pytest.mark.parametrize(
    ("killed", "found"), [(15.0, ["more was forgotten than a broker's flush interval"]), (11.0, [])]
)
def test_a_broker_forgets_what_its_interval_allows_and_all_of_its_first_seconds(
    killed: float, found: list[str]
) -> None:
    story = Story()
    story.add(BROKER, "node-ready", role="broker", address="127.0.0.1:10911", pid=101)
    story.looks("*", 2.0).at(5.0).offsets("g", "orders", [(5, 9), (0, 0)])
    kill(story, BROKER, killed).at(16.0).offsets("g", "orders", [(3, 9), (0, 0)])
    assert causes(story.ends("*"), OffsetBackwards()) == found


FURTHER = ["further back than what moved the queue explains"]


def further(story: Story) -> list[str]:
    return causes(story.ends("*", 99.0), OffsetBackwards())


def test_a_mover_explains_no_fall_below_what_was_stored_before() -> None:
    # A broker that shuts down persists all offsets.
    story = Story().looks("*", 2.0).seen((8.0, 500), (12.0, 500))
    story.fault("effective", "stop", BROKER, 13.0).seen((14.0, 0))
    (breach,) = story.ends("*").breaches(OffsetBackwards())
    assert [breach.cause] == FURTHER
    assert len(breach.events) == 3  # and the look that shows what was stored


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        (((8.0, 480), (12.0, 500), (14.0, 480)), []),
        (((8.0, 480), (12.0, 500), (14.0, 479)), FURTHER),
        # What a pull carries is stored a little late, and a look is older than its event.
        (((11.0, 480), (12.0, 500), (14.0, 0)), []),
        (((8.0, 480), (9.0, None), (12.0, 500), (14.0, 470)), FURTHER),
    ],
)
def test_what_was_seen_before_the_first_move_bounds_a_fall(
    offsets: tuple[tuple[float, int | None], ...], expected: list[str]
) -> None:
    story = Story().looks("*", 2.0).seen(*offsets[:-1])
    story.fault("effective", "stop", BROKER, 13.0).seen(offsets[-1])
    assert further(story) == expected


@pytest.mark.parametrize(("low", "expected"), [(100, []), (99, FURTHER)])
@pytest.mark.parametrize(("what", "target"), [("pause", "a"), ("partition", "a and broker-a")])
def test_who_was_away_stores_what_it_had_counted_before(
    what: str, target: str, low: int, expected: list[str]
) -> None:
    more = {"sides": ["a", BROKER]} if what == "partition" else {}
    story = Story().looks("*", 2.0).seen((10.0, 100))
    story.fault("injected", what, target, 20.0, **more).fault("effective", what, target, 20.1, **more)
    story.seen((40.0, 130), (59.0, 160)).fault("healed", what, target, 60.0, **more)
    # Twice: its own count, then that of the owner since, and its own once more.
    assert further(story.seen((60.5, low), (61.0, 161), (61.5, low))) == expected


def joins(story: Story, at: float) -> None:
    """b has begun its start long before it is over."""
    story.at(at).add("b", "consumer-starting", pid=201, subscribe={"orders": "*"})
    story.seen((at + 5.0, 130))
    story.at(at + 9.0).add("b", "consumer-started", client_id="b@t", pid=201)


def leaves(story: Story, at: float) -> None:
    """a has begun its shutdown long before it is over."""
    story.at(at).add("a", "consumer-stopping")
    story.seen((at + 5.0, 130))
    story.at(at + 9.0).add("a", "consumer-stopped")


def dies(story: Story, at: float) -> None:
    kill(story, "a", at + 5.0)


def comes_back(story: Story, at: float) -> None:
    """A broker goes in good order, and comes back."""
    story.fault("injected", "stop", BROKER, at).fault("effective", "stop", BROKER, at + 0.5)
    story.at(at + 9.5).add(BROKER, "node-ready", role="broker", address="127.0.0.1:10911", pid=102)


def is_deployed(story: Story, at: float) -> None:
    """One after the other."""
    for second, name in ((0.0, "a"), (4.0, "b")):
        story.at(at + second).add(name, "consumer-stopping")
        story.at(at + second + 1.0).add(name, "consumer-stopped")
        story.at(at + second + 3.0)
        story.start(story.scenario, name)


@pytest.mark.parametrize("what", [joins, leaves, dies, comes_back, is_deployed])
@pytest.mark.parametrize(("low", "expected"), [(100, []), (99, FURTHER)])
@pytest.mark.parametrize("listener", ["concurrent", "orderly"])
def test_a_former_owner_stores_late_no_less_than_what_was_stored(
    what: Callable[[Story, float], None], low: int, expected: list[str], listener: str
) -> None:
    wants = f"{{orders: '*'}}, listener: {listener}"
    story = Story(a=wants, b=wants).looks("*", 2.0).seen((100.0, 100))
    what(story, 110.0)
    story.seen((119.6, 140), (120.0, low), (120.5, 150), (121.0, low))
    assert causes(story.ends("*", 199.0), OffsetBackwards()) == expected


def test_where_nothing_was_seen_before_nothing_is_known() -> None:
    story = Story().looks("*", 2.0).fault("effective", "stop", BROKER, 11.0)
    assert further(story.seen((12.0, 500), (14.0, 0))) == []


def test_what_a_broker_forgot_may_be_taken_up_after_it_was_stored_anew() -> None:
    story = Story()
    story.add(BROKER, "node-ready", role="broker", address="127.0.0.1:10911", pid=101)
    story.looks("*", 2.0).seen((20.0, 400), (36.9, 480), (39.0, 500))
    kill(story, BROKER, 40.0)
    # 410 was flushed; the owner stores what it has in memory; who owns the queue next had begun at 410.
    assert further(story.seen((41.0, 410), (42.0, 501), (43.0, 411))) == []


def test_what_was_set_may_be_taken_up_after_somebody_stored_its_own_count() -> None:
    story = Story().looks("*", 2.0).seen((10.0, 500))
    queues = [{"broker": BROKER, "queue_id": 0, "offset": 0}]
    story.at(20.0).add("harness", "offsets-reset", group="g", topic="orders", queues=queues)
    assert further(story.seen((21.0, 0), (22.0, 500), (23.0, 3))) == []


def test_nothing_is_known_of_queues_without_owners() -> None:
    popped = "{orders: '*'}, api: pop"
    story = Story(a=popped, b=popped).looks("*", 2.0).seen((100.0, 500), (190.0, 500))
    assert further(story.fault("effective", "stop", BROKER, 191.0).seen((192.0, 0))) == []


def test_what_a_dead_broker_had_flushed_is_what_was_there_last() -> None:
    story = Story()
    story.add(BROKER, "node-ready", role="broker", address="127.0.0.1:10911", pid=101)
    # A former owner of the first seconds stored its own count late, and all goes on from there.
    story.looks("*", 2.0).seen((3.0, 500), (4.0, 300), (30.0, 320))
    assert further(kill(story, BROKER, 60.0).seen((61.0, 320))) == []
    story = Story()
    story.add(BROKER, "node-ready", role="broker", address="127.0.0.1:10911", pid=101)
    story.looks("*", 2.0).seen((3.0, 500), (4.0, 300), (30.0, 320), (59.0, 340))
    assert further(kill(story, BROKER, 60.0).seen((61.0, 330))) == []


# several-owners ----------------------------------------------------------------------------------------


def owned_twice(at: float, happens: Callable[[Story], object] = lambda _story: None, **who: str) -> Story:
    story = quiet(**who)
    story.events = story.events[:-4]
    happens(story)
    story.at(at).owns(story.scenario, "a", "orders", [0, 1], moment="end")
    story.owns(story.scenario, "b", "orders", [1], moment="end")
    return story.end_of_run()


def test_two_owners_of_a_queue_once_all_has_settled() -> None:
    (breach,) = owned_twice(20.0).breaches(SeveralOwners())
    assert "a and b of g both own broker-a:1 of orders" in breach.sentence


def test_two_owners_come_of_the_allocation_whatever_else_the_members_disagree_about() -> None:
    story = owned_twice(20.0, a="{orders: tagB}", b="{orders: '*'}, strategy: average-by-circle")
    assert causes(story, SeveralOwners()) == ["the members differ in their allocation"]


def test_two_owners_while_a_rebalance_may_be_under_way() -> None:
    assert causes(owned_twice(5.0), SeveralOwners()) == []


def pauses(story: Story) -> None:
    story.fault("injected", "pause", "b", 5.0).fault("effective", "pause", "b", 5.1)


def is_cut_off(story: Story) -> None:
    story.fault("effective", "partition", "b and broker-a", 5.0, sides=["b", BROKER])


def loses_a_broker(story: Story) -> None:
    kill(story, BROKER, 5.0)


def has_a_fault_under_way(story: Story) -> None:
    story.fault("injected", "terminate", "b", 5.0)


def starts_and_starts(story: Story) -> None:
    story.at(5.0).add("b", "consumer-starting", pid=201, subscribe={"orders": "*"})


def stops_and_stops(story: Story) -> None:
    story.at(5.0).add("b", "consumer-stopping")


def has_just_come_back_by_itself(story: Story) -> None:
    story.at(99.0).stored("g", {"orders": "*"}, ["a", "b"], addresses=["1", "3"])


def had_been_killed(story: Story) -> None:
    kill(story, "b", 5.0)


@pytest.mark.parametrize("trouble", [None, Trouble.PRECONDITION])
@pytest.mark.parametrize(
    "what",
    [
        pauses,
        is_cut_off,
        loses_a_broker,
        has_a_fault_under_way,
        starts_and_starts,
        stops_and_stops,
        has_just_come_back_by_itself,
        had_been_killed,
    ],
)
def test_who_may_hold_on_to_what_others_own_by_now_is_no_second_owner(
    what: Callable[[Story], None], trouble: Trouble | None
) -> None:
    assert owned_twice(100.0).found(trouble)
    assert owned_twice(100.0, what).found(trouble) == []


def test_a_connection_of_who_was_started_is_as_old_as_the_start() -> None:
    def starts(story: Story) -> None:
        story.at(13.0)
        story.start(story.scenario, "b")
        before = {"look_began_before_ms": 300}
        story.at(13.2).stored("g", {"orders": "*"}, ["a", "b"], addresses=["1", "3"], **before)

    # The patience is 6 s.
    assert [one.kind for one in owned_twice(19.1, starts).found()] == ["several-owners"]
    assert owned_twice(18.9, starts).found() == []


@pytest.mark.parametrize("how", ["model: broadcasting", "api: pop"])
def test_who_shares_queues_by_design_is_no_second_owner(how: str) -> None:
    wants = f"{{orders: '*'}}, {how}"
    assert owned_twice(200.0, a=wants, b=wants).found(Trouble.PRECONDITION) == []


def test_lite_pull_consumers_own_queues_as_well() -> None:
    wants = "{orders: '*'}, api: lite-pull"
    assert [one.kind for one in owned_twice(100.0, a=wants, b=wants).found(Trouble.PRECONDITION)] == [
        "several-owners"
    ]


def test_two_owners_are_why_a_condition_was_not_reached_and_nothing_else_is_asked_of_such_a_run() -> None:
    story = Story().sends("tagB", 3.0).got("b", 2, 1).passed(4.0)
    story.at(20.0).owns(story.scenario, "a", "orders", [0, 1], moment="end")
    story.owns(story.scenario, "b", "orders", [1], moment="end")
    assert [one.kind for one in story.end_of_run().found()] == ["lost", "several-owners"]
    assert [one.kind for one in story.found(Trouble.PRECONDITION)] == ["several-owners"]
    assert story.found(Trouble.ENVIRONMENT) == []


# All together ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trouble", list(Trouble))
def test_a_run_that_did_not_come_to_its_end_finds_nothing(trouble: Trouble) -> None:
    assert half_lost().found()
    assert half_lost().found(trouble) == []


def test_names_and_numbers_are_no_part_of_a_signature() -> None:
    (one,) = half_lost().found()
    (other,) = half_lost(a="{orders: tagC}", b="{orders: tagB || tagA}").found()
    assert one.signature == other.signature
    assert not any(name in one.signature for name in ("orders", "tagB", " g "))
