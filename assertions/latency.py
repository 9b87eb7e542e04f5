"""`latency`: how long messages were on their way."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from rocketchaos.assertions.attempts import attempts
from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.chosen import chosen_listeners, of_none
from rocketchaos.assertions.completeness import still_possible
from rocketchaos.assertions.limits import keeps
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.messages import SendInvoked
from rocketchaos.harness.language.words import DurationMs, TagRef, Target, TopicName

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


class Latency(Check):
    """The time from the call of `send()` until a listener first got the message.

    Both times are read from the host's monotonic clock. Only messages that came are counted; `delivered`
    checks how many did. With `percentile: 99`, 99 % of them must keep the limits.
    """

    word = "latency"
    example = "latency: {to: g, at_most: 500ms, percentile: 99}"

    to: Target | None = Field(
        default=None, description="whose listeners: a consumer, a group, or a variable; default all"
    )
    topic: TopicName | None = Field(default=None, description="only messages of this topic")
    tag: TagRef | None = Field(default=None, description="only messages of this tag")
    at_most: DurationMs | None = Field(default=None, description="at most this long")
    at_least: DurationMs | None = Field(default=None, description="at least this long")
    percentile: int = Field(
        default=100, ge=1, le=100, description="the percentage of the messages that must keep the limits"
    )

    @model_validator(mode="after")
    def _says_something(self) -> Latency:
        if self.at_most is None and self.at_least is None:
            raise ValueError("say `at_most`, `at_least` or both")
        return self

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        yield from of_none(scenario, self.topic, self.tag)

    def title(self) -> str:
        return f"latency to {self.to}" if self.to else "latency"

    def evaluate(self, view: RunView) -> Answer:
        limits = [("at least", self.at_least), ("at most", self.at_most)]
        text = " and ".join(f"{word} {limit} ms" for word, limit in limits if limit is not None)
        expected = text + (f" for {self.percentile} % of the messages" if self.percentile < 100 else "")
        chosen = chosen_listeners(view, self.at, self.to)
        if isinstance(chosen, str):
            return Answer(None, expected, chosen)
        at, consumers = chosen
        invoked = {event.body.key: event for event in view.of_kind(SendInvoked, until=at)}
        sent = [item for item in view.sent_until(at) if self._concerns(view, item.topic, item.tag)]
        keys = {item.key for item in sent if item.key in invoked}
        first = [own[0] for (_, key), own in attempts(view, at, consumers).items() if key in keys]
        groups = sorted({view.scenario.consumers[name].group for name in consumers})
        if not first:
            early = still_possible(view, groups, sent, at)
            return Answer(None, expected, "no message came whose sending is known", too_early=early)
        took_ms = sorted((item.event.mono_ns - invoked[item.key].mono_ns) / 1e6 for item in first)
        keeping = sum(1 for item in took_ms if keeps(item, self.at_least, self.at_most))
        observed = _spread(took_ms) + f"; {keeping} of {len(took_ms)} keep the limit"
        proof = [number for item in first for number in (invoked[item.key].n, item.event.n)]
        holds = self._is_enough(keeping, len(took_ms))
        lines = view.seen_from_outside(consumers)
        if lines and (self.at_least is not None or not holds):
            why = "one comes once a message was handled: that came no later, but possibly earlier"
            text = f"{observed}; {', '.join(lines)} is seen by {view.by_what_seen(lines)}, and {why}"
            return Answer(None, expected, text, proof)
        came = {item.key for item in first}
        to_come = [item for item in sent if item.key not in came]
        most = self._is_enough(keeping + len(to_come), len(took_ms) + len(to_come))
        if (self.at_most is not None or self.at_least != 0) if holds else most:
            why_not = still_possible(view, groups, to_come, at)
            if why_not is not None:
                return Answer(None, expected, f"{observed}; {why_not}", proof, too_early=why_not)
        return Answer(holds, expected, observed, proof)

    def _is_enough(self, keeping: int, number: int) -> bool:
        return keeping * 100 >= self.percentile * number

    def _concerns(self, view: RunView, topic: str, tag: str | None) -> bool:
        return self.topic in (None, topic) and (self.tag is None or tag in (view.tags(self.tag, topic) or ()))


def _spread(took_ms: list[float]) -> str:
    """The p-th percentile of sorted times: the smallest time that p % don't exceed."""

    def percentile(share: int) -> float:
        return took_ms[math.ceil(share / 100 * len(took_ms)) - 1]

    return (
        f"{len(took_ms)} came after {took_ms[0]:.1f} to {took_ms[-1]:.1f} ms, median {percentile(50):.1f}, "
        f"99 % within {percentile(99):.1f}"
    )
