"""`noticed`: how soon brokers know that a consumer has come, or gone."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from assertions.base import Answer, Check
from assertions.view import RunView
from harness.language import ConsumerName, DurationMs
from harness.model import Event


class Noticed(Check):
    """Brokers counted a consumer among their group's, or no longer, so soon after its last start or its end.

    Times are from the beginning of its `start`, or from the moment at which it was seen to be stopped, killed or
    paused, to the first look (203) that shows it, or doesn't, at every broker of its group. Brokers are looked at
    four times a second, so that a time may be that much shorter in truth.
    """

    word = "noticed"
    example = "noticed: {consumer: b, that: gone, at_most: 2s}"

    consumer: ConsumerName = Field(description="the consumer")
    that: Literal["come", "gone"] = Field(description="what they notice")
    at_most: DurationMs | None = Field(default=None, description="so soon or sooner")
    at_least: DurationMs | None = Field(default=None, description="so late or later")

    @model_validator(mode="after")
    def _says_something(self) -> Noticed:
        if self.at_most is None and self.at_least is None:
            raise ValueError("say `at_most`, `at_least` or both")
        return self

    def title(self) -> str:
        return f"brokers know that {self.consumer} has {self.that}"

    def evaluate(self, view: RunView) -> Answer:
        limits = (("at least", self.at_least), ("at most", self.at_most))
        expected = " and ".join(f"after {word} {limit} ms" for word, limit in limits if limit is not None)
        end = view.end_of(self.at)
        started = [one for one in view.of_kind("consumer-started", until=end) if one.node == self.consumer]
        begin = None if end is None else self._begin(view, end)
        if end is None or begin is None or not started:
            return Answer(None, expected, f"{self.consumer} has not {self.that} by `{self.at}`")
        noticed = self._noticed(view, str(started[-1].data["client_id"]), begin, end)
        if noticed is None:
            late = self.at_most is not None
            return Answer(False if late else None, expected, "not until the end", [begin.n, end])
        took_ms = (noticed.mono_ns - begin.mono_ns) / 1e6
        holds = (self.at_least or 0) <= took_ms and (self.at_most is None or took_ms <= self.at_most)
        return Answer(holds, expected, f"after {took_ms:.0f} ms", [begin.n, noticed.n])

    def _begin(self, view: RunView, end: int) -> Event | None:
        """From where the time counts."""
        if self.that == "come":
            found = [one for one in view.of_kind("consumer-starting", until=end) if one.node == self.consumer]
        else:
            found = [one for one in view.of_kind("consumer-stopped", until=end) if one.node == self.consumer]
            found += [
                one
                for one in view.of_kind("fault-effective", until=end)
                if one.data["fault"] in ("kill", "pause") and one.data["target"] == self.consumer
            ]
        return max(found, key=lambda event: event.n, default=None)

    def _noticed(self, view: RunView, client_id: str, begin: Event, end: int) -> Event | None:
        """The look by which the last of the group's brokers has noticed it."""
        group = view.scenario.consumers[self.consumer].group
        known: dict[str, bool] = {}
        for event in view.of_kind("subscription-observed", until=end):
            if event.data["group"] != group:
                continue
            known[event.data["broker"]] = client_id in event.data["clients"]
            if event.n > begin.n and set(known.values()) == {self.that == "come"}:
                return event
        return None
