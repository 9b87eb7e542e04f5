"""`dropped`: how soon brokers take a consumer that is gone out of its group."""

from __future__ import annotations

from pydantic import Field, model_validator

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.limits import keeps
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.clients import ConsumerStarted, ConsumerStopped
from rocketchaos.harness.core.events.observed import SubscriptionObserved
from rocketchaos.harness.core.events.servers import FaultEffective
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.fault_effects import KILLS, STANDS_STILL
from rocketchaos.harness.language.words import ConsumerName, DurationMs


class Dropped(Check):
    """The time until brokers dropped a consumer after it was stopped, killed or paused.

    It counts from the moment at which the process was seen to have ended or stopped, to the first look (203)
    at which no broker of its group counts it any more. Looks come four times a second, less often on a busy
    machine, so the real time may be shorter by one interval.
    """

    word = "dropped"
    example = "dropped: {consumer: b, at_most: 2s}"

    consumer: ConsumerName = Field(description="the consumer")
    at_most: DurationMs | None = Field(default=None, description="at most this long")
    at_least: DurationMs | None = Field(default=None, description="at least this long")

    @model_validator(mode="after")
    def _says_something(self) -> Dropped:
        if self.at_most is None and self.at_least is None:
            raise ValueError("say `at_most`, `at_least` or both")
        return self

    def title(self) -> str:
        return f"brokers drop {self.consumer}"

    def evaluate(self, view: RunView) -> Answer:
        limits = (("at least", self.at_least), ("at most", self.at_most))
        expected = " and ".join(f"after {word} {limit} ms" for word, limit in limits if limit is not None)
        end = view.end_of(self.at)
        gone = None if end is None else self._gone(view, end)
        # A later start is another client.
        until = None if gone is None else gone.n
        started = [item for item in view.of_kind(ConsumerStarted, until=until) if item.node == self.consumer]
        if end is None or gone is None or not started:
            return Answer(None, expected, f"{self.consumer} was not gone by `{self.at}`")
        seen = self._dropped(view, started[-1].body.client_id, gone, end)
        if seen is None:
            lasted_ms = (view.events[end - 1].mono_ns - gone.mono_ns) / 1e6
            text = f"not within {lasted_ms:.0f} ms, until `{self.at}`"
            late = self.at_most is not None and lasted_ms > self.at_most
            return Answer(False if late else None, expected, text, [gone.n, end])
        took_ms = (seen.mono_ns - gone.mono_ns) / 1e6
        return Answer(
            keeps(took_ms, self.at_least, self.at_most), expected, f"after {took_ms:.0f} ms", [gone.n, seen.n]
        )

    def _gone(self, view: RunView, end: int) -> Event | None:
        """From where the time counts."""
        found: list[Event] = [
            item for item in view.of_kind(ConsumerStopped, until=end) if item.node == self.consumer
        ]
        found += [
            item
            for item in view.of_kind(FaultEffective, until=end)
            if item.body.fault in KILLS | STANDS_STILL and item.body.target == self.consumer
        ]
        return max(found, key=lambda event: event.n, default=None)

    def _dropped(self, view: RunView, client_id: str, gone: Event, end: int) -> Event | None:
        """The first look that shows that every broker of the group has dropped it."""
        group = view.scenario.consumers[self.consumer].group
        known: dict[str, bool] = {}
        for event in view.of_kind(SubscriptionObserved, until=end):
            if event.body.group != group:
                continue
            others = [item for item in view.online(event.n, group) if item != self.consumer]
            alike = [other for other in others if view.client_id(other) == client_id]
            known[event.body.broker] = event.body.clients.count(client_id) > len(alike)
            if event.n > gone.n and not any(known.values()):
                return event
        return None
