"""`offsets`: how far a group's offsets are behind the broker's."""

from __future__ import annotations

from pydantic import Field

from assertions.base import Answer, Check
from assertions.view import RunView, queue_name
from harness.language import GroupName, TopicName


class Offsets(Check):
    """The group's offsets are exactly `lag` messages behind the broker's maximum, over all queues together.

    With a lag of 0 each queue's consumer offset equals the broker's: a dashboard shows everything consumed,
    whether a listener got it or not.
    """

    word = "offsets"
    example = "offsets: {group: g, topic: orders, lag: 0}"

    group: GroupName = Field(description="the group")
    topic: TopicName = Field(description="the topic")
    lag: int = Field(ge=0, description="messages behind, in total")

    def title(self) -> str:
        return f"offsets of {self.group} for {self.topic}"

    def evaluate(self, view: RunView) -> Answer:
        expected = f"lag {self.lag} over all queues"
        events = view.observed("offsets-observed", self.at, group=self.group, topic=self.topic)
        if not events:
            return Answer(None, expected, f"no offsets were observed at `{self.at}`")
        event = events[-1]
        lag, beyond, texts = 0, False, []
        for queue in event.data["queues"]:
            behind = queue["max_offset"] - (queue["consumer_offset"] or 0)
            lag += max(0, behind)
            beyond |= behind < 0
            stored = "none" if queue["consumer_offset"] is None else queue["consumer_offset"]
            texts.append(
                f"{queue_name(queue['broker'], queue['queue_id'])} {stored} of {queue['max_offset']}"
            )
        observed = f"lag {lag}{', an offset beyond the end' if beyond else ''}: {', '.join(texts)}"
        if len(texts) < view.scenario.queue_count(self.topic):
            # Of a broker that is gone nobody knows what its queues hold.
            return Answer(None, expected, f"{observed}; the other queues were not to be seen", [event.n])
        return Answer(lag == self.lag and not beyond, expected, observed, [event.n])
