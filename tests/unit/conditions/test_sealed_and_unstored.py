"""`settle: {sealed: g}` and `settle: {unstored: g}`: what they wait for, and what they don't wait for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.conditions.fates_sealed import FatesSealed
from rocketchaos.harness.conditions.handled_but_not_stored import handled_but_not_stored
from rocketchaos.harness.probes.context import ProbeContext
from tests.unit.conditions.test_counting import Counted


class Later(Counted):
    """A history with a clock, on which a message of each topic was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.events[0] = self._timed()
        self.at(3.0).send("orders", "tagA", 1, 0, 2)
        self.seconds = 3.0

    def _timed(self) -> Any:
        from dataclasses import replace

        return replace(self.events[0], data={**self.events[0].data, "timing": "compressed"})

    @property
    def context(self) -> ProbeContext:
        made = cast(SimpleNamespace, super().context)
        made.now_ns = lambda: 5_000_000_000 + int(self.seconds * 1e9)
        made.members = SimpleNamespace(topics_of=lambda _group: ("orders", "bills"))
        return cast(ProbeContext, made)

    def passes(self, at: float) -> Later:
        self.at(at).offsets("g", "orders", [(3, 3), (0, 0)])
        return self

    def answers(self, status: str, at: float) -> Later:
        self.at(at)
        self.got("a", "orders-1")
        self.add("a", "consumed", key="orders-1", status=status)
        return self

    def seen(self, seconds: float) -> bool:
        self.seconds = seconds
        return FatesSealed(self.context, "g")().holds


def test_sealed_at_once_where_the_offset_has_passed_everything() -> None:
    assert not Later().seen(3.1)
    assert Later().passes(3.5).seen(3.6)


def test_sealed_where_for_long_nothing_happened_to_what_waits() -> None:
    assert not Later().seen(8.9)
    assert Later().seen(9.2)


def test_not_sealed_while_a_failed_message_may_come_again() -> None:
    story = Later().answers("RECONSUME_LATER", 3.3).passes(3.5)
    assert not story.seen(5.0)
    assert story.seen(9.5)


def test_not_sealed_while_a_slow_listener_is_busy_with_what_came_before() -> None:
    story = Later().answers("CONSUME_SUCCESS", 8.0)
    assert not story.seen(9.5)
    assert story.seen(14.5)


def test_not_sealed_while_somebody_stands_still() -> None:
    story = Later()
    story.at(4.0).add("harness", "fault-effective", fault="pause", target="a", proof="it does")
    assert not story.seen(60.0)


def test_looks_at_the_whole_history_are_some_time_apart() -> None:
    story = Later()
    sealed = FatesSealed(story.context, "g")
    assert not sealed().holds
    story.passes(3.05)
    assert not sealed().holds  # the look before is still good
    story.seconds = 3.3
    assert FatesSealed(story.context, "g")().holds


@pytest.mark.parametrize(
    ("status", "stored", "holds"),
    [
        ("CONSUME_SUCCESS", 2, True),
        ("CONSUME_SUCCESS", 3, False),
        ("RECONSUME_LATER", 2, False),
        (None, 2, False),
    ],
)
def test_unstored_is_what_was_handled_and_its_offset_not_yet_stored(
    status: str | None, stored: int, holds: bool
) -> None:
    story = Later()
    story.got("a", "orders-1")
    if status is not None:
        story.add("a", "consumed", key="orders-1", status=status)
    story.queues = [(stored, 3), (0, 0)]
    assert handled_but_not_stored(story.context, "g", "orders", 1).holds is holds
    assert not handled_but_not_stored(story.context, "g", "bills", 1).holds
    assert not handled_but_not_stored(story.context, "g", "orders", 2).holds
