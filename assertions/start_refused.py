"""`start-refused`: a client that RocketMQ did not let start."""

from __future__ import annotations

from pydantic import Field, model_validator

from rocketchaos.assertions.base import Answer
from rocketchaos.assertions.refusal import Refused, refusal_text
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.clients import ConsumerRefused, ConsumerStarted
from rocketchaos.harness.core.events.messages import ProducerRefused
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.words import ConsumerRef, ProducerRef


class StartRefused(Refused):
    """The start of a consumer, or of a producer, was refused with this answer.

    The text is what the client's own `start()` threw; see `may_be_refused` of the step `start`, and of a producer.
    If the consumer was started several times, its last start counts.
    """

    word = "start-refused"
    example = "start-refused: {consumer: a, because: does not support consumer to filter message by SQL92}"

    consumer: ConsumerRef | None = Field(default=None, description="the consumer")
    producer: ProducerRef | None = Field(default=None, description="or the producer")

    @model_validator(mode="after")
    def _one_client(self) -> StartRefused:
        if (self.consumer is None) == (self.producer is None):
            raise ValueError("name one client: `consumer`, or `producer`")
        return self

    def title(self) -> str:
        return f"start of {self.consumer or self.producer} refused"

    def evaluate(self, view: RunView) -> Answer:
        expected = self.stated
        at = view.end_of(self.at)
        if at is None:
            return Answer(None, expected, f"the observation `{self.at}` was not made")
        if self.producer is not None:
            return self._of_producer(view, self.producer, at)
        consumers = view.consumers(str(self.consumer))
        if consumers is None or len(consumers) != 1:
            return Answer(None, expected, "it is no single consumer")
        ends: list[Event[ConsumerRefused | ConsumerStarted]] = [
            event
            for ended in (view.of_kind(ConsumerRefused, until=at), view.of_kind(ConsumerStarted, until=at))
            for event in ended
            if event.node == consumers[0]
        ]
        if not ends:
            return Answer(None, expected, f"{consumers[0]} was not started")
        last = max(ends, key=lambda event: event.n)
        if isinstance(last.body, ConsumerStarted):
            return Answer(False, expected, f"{consumers[0]} has started", [last.n])
        return self._of(last.body, last.n)

    def _of_producer(self, view: RunView, producer: str, at: int) -> Answer:
        """A producer starts once, before the first step: without a refusal it has started."""
        refusals = [event for event in view.of_kind(ProducerRefused, until=at) if event.node == producer]
        if not refusals:
            return Answer(False, self.stated, f"{producer} has started")
        return self._of(refusals[-1].body, refusals[-1].n)

    def _of(self, refusal: ConsumerRefused | ProducerRefused, number: int) -> Answer:
        holds = self.fits_refusal(refusal.error, refusal.code, refusal.exceptions)
        return Answer(holds, self.stated, f"refused: {refusal_text(refusal.error, refusal.code)}", [number])
