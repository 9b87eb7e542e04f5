"""`start-refused`: a client that RocketMQ did not let start."""

from __future__ import annotations

from pydantic import Field

from rocketchaos.assertions.base import Answer
from rocketchaos.assertions.refusal import Refused, refusal_text
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.clients import ConsumerRefused, ConsumerStarted
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.words import ConsumerRef


class StartRefused(Refused):
    """The start of a consumer was refused with this answer.

    The text is what the client's own `start()` threw; see `may_be_refused` of the step `start`. If the
    consumer was started several times, its last start counts.
    """

    word = "start-refused"
    example = "start-refused: {consumer: a, because: does not support consumer to filter message by SQL92}"

    consumer: ConsumerRef = Field(description="the consumer")

    def title(self) -> str:
        return f"start of {self.consumer} refused"

    def evaluate(self, view: RunView) -> Answer:
        expected = self.stated
        at, consumers = view.end_of(self.at), view.consumers(self.consumer)
        if at is None or consumers is None or len(consumers) != 1:
            missing = (
                f"the observation `{self.at}` was not made" if at is None else "it is no single consumer"
            )
            return Answer(None, expected, missing)
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
        refusal = last.body
        holds = self.fits_refusal(refusal.error, refusal.code, refusal.exceptions)
        return Answer(holds, expected, f"refused: {refusal_text(refusal.error, refusal.code)}", [last.n])
