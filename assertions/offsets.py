"""`offsets`: how far a group's offsets are behind the broker's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.chosen import lag_beyond, owner_elsewhere
from rocketchaos.assertions.lag import Lag, lag_over
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.observed import OffsetsObserved
from rocketchaos.harness.language.words import ConsumerRef, GroupName, TopicName

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


class Offsets(Check):
    """The group's offsets are exactly `lag` messages behind the broker's maximum, over all queues together.

    In place of `lag` there is `lag_at_least` or `lag_at_most`. With `queues_of` it counts only the queues of one
    consumer.

    With a lag of 0 each queue's consumer offset equals the broker's: a dashboard shows everything as
    consumed, whether a listener got it or not. For queues that never had a message the answer is unknown.
    A negative lag holds where offsets are beyond the ends and no queue is behind, as after a reset: tools show
    such a lag as it is.
    """

    word = "offsets"
    example = "offsets: {group: g, topic: orders, lag: 0}"

    group: GroupName = Field(description="the group")
    topic: TopicName = Field(description="the topic")
    lag: int | None = Field(
        default=None,
        description="exactly this many messages behind, in total; `-3`: offsets are 3 messages beyond the ends",
    )
    lag_at_least: int | None = Field(default=None, ge=0, description="at least this many")
    lag_at_most: int | None = Field(default=None, ge=0, description="at most this many")
    queues_of: ConsumerRef | None = Field(
        default=None, description="only the queues that this consumer owned when last seen"
    )

    @model_validator(mode="after")
    def _one_of_three(self) -> Offsets:
        if sum(value is not None for value in (self.lag, self.lag_at_least, self.lag_at_most)) != 1:
            raise ValueError("give exactly one of `lag`, `lag_at_least`, `lag_at_most`")
        return self

    def problems(self, scenario: Scenario) -> Iterator[str]:
        yield from owner_elsewhere(scenario, self.group, self.queues_of)

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        stated = self.lag if self.lag is not None else self.lag_at_least
        if stated is not None:
            yield from lag_beyond(scenario, self.topic, stated)

    def title(self) -> str:
        return f"offsets of {self.group} for {self.topic}"

    def evaluate(self, view: RunView) -> Answer:
        whose = "all queues" if self.queues_of is None else f"the queues of {self.queues_of}"
        expected = f"{self._stated} over {whose}"
        events = view.observed(OffsetsObserved, self.at, group=self.group, topic=self.topic)
        if not events:
            return Answer(None, expected, f"no offsets were observed at `{self.at}`")
        event = events[-1]
        owned = None
        if self.queues_of is not None:
            owned = view.queues_owned(self.queues_of, self.topic, event.n)
            if not owned:
                why = f"the queues of {self.queues_of} {'were not observed' if owned is None else 'are none'}"
                why = view.why_not_owned(view.consumers(self.queues_of) or (), why)
                return Answer(None, expected, why, [event.n])
        queues = [queue for queue in event.body.queues if owned is None or queue.name in owned]
        lag = lag_over(queues)
        beyond = f", {lag.beyond} beyond the ends" if lag.beyond and lag.messages else ""
        observed = f"lag {-lag.beyond if lag.beyond and not beyond else lag.messages}{beyond}: {lag.text}"
        if len(event.body.queues) < view.scenario.queue_count(self.topic):
            # Of a broker that is gone nobody knows what its queues hold.
            return Answer(None, expected, f"{observed}; the other queues were not to be seen", [event.n])
        if (
            self.fits(Lag(0, 0, ""))
            and not lag.messages
            and not lag.beyond
            and not any(item.max_offset for item in queues)
        ):
            return Answer(None, expected, f"{observed}; no message was ever in them", [event.n])
        return Answer(self.fits(lag), expected, observed, [event.n])

    @property
    def _stated(self) -> str:
        if self.lag is not None:
            return f"lag {self.lag}"
        if self.lag_at_least is not None:
            return f"lag at least {self.lag_at_least}"
        return f"lag at most {self.lag_at_most}"

    def fits(self, lag: Lag) -> bool:
        """Whether this lag is as stated."""
        if lag.beyond:
            return not lag.messages and self.lag == -lag.beyond
        if self.lag is not None:
            return lag.messages == self.lag
        if self.lag_at_least is not None:
            return lag.messages >= self.lag_at_least
        return self.lag_at_most is not None and lag.messages <= self.lag_at_most
