"""`dashboard`: every statement holds, fails, and isn't known where the history can't tell."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from rocketchaos.assertions.dashboard import Dashboard
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Event, Holds
from tests.unit.history_builder import BROKER, HistoryBuilder, eight_messages

YES, NO, UNKNOWN = Holds.YES, Holds.NO, Holds.UNKNOWN
OF_G = {"group": "g", "topic": "orders"}
PASSED = [f"orders-{number}" for number in range(1, 9)]


class Shown:
    """The classic experiment, b got 4 of 8, and what a dashboard shows of it at the end."""

    def __init__(self) -> None:
        self.scenario, events = eight_messages()
        self.made = HistoryBuilder()
        # The observation isn't over before the dashboard has been asked.
        self.made.events = [event for event in events if event.kind not in ("moment-observed", "run-ended")]

    def tracks(self, track: str | None = "CONSUMED", keys: list[str] = PASSED, **others: str) -> Shown:
        for key in keys:
            shown = {**({} if track is None else {"g": track}), **others}
            self._add("tracks", topic="orders", key=key, tracks=shown, why={})
        return self

    def connections(self, expression: str | None = "tagB", error: str | None = None) -> Shown:
        stored = {"expression": expression, "type": "TAG", "sub_version": 1}
        table = {} if expression is None else {"orders": stored}
        return self._add("connections", group="g", clients=["a", "b"], subscriptions=table, error=error)

    def progress(self, own: int | None = 2, error: str | None = None) -> Shown:
        queue = {"broker": BROKER, "max_offset": 2, "consumer_offset": own, "owner": None}
        topics = {} if error else {"orders": [{**queue, "queue_id": index} for index in range(4)]}
        return self._add("progress", group="g", topics=topics, error=error)

    def all(self) -> Shown:
        return self.tracks().connections().progress()

    def _add(self, what: str, **data: Any) -> Shown:
        self.made.add("harness", f"dashboard-{what}-observed", **data, moment="end")
        return self

    def ask(self, **fields: Any) -> tuple[Holds, str]:
        number = len(self.made.events) + 1
        end = Event(number, 0, 0, "testrun", "harness", "moment-observed", {"moment": "end"})
        answer = Dashboard(**fields).evaluate(RunView(self.scenario, [*self.made.events, end]))
        if answer.holds is not UNKNOWN:
            kinds = {event.kind for event in self.made.events if event.n in answer.events}
            assert any(kind.startswith("dashboard-") for kind in kinds), "no proof"
        return answer.holds, answer.observed


STATED: list[tuple[dict[str, Any], Holds, str]] = [
    ({"all": "CONSUMED"}, YES, "8 CONSUMED"),
    ({"all": "UNKNOWN"}, NO, "8 CONSUMED"),
    ({"all": "CONSUMED", "heard": False}, YES, "4 CONSUMED"),
    ({"all": "CONSUMED", "heard": True}, YES, "4 CONSUMED"),
    ({"all": "NOT_CONSUME_YET", "heard": True}, NO, "4 CONSUMED"),
    ({"all": "CONSUMED", "tag": "tagB"}, YES, "8 CONSUMED"),
    ({"all": "CONSUMED", "tag": "tagA"}, UNKNOWN, "no message was sent"),
    ({"all": "CONSUMED", "queues_of": "a"}, YES, "4 CONSUMED"),
    ({"all": "CONSUMED", "queues_of": "$nobody"}, UNKNOWN, "the queues of $nobody were not observed"),
    ({"absent": True}, NO, "8 CONSUMED"),
    ({"others": "none"}, YES, "8 none"),
    ({"others": "UNKNOWN"}, NO, "8 none"),
    ({"expression": "tagB"}, YES, "it shows tagB"),
    ({"expression": "$holder.tag"}, YES, "it shows tagB"),
    ({"expression": "tagA"}, NO, "it shows tagB"),
    ({"expression": "$stranger.tag"}, UNKNOWN, "$stranger.tag was never bound"),
    ({"lag": 0}, YES, "lag 0"),
    ({"lag": 1}, NO, "lag 0"),
    ({"agrees": True}, YES, "the same of 8 messages and the subscription"),
    ({"agrees": False}, NO, "the same of 8 messages and the subscription"),
    ({"all": "CONSUMED", "lag": 0, "agrees": True}, YES, "8 CONSUMED; lag 0; the same of 8 messages and the "
     "subscription"),
    ({"all": "CONSUMED", "lag": 3}, NO, "8 CONSUMED; lag 0"),
    ({"all": "CONSUMED", "at": "early"}, UNKNOWN, "the observation `early` was not made"),
    ({"agrees": False, "at": "early"}, UNKNOWN, "the observation `early` was not made"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "holds", "observed"), STATED, ids=[str(item[0]) for item in STATED])
def test_statements(fields: dict[str, Any], holds: Holds, observed: str) -> None:
    assert Shown().all().ask(**OF_G, **fields) == (holds, observed)


@pytest.mark.parametrize(
    "fields", [{"all": "CONSUMED"}, {"absent": True}, {"others": "none"}, {"lag": 0}, {"expression": "tagB"},
               {"agrees": True}, {"agrees": False}], ids=str,
)  # fmt: skip
def test_of_a_dashboard_that_was_not_asked_nothing_is_known(fields: dict[str, Any]) -> None:
    assert Shown().ask(**OF_G, **fields)[0] is UNKNOWN


def test_messages_that_it_was_not_asked_for_may_be_anything_unless_another_one_differs() -> None:
    assert Shown().tracks(keys=PASSED[:5]).ask(**OF_G, all="CONSUMED") == (UNKNOWN, "5 CONSUMED, 3 not shown")
    assert Shown().tracks(keys=PASSED[:5]).ask(**OF_G, all="UNKNOWN")[0] is NO
    shown = Shown().connections().tracks(keys=PASSED[:5])
    assert shown.ask(**OF_G, agrees=True) == (UNKNOWN, "3 messages were not asked for")
    assert Shown().connections().tracks("UNKNOWN", PASSED[:5]).ask(**OF_G, agrees=True)[0] is NO


def test_where_there_is_no_message_that_nobody_got_nothing_is_known() -> None:
    shown = Shown().tracks()
    shown.made.events = [event for event in shown.made.events if event.kind != "received"]
    text = "of 8 messages there is none that a listener got"
    assert shown.ask(**OF_G, all="CONSUMED", heard=True) == (UNKNOWN, text)


def test_a_group_that_it_does_not_list() -> None:
    assert Shown().tracks(None, orders="UNKNOWN").ask(**OF_G, absent=True) == (YES, "8 no entry")
    assert Shown().tracks(None).ask(**OF_G, all="CONSUMED") == (NO, "8 no entry")


def test_what_it_lists_besides() -> None:
    shown = Shown().tracks(orders="UNKNOWN")
    assert shown.ask(topic="orders", others="UNKNOWN") == (YES, "8 UNKNOWN (orders)")
    assert shown.ask(topic="orders", others="none") == (NO, "8 UNKNOWN (orders)")
    mixed = Shown().tracks(orders="UNKNOWN", bills="PULL")
    assert mixed.ask(topic="orders", others="UNKNOWN") == (NO, "8 PULL, UNKNOWN (bills, orders)")
    assert Shown().tracks(keys=PASSED[:2]).tracks(keys=PASSED[2:], orders="UNKNOWN").ask(
        topic="orders", others="UNKNOWN"
    ) == (NO, "6 UNKNOWN (orders), 2 none")


def test_an_error_instead_of_an_answer_is_no_lag_and_no_subscription() -> None:
    shown = Shown().connections(None, "CODE: 206").progress(error="CODE: 17")
    assert shown.ask(**OF_G, lag=0) == (NO, "no lag: CODE: 17")
    assert shown.ask(**OF_G, expression="tagB") == (NO, "it shows no subscription")
    assert Shown().progress(own=None).ask(**OF_G, lag=8) == (YES, "lag 8")


def test_it_differs_in_tracks_or_in_the_subscription() -> None:
    tracks = Shown().tracks("UNKNOWN").connections()
    text = "it shows UNKNOWN, the broker's own tools CONSUMED: 8 messages"
    assert tracks.ask(**OF_G, agrees=False) == (YES, text)
    assert tracks.ask(**OF_G, agrees=True) == (NO, text)
    subscription = Shown().tracks().connections("tagA")
    text = "it shows tagA, broker-a holds tagB"
    assert subscription.ask(**OF_G, agrees=False) == (YES, text)
    assert subscription.ask(**OF_G, agrees=True) == (NO, text)


def test_of_many_differences_some_are_shown() -> None:
    shown = Shown().connections()
    for key, track in zip(PASSED, ("PULL", "UNKNOWN", "NOT_ONLINE", "NOT_CONSUME_YET"), strict=False):
        shown.tracks(track, [key])
    assert "and 1 other differences" in shown.ask(**OF_G, agrees=False)[1]


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"topic": "orders"}, "say `all`"),
        ({"topic": "orders", "group": "g"}, "say `all`"),
        ({"topic": "orders", "group": "g", "heard": True}, "say `all`"),
        ({"topic": "orders", "all": "CONSUMED"}, "give the `group`"),
        ({"topic": "orders", "others": "none", "heard": True}, "give the `group`"),
        ({"topic": "orders", "lag": 0}, "give the `group`"),
        ({**OF_G, "absent": True, "all": "CONSUMED"}, "excludes"),
        ({**OF_G, "absent": True, "agrees": True}, "excludes"),
        ({**OF_G, "all": "EATEN"}, "Input should be"),
        ({**OF_G, "lag": -1}, "greater than or equal to 0"),
    ],
)
def test_what_says_nothing_or_contradicts_itself_is_refused(fields: dict[str, Any], what: str) -> None:
    with pytest.raises(ValidationError, match=what):
        Dashboard(**fields)
