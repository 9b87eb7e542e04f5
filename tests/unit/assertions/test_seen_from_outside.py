"""A program that is seen by the lines that it prints: what a line proves, and what a missing one doesn't."""

from __future__ import annotations

import pytest

from rocketchaos.assertions.base import Check
from rocketchaos.assertions.delivered import Delivered
from rocketchaos.assertions.duplicated import Duplicated
from rocketchaos.assertions.latency import Latency
from rocketchaos.assertions.order import Order
from rocketchaos.assertions.retry import Retry
from rocketchaos.assertions.undelivered import Undelivered
from rocketchaos.harness.core.events.observed import OffsetsObserved
from rocketchaos.harness.core.model import Holds, MessageClass
from tests.unit.history_builder import BROKER, HistoryBuilder, OneMessage, scenario_of

TEXT = """\
name: seen-by-lines
title: a prints what it handles
topics: {orders: {queues: 1}}
consumers:
  a:
    group: g
    subscribe: {orders: A}
    app: {command: [./audit], sees: {log: 'handled (?P<key>\\S+)'}}
  b: {group: g, subscribe: {orders: A}}
steps: [{start: [a, b]}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""
AS_JAVA = {
    "filters_by": "stored",
    "filters_itself": True,
    "raises_version": True,
    "tells_queues": True,
}
"""What is known of its client once a broker has told which it is."""


class Story(OneMessage):
    """One message of tagB to the only queue, which a or b owns."""

    def __init__(
        self,
        own: str = "tagB",
        stored: str = "tagB",
        owner: str = "a",
        *,
        told: bool = True,
        declared: bool = True,
        client: dict[str, object] | None = None,
        sees: str | None = r"log: 'handled (?P<key>\S+)'",
    ) -> None:
        whole = r", sees: {log: 'handled (?P<key>\S+)'}"
        assert whole in TEXT
        text = TEXT.replace("orders: A", f"orders: {own}")
        text = text if declared else text.replace(f"    subscribe: {{orders: {own}}}\n", "", 1)
        text = text.replace(whole, "" if sees is None else f", sees: {{{sees}}}")
        self.scenario = scenario_of(text)
        self.stored, self.owner = stored, owner
        self.made = HistoryBuilder().begin(self.scenario)
        self.made.add("a", "consumer-starting", subscribe={"orders": own} if declared else {})
        if told:
            self.made.add("a", "program-subscription", subscribe={"orders": own}, pid=200)
        started = {"client_id": "a@t", "group": "g", "client": "command", "api": "push", "pid": 200}
        self.made.add("a", "consumer-started", **started, **(AS_JAVA if client is None else client))
        self.made.start(self.scenario, "b")
        self.look()
        self.made.offsets("g", "orders", [(0, 0)])

    def look(self) -> None:
        self.made.stored("g", {"orders": self.stored}, ["a", "b"])
        for name in "ab":
            self.made.owns(self.scenario, name, "orders", [0] if name == self.owner else [])

    def passed(self) -> Story:
        self.made.offsets("g", "orders", [(1, 1)], moment="end")
        self.look()
        self.made.add("harness", "moment-observed", moment="end")
        return self

    def printed(self, status: str = "PRINTED") -> Story:
        self.made.add("a", "received", topic="orders", tag="tagB", key="orders-1", line="handled orders-1")
        self.made.events[-1].data.update(broker=None, queue_id=None, offset=None, reconsume_times=None)
        self.made.add("a", "consumed", key="orders-1", status=status)
        return self

    def answer(self, check: Check) -> tuple[Holds, str]:
        found = check.evaluate(self.view)
        return found.holds, found.observed


def test_a_line_proves_that_it_was_handled() -> None:
    story = Story().sent().printed().passed()
    fate = story.fate()
    assert fate.message_class is MessageClass.DELIVERED
    assert (fate.deliveries, fate.reason) == (("a",), "a printed that it handled it")
    assert story.answer(Delivered(to="g", count=1))[0] is Holds.YES
    # The queue is the one to which it was sent.
    assert story.view.deliveries(story.made.events[-1].n)[0].queue == f"{BROKER}:0"


def test_a_line_that_says_that_it_failed_is_a_failure() -> None:
    assert Story().sent().printed("RECONSUME_LATER").passed().found() is MessageClass.IN_RETRY


def test_a_missing_line_proves_nothing() -> None:
    fate = Story().sent().passed().fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "printed no line of it that `sees` finds: that proves neither that it was handled" in fate.reason


@pytest.mark.parametrize("check", [Delivered(to="g", count=1), Undelivered(count=0)], ids=["got", "missing"])
def test_a_line_may_come_10_s_later(check: Check) -> None:
    story = Story().sent().passed()
    (passed,) = [event for event in story.view.of_kind(OffsetsObserved) if event.body.moment == "end"]
    early = check.evaluate(story.view).too_early
    assert early is not None
    assert early.not_before_ns == passed.mono_ns + 10_000_000_000


def test_of_a_program_that_shows_nothing_no_wait_tells_what_it_handled() -> None:
    story = Story(sees=None).sent().passed()
    fate = story.fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "which shows nothing of what it handles: that proves neither that it was handled" in fate.reason
    for check in (Delivered(to="g", count=1), Undelivered(count=0)):
        answer = check.evaluate(story.view)
        assert answer.holds is Holds.UNKNOWN
        assert answer.too_early is not None
        assert answer.too_early.not_before_ns is None
    assert Story("tagA", "tagA", sees=None).sent().passed().found() is MessageClass.FILTERED_BY_BROKER


@pytest.mark.parametrize(
    ("sees", "told", "by_what", "nothing"),
    [
        ("topic: orders", "a wrote that it handled it", "the entries that it writes", "wrote no entry of it"),
        (
            "http: 'http://$host:1/handled'",
            "a answered that it handled it",
            "the answers that it gives to HTTP calls",
            "named it in no answer",
        ),
    ],
)
def test_an_entry_or_an_answer_proves_as_much_as_a_line(
    sees: str, told: str, by_what: str, nothing: str
) -> None:
    shown = Story(sees=sees).sent().printed("WRITTEN").passed()
    assert shown.fate().reason == told
    assert shown.answer(Delivered(to="g", count=1))[0] is Holds.YES
    holds, observed = shown.answer(Duplicated(to="a", at_least=1))
    assert (holds, by_what in observed) == (Holds.UNKNOWN, True)
    missing = Story(sees=sees).sent().passed().fate()
    assert missing.message_class is MessageClass.UNDETERMINED
    assert f"which {nothing}: that proves neither that it was handled" in missing.reason


def test_the_owner_s_listener_would_have_reported_it() -> None:
    assert Story(owner="b").sent().passed().found() is MessageClass.LOST


def test_what_the_broker_passed_over_needs_no_line() -> None:
    fate = Story(own="tagA", stored="tagA").sent().passed().fate()
    assert fate.message_class is MessageClass.FILTERED_BY_BROKER


def test_what_its_client_drops_needs_its_own_word_for_its_subscription() -> None:
    assert Story(own="tagA", stored="tagB").sent().passed().found() is MessageClass.FILTERED_BY_CLIENT
    fate = Story(own="tagA", stored="tagB", told=False).sent().passed().fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "the own subscription of a is unknown" in fate.reason


@pytest.mark.parametrize("told", [True, False])
def test_of_an_unknown_client_nothing_is_concluded_from_what_is_stored(told: bool) -> None:
    fate = Story(own="tagA", stored="tagA", told=told, client={}).sent().passed().fate()
    # Its pulls may carry what it asks for, whatever the broker holds.
    assert fate.message_class is (MessageClass.FILTERED_BY_BROKER if told else MessageClass.UNDETERMINED)


def test_a_program_s_own_word_is_enough() -> None:
    printed = Story(declared=False).sent().printed().passed()
    assert "subscribe" not in str(printed.scenario.declared["a"].model_dump(exclude_defaults=True))
    assert printed.found() is MessageClass.DELIVERED
    filtered = Story(own="tagA", stored="tagB", declared=False).sent().passed()
    assert filtered.found() is MessageClass.FILTERED_BY_CLIENT


def test_a_new_process_has_to_tell_again() -> None:
    story = Story(own="tagA", stored="tagB")
    story.made.add("a", "consumer-starting", subscribe={"orders": "tagA"})
    assert story.sent().passed().found() is MessageClass.UNDETERMINED


def test_counts_are_known_where_they_do_not_hang_on_missing_lines() -> None:
    story = Story().sent().passed()
    holds, observed = story.answer(Delivered(to="g", count=1))
    assert holds is Holds.UNKNOWN
    assert "1 more may have been: the broker held 'tagB' and sent it to a" in observed
    assert story.answer(Delivered(to="g", count=2))[0] is Holds.NO
    assert story.answer(Delivered(to="g", at_most=1))[0] is Holds.YES
    assert story.answer(Undelivered(group="g", at_least=1))[0] is Holds.UNKNOWN
    assert story.answer(Undelivered(group="g", count=0))[0] is Holds.UNKNOWN
    assert "1 may have been delivered" in story.answer(Undelivered(group="g", count=0))[1]


def test_where_the_fate_is_proven_counts_are_known() -> None:
    story = Story(own="tagA", stored="tagA").sent().passed()
    assert story.answer(Delivered(to="g", count=1))[0] is Holds.NO
    assert story.answer(Delivered(to="g", count=0))[0] is Holds.YES
    assert story.answer(Undelivered(group="g", count=1))[0] is Holds.YES


@pytest.mark.parametrize(
    "check",
    [
        Duplicated(to="g", count=0),
        Duplicated(to="a", at_least=1),
        Retry(group="g", count=0),
        Order(topic="orders", to="a"),
        Latency(to="a", at_least="0s"),
        Latency(to="a", at_most="0ms"),
    ],
)
def test_what_lines_do_not_tell_is_unknown(check: Check) -> None:
    holds, observed = Story().sent().printed().printed().passed().answer(check)
    assert holds is Holds.UNKNOWN
    assert "a is seen by" in observed


def test_a_line_in_time_proves_that_the_message_was_in_time() -> None:
    assert Story().sent().printed().passed().answer(Latency(to="a", at_most="60s"))[0] is Holds.YES
