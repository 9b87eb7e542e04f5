"""How long things took, as the facts tell it: of recorded runs to the event, of a test's own to the look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rocketchaos.harness.facts.kinds import TimingFact
from rocketchaos.harness.facts.timing_facts import timing_facts
from tests.unit.facts.histories import (
    Told,
    fault,
    holds,
    offsets,
    owns,
    received,
    recorded,
    recorded_ms,
    sent,
    started,
    step,
    story_of,
)

KILL, PAUSE = "kill-flips-the-subscription", "same-group-different-topics"
BY_HAND, FILTERED = "overwriting-a-tag-notifies-nobody", "same-group-different-tags"


def of(run: str, what: str) -> Sequence[TimingFact]:
    own = [fact for fact in timing_facts(recorded(run)) if fact.what == what]
    return sorted(own, key=lambda fact: (fact.from_n, fact.subject))


def test_a_rebalance_lasts_from_the_kill_to_the_survivors_new_queues() -> None:
    found, at = of(KILL, "rebalance")[-1], recorded_ms(KILL)
    assert (found.cause, found.subject, found.seen_by) == ("kill", "b", "settled")
    assert (found.from_n, found.to_n) == (84, 89)
    assert found.ms == pytest.approx(at[89] - at[84])
    assert found.ms == pytest.approx(28.6, abs=0.1)
    # Its queues were last looked at before the kill: nothing is known of the time since.
    assert found.at_least_ms == 0


def test_who_starts_has_nothing_and_who_was_there_gives_something_away() -> None:
    a, b = of(KILL, "rebalance")[:2]
    at = recorded_ms(KILL)
    assert (a.subject, a.from_n, a.to_n) == ("a", 14, 21)
    # At event 18 it still had all queues.
    assert a.at_least_ms == pytest.approx(at[18] - at[14])
    assert (b.subject, b.from_n, b.to_n, b.at_least_ms) == ("b", 14, 19, 0)
    assert [fact.cause for fact in (a, b)] == ["consumer-started"] * 2


def test_a_subscription_flips_between_two_looks_at_the_broker() -> None:
    [found], at = of(KILL, "subscription-flip"), recorded_ms(KILL)
    assert (found.cause, found.subject) == ("kill", "broker-a orders")
    assert (found.from_n, found.to_n) == (84, 93)
    assert found.ms == pytest.approx(at[93] - at[84])
    # Event 88 still shows the expression of the one that was killed.
    assert found.at_least_ms == pytest.approx(at[88] - at[84])


def test_a_heartbeat_by_hand_flips_it_too() -> None:
    [found], at = of(BY_HAND, "subscription-flip"), recorded_ms(BY_HAND)
    assert (found.cause, found.from_n, found.to_n) == ("heartbeat-sent", 23, 25)
    assert found.ms == pytest.approx(at[25] - at[23])


def test_the_end_of_a_pause_is_a_change_of_its_own() -> None:
    assert [fact.cause for fact in of(PAUSE, "subscription-flip")] == ["end of pause"]


def test_an_offset_is_corrected_where_a_filter_took_the_last_message() -> None:
    found, at = of(FILTERED, "offset-correction"), recorded_ms(FILTERED)
    # Of the other two queues the last message was delivered: there is nothing to correct.
    assert [fact.subject for fact in found] == ["broker-a:0 orders", "broker-a:1 orders"]
    assert [(fact.from_n, fact.to_n) for fact in found] == [(37, 56), (39, 56)]
    assert [fact.ms for fact in found] == pytest.approx([at[56] - at[37], at[56] - at[39]])
    assert all(0 < fact.at_least_ms < fact.ms for fact in found)


# Histories of our own ----------------------------------------------------------------------------------------


SETTLED: dict[str, Any] = {"condition": "ownership of g", "took_ms": 1.0}
OWN: dict[str, list[Told]] = {
    # The look before is told: it took between 1,500 and 2,000 ms.
    "looks": [
        *started(100, "a"), *started(200, "b"), owns(300, "a", 0, 1), owns(400, "b", 2, 3),
        fault(1000, "pause", "fault-injected", "b"), fault(1001, "pause", "fault-effective", "b"),
        owns(1100, "a", 0, 1), owns(3001, "a", 0, 1, 2, 3, look_before_ms=500.0),
        (3002, "harness", "settled", SETTLED),
    ],
    # What is seen while a step goes on that may change the group belongs to what comes of the step.
    "stops": [
        *started(100, "a"), *started(200, "b"), holds(300, "tagB"), step(30_000, "stop"), holds(30_100, "tagA"),
        (30_400, "b", "consumer-stopped", {}), holds(30_500, "tagA"),
    ],
    # What SIGTERM does to a member its own stop tells; that the fault is effective is no second change.
    "terminates": [
        *started(100, "a"), *started(200, "b"), holds(300, "tagB"), step(30_000, "terminate"),
        fault(30_001, "terminate", "fault-injected", "b"), (30_002, "b", "consumer-stopping", {}),
        (30_400, "b", "consumer-stopped", {}), fault(30_401, "terminate", "fault-effective", "b"),
        holds(30_500, "tagA"),
    ],
    # A broker's death may move queues, and is no change of the membership.
    "servers": [
        *started(100, "a"), owns(200, "a", 0, 1), fault(5000, "kill", "fault-injected", "broker-b"),
        fault(5001, "kill", "fault-effective", "broker-b"), owns(9000, "a", 0),
    ],
    # Both sides of a link are members: one change, and one that brokers notice late.
    "links": [
        *started(100, "a"), *started(200, "b"), owns(300, "a", 0), owns(310, "b", 1),
        fault(900, "partition", "fault-injected", "b and broker-a", sides=["b", "broker-a"]),
        fault(1000, "partition", "fault-effective", "b and broker-a", sides=["b", "broker-a"]),
        owns(131_000, "a", 0, 1),
    ],
    "shared": [
        *started(100, "a", "shared"), owns(300, "a", 0, 1), *started(900, "b", "shared"), owns(999, "a", 0)
    ],
    # Queues that move again are not settled before they stay.
    "again": [*started(100, "a"), owns(200, "a", 0), owns(300, "a", 0, 1), owns(400, "a", 0), owns(500, "a", 0)],
    # Nobody is online: nobody's subscription has flipped. And it is first seen, which is no flip.
    "empty": [
        *started(100, "a"), holds(200, "tagA"), step(300, "stop"), (400, "a", "consumer-stopped", {}),
        holds(500, None, online=False),
    ],
    # A heartbeat of who doesn't subscribe to the topic takes it away.
    "removed": [*started(100, "a"), holds(200, "tagA"), *started(1000, "b"), holds(1250, None)],
    "corrects": [
        *started(100, "a"), sent(1000, "m1", 0), sent(1100, "m2", 1), received(1200, "a", "m1", 0),
        offsets(1300, 1), offsets(16_100, 2, look_before_ms=50.0),
    ],
    # The answer came 50 ms before, and was asked for 80 ms before: it may have been corrected since then.
    "asks": [
        *started(100, "a"), sent(1000, "m1", 0), offsets(1300, 0),
        offsets(16_000, 1, look_began_before_ms=80.0, look_before_ms=50.0),
    ],
    "delivers": [*started(100, "a"), sent(1000, "m1", 0), received(1200, "a", "m1", 0), offsets(1300, 1)],
    # Who comes or goes in between may have decided it.
    "mixes": [*started(100, "a"), sent(1000, "m1", 0), *started(2000, "b"), offsets(3000, 1)],
    "never": [*started(100, "a"), sent(1000, "m1", 0), offsets(3000, None), offsets(4000, 0)],
}  # fmt: skip
EXPECTED = [
    ("looks", "rebalance", "consumer-started", "b", 200.0, 0.0, "look"),
    ("looks", "rebalance", "pause", "a", 2000.0, 1500.0, "settled"),
    ("stops", "subscription-flip", "consumer-stopped", "broker-a orders", 0.0, 0.0, "look"),
    ("terminates", "subscription-flip", "consumer-stopped", "broker-a orders", 100.0, 0.0, "look"),
    ("servers", "rebalance", "consumer-started", "a", 100.0, 0.0, "look"),
    ("links", "rebalance", "consumer-started", "b", 110.0, 0.0, "look"),
    ("links", "rebalance", "partition", "a", 130_000.0, 0.0, "look"),
    ("again", "rebalance", "consumer-started", "a", 300.0, 200.0, "look"),
    ("removed", "subscription-flip", "consumer-started", "broker-a orders", 250.0, 0.0, "look"),
    ("corrects", "offset-correction", "sent", "broker-a:0 orders", 15_000.0, 14_950.0, "look"),
    ("asks", "offset-correction", "sent", "broker-a:0 orders", 15_000.0, 14_920.0, "look"),
]


@pytest.mark.parametrize("run", OWN)
def test_what_is_known_of_each_history_and_nothing_else(run: str) -> None:
    found = [
        (run, fact.what, fact.cause, fact.subject, fact.ms, fact.at_least_ms, fact.seen_by)
        for fact in timing_facts(story_of(*OWN[run]))
    ]
    assert sorted(found) == sorted(row for row in EXPECTED if row[0] == run)


def test_no_history_has_no_facts() -> None:
    assert not list(timing_facts(story_of(step(0, "start"))))
