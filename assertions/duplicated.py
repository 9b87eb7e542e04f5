"""`duplicated`: how many messages came again, though no listener had failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.assertions.attempts import attempts, repeats
from rocketchaos.assertions.base import Answer, Count
from rocketchaos.assertions.chosen import of_none
from rocketchaos.assertions.completeness import still_possible
from rocketchaos.assertions.too_early import TooEarly
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.language.words import MomentName, Target, TopicName

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario

SHOWN = 8
"""The most deliveries of a message that an answer names."""


class Duplicated(Count):
    """The number of messages that were delivered again, to any listener of the same group.

    A repeat has a reconsumeTimes that came before; a retry after a failure has a new one and doesn't count
    (`retry` counts those). In a broadcasting group each consumer counts separately. A kill makes repeats
    likely, because offsets are persisted late: `allow_after` ignores those that came after an observation.
    A message counts once, however often it comes: `times: 10` counts those that came again ten times or more.
    """

    word = "duplicated"
    example = "duplicated: {to: g, count: 0, allow_after: before}"

    to: Target | None = Field(
        default=None, description="whose listeners: a consumer, a group, or a variable; default all"
    )
    topic: TopicName | None = Field(default=None, description="only messages of this topic")
    times: int = Field(default=1, ge=1, description="only messages that came again at least this many times")
    allow_after: MomentName | None = Field(
        default=None, description="repeats that came after this observation don't count"
    )

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        # In a broadcasting group each member counts by itself: more audiences there can't be.
        audiences = 1 if self.to in scenario.consumers else len(scenario.consumers)
        sent = scenario.most_sent(self.topic)
        if self.asks_for_more(sent * audiences):
            yield f"{self.how_many()} delivered again: the steps send {sent} such messages"
        elif not self.asks_for_some:
            yield from of_none(scenario, self.topic)

    def title(self) -> str:
        return f"duplicated to {self.to}" if self.to else "duplicated"

    def evaluate(self, view: RunView) -> Answer:
        often = "" if self.times == 1 else f" at least {self.times} times"
        expected = f"{self.how_many('message')} delivered again{often}"
        at = view.end_of(self.at)
        allowed_from = at if self.allow_after is None else view.end_of(self.allow_after)
        consumers = tuple(view.scenario.consumers) if self.to is None else view.consumers(self.to)
        if consumers is None:
            return Answer(None, expected, f"{self.to} was never bound")
        if at is None or allowed_from is None:
            missing = self.at if at is None else self.allow_after
            return Answer(None, expected, f"the observation `{missing}` was not made")
        if lines := view.seen_from_outside(consumers):
            return Answer(
                None,
                expected,
                f"{', '.join(lines)} is seen by {view.by_what_seen(lines)}, which don't tell how often it got a "
                "message",
            )
        found = {
            key: own
            for key, own in attempts(view, at, consumers).items()
            if self.topic in (None, own[0].topic) and own[0].event.n <= allowed_from
        }
        if not found:
            early = self._may_still_come(view, consumers, at)
            return Answer(
                None, expected, "no message was delivered that could have come again", too_early=early
            )
        again = {
            key: [repeat for repeat in repeats(own) if repeat.event.n <= allowed_from]
            for key, own in found.items()
        }
        again = {key: own for key, own in again.items() if len(own) >= self.times}
        texts = [
            f"{own[-1].key} to {', then '.join(item.consumer for item in found[key][:SHOWN])}"
            + (f" and {len(found[key]) - SHOWN} times more" if len(found[key]) > SHOWN else "")
            for key, own in list(again.items())[:5]
        ]
        observed = f"{len(again)} of {len(found)} delivered" + (f": {'; '.join(texts)}" if texts else "")
        proof = [item.event.n for key in (again or found) for item in found[key]]
        number = len(again)
        if not self.is_final(number) and self.allow_after is None:
            why_not = self._may_still_come(view, consumers, at)
            if why_not is not None:
                return Answer(None, expected, f"{observed}; {why_not}", proof, too_early=why_not)
        return Answer(self.fits(number), expected, observed, proof)

    def _may_still_come(self, view: RunView, consumers: tuple[str, ...], at: int) -> TooEarly | None:
        groups = sorted({view.scenario.consumers[name].group for name in consumers})
        sent = [item for item in view.sent_until(at) if self.topic in (None, item.topic)]
        return still_possible(view, groups, sent, at)
