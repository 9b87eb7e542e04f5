"""`seek-refused`: a running consumer whose client did not let it move its position."""

from pydantic import Field

from rocketchaos.assertions.base import Answer
from rocketchaos.assertions.refusal import Refused, refusal_text
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.clients import SeekRefused as Event
from rocketchaos.harness.language.words import ConsumerRef, TopicName


class SeekRefused(Refused):
    """A `seek` of a running consumer was refused with this answer; it needs `may_be_refused`."""

    word = "seek-refused"
    example = "seek-refused: {consumer: a, topic: orders, because: Seek offset illegal}"

    consumer: ConsumerRef = Field(description="the consumer")
    topic: TopicName = Field(description="the topic")

    def title(self) -> str:
        return f"seek of {self.consumer} in {self.topic} refused"

    def evaluate(self, view: RunView) -> Answer:
        at, consumers = view.end_of(self.at), view.consumers(self.consumer)
        if at is None or consumers is None:
            return Answer(None, self.stated, f"the observation `{self.at}` was not made, or names no member")
        refused = [
            event
            for event in view.of_kind(Event, until=at)
            if event.node in consumers and event.body.topic == self.topic
        ]
        if not refused:
            return Answer(False, self.stated, f"no seek of {self.consumer} was refused")
        bodies = [event.body for event in refused]
        holds = any(self.fits_refusal(body.error, body.code, body.exceptions) for body in bodies)
        observed = f"refused: {refusal_text(bodies[-1].error, bodies[-1].code)}"
        return Answer(holds, self.stated, observed, [event.n for event in refused])
