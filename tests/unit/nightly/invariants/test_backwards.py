"""Offsets that run back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rocketchaos.harness.nightly.invariants.backwards import OffsetBackwards
from tests.unit.history_builder import BROKER
from tests.unit.nightly.stories import Story, causes, kill


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
