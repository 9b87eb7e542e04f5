"""`offsets`: how far a group's offsets are behind the broker's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.chosen import lag_beyond, owner_elsewhere
from rocketchaos.assertions.lag import lag_over
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.observed import OffsetsObserved
from rocketchaos.harness.language.words import ConsumerRef, GroupName, TopicName

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


class Offsets(Check):
    """The group's offsets are exactly `lag` messages behind the broker's maximum, over all queues together.

    With `queues_of` it counts only the queues of one consumer.

    With a lag of 0 each queue's consumer offset equals the broker's: a dashboard shows everything as
    consumed, whether a listener got it or not. For queues that never had a message the answer is unknown.
    """

    word = "offsets"
    example = "offsets: {group: g, topic: orders, lag: 0}"

    group: GroupName = Field(description="the group")
    topic: TopicName = Field(description="the topic")
    lag: int = Field(ge=0, description="messages behind, in total")
    queues_of: ConsumerRef | None = Field(
        default=None, description="only the queues that this consumer owned when last seen"
    )

    def problems(self, scenario: Scenario) -> Iterator[str]:
        yield from owner_elsewhere(scenario, self.group, self.queues_of)

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        yield from lag_beyond(scenario, self.topic, self.lag)

    def title(self) -> str:
        return f"offsets of {self.group} for {self.topic}"

    def evaluate(self, view: RunView) -> Answer:
        whose = "all queues" if self.queues_of is None else f"the queues of {self.queues_of}"
        expected = f"lag {self.lag} over {whose}"
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
        observed = f"lag {lag.messages}{', an offset beyond the end' if lag.beyond else ''}: {lag.text}"
        if len(event.body.queues) < view.scenario.queue_count(self.topic):
            # Of a broker that is gone nobody knows what its queues hold.
            return Answer(None, expected, f"{observed}; the other queues were not to be seen", [event.n])
        if lag.messages == self.lag == 0 and not lag.beyond and not any(item.max_offset for item in queues):
            return Answer(None, expected, f"{observed}; no message was ever in them", [event.n])
        return Answer(lag.messages == self.lag and not lag.beyond, expected, observed, [event.n])
