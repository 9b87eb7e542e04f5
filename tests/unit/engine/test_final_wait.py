"""A run waits where only time is missing: with a limit, shortened by what is seen, and written down."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest

from rocketchaos.assertions.judge import judge
from rocketchaos.harness.core.events.base import Body
from rocketchaos.harness.core.model import Event, Holds
from rocketchaos.harness.engine.context import RunContext
from rocketchaos.harness.engine.final_wait import LIMIT_S, FinalWait
from rocketchaos.harness.probes.watch import Watch
from tests.unit.assertions.test_lacking_time import BEGIN_NS, NONE_CAME, Story


class Staged:
    """A story that goes on by a clock of its own: what happens at some second, happens while it is waited."""

    def __init__(self, story: Story, now: float) -> None:
        self.story, self.now = story, now
        self.later: list[tuple[float, Callable[[], object]]] = []
        self.written: list[str] = []
        self.watched: list[str] = []
        self.checked_alive = 0

    def wait(self) -> Staged:
        context = SimpleNamespace(
            scenario=self.story.scenario,
            history=self,
            now_ns=lambda: BEGIN_NS + int(self.now * 1e9),
            check_alive=self._alive,
            health=SimpleNamespace(interrupted=SimpleNamespace(wait=self._pass)),
        )
        watch = SimpleNamespace(
            start=lambda: self.watched.append("start"), stop=lambda: self.watched.append("stop")
        )
        FinalWait(
            cast(RunContext, context),
            self.written.append,
            lambda: cast(Watch, watch),
            lambda _context, name, times: self._observe(name, times),
        )()
        return self

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self.story.events)

    def append(self, node: str, body: Body) -> None:
        self.story.at(self.now).add(node, body.kind, **body.as_data())

    def _alive(self) -> None:
        self.checked_alive += 1

    def _pass(self, limit_s: float) -> bool:
        self.now += limit_s
        for when, what in [item for item in self.later if item[0] <= self.now]:
            self.story.at(when)
            what()
        self.later = [item for item in self.later if item[0] > self.now]
        return False

    def _observe(self, name: str, times: int) -> None:
        self.story.at(self.now).add(
            "harness", "moment-observed", moment=f"{name}-{times}", name=name, iteration=times
        )

    @property
    def waited(self) -> list[Event]:
        return [event for event in self.events if event.kind == "waited"]

    def holds(self) -> Holds:
        return judge(self.story.scenario, self.events).findings[0].holds


def test_a_run_waits_until_it_can_be_said_and_no_longer() -> None:
    staged = Staged(Story(NONE_CAME).end(3.5), 3.5).wait()
    assert staged.now == pytest.approx(9.0, abs=0.01)
    assert staged.holds() is Holds.YES
    assert staged.written == ["x waits up to 6 s more: a message may still come (delivered to a)"]
    assert staged.watched == ["start", "stop"]
    (event,) = staged.waited
    assert event.data["took_ms"] == pytest.approx(5500, abs=10)
    assert [item["check"] for item in event.data["for"]] == ["delivered to a"]
    assert "too early to say" in event.data["for"][0]["why"]


def test_a_decided_run_is_neither_held_up_nor_observed_again() -> None:
    staged = Staged(Story(NONE_CAME).end(3.5, offset=1), 3.5)
    before = staged.events
    assert staged.wait().now == 3.5
    assert staged.events == before
    assert staged.written == staged.watched == []


def test_offsets_that_have_passed_everything_end_the_wait() -> None:
    staged = Staged(Story(NONE_CAME).end(3.5), 3.5)
    staged.later = [(5.0, lambda: staged.story.offsets("g", "orders", [(1, 1)]))]
    assert staged.wait().now == pytest.approx(5.0, abs=0.3)
    assert staged.holds() is Holds.YES


def test_a_message_that_does_come_ends_the_wait_with_the_other_verdict() -> None:
    staged = Staged(Story(NONE_CAME).end(3.5), 3.5)
    staged.later = [(4.0, lambda: staged.story.got("a", "CONSUME_SUCCESS", 4.0))]
    assert staged.wait().now == pytest.approx(4.0, abs=0.3)
    assert staged.holds() is Holds.NO


def test_what_happens_meanwhile_puts_the_end_off_again() -> None:
    staged = Staged(Story(NONE_CAME).end(3.5), 3.5)
    staged.later = [
        (5.0, lambda: staged.story.add("a", "subscribed", topic="orders", expression="tagC")),
    ]
    assert staged.wait().now == pytest.approx(11.0, abs=0.01)
    assert len(staged.written) == 2


def test_the_wait_has_a_limit_whatever_happens() -> None:
    staged = Staged(Story(NONE_CAME).end(3.5), 3.5)

    def subscribes(at: float) -> Callable[[], object]:
        return lambda: staged.story.add("a", "subscribed", topic="orders", expression=f"tag{at:.0f}")

    staged.later = [(at, subscribes(at)) for at in (float(second) for second in range(5, 200, 3))]
    assert staged.wait().now <= 3.5 + LIMIT_S
    assert staged.holds() is Holds.UNKNOWN


def test_whatever_dies_or_interrupts_meanwhile_ends_the_wait() -> None:
    staged = Staged(Story(NONE_CAME).end(3.5), 3.5)

    def interrupted() -> None:
        if staged.now > 5:
            raise KeyboardInterrupt

    staged._alive = interrupted  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        staged.wait()
    assert staged.now < 6
    assert staged.watched == ["start", "stop"]
