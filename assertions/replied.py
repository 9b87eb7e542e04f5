"""`replied`: what a producer gets for its requests."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from pydantic import Field, model_validator

from rocketchaos.assertions.base import Answer, Count
from rocketchaos.assertions.refusal import Refused, refusal_text
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.messages import RequestAnswered, SendAccepted
from rocketchaos.harness.core.text import counted
from rocketchaos.harness.language.words import TopicName

_WORDS = {
    "reply": ("reply", "replies"),
    "request": ("request", "requests"),
    "nothing": ("answer without a message", "answers without a message"),
    "exception": ("exception", "exceptions"),
}
"""What a producer got, in the singular and the plural."""


class Replied(Count, Refused):
    """How often the producer got a reply for its requests to a topic, or with `got` something else.

    Each return of `request()`, and each call of its RequestCallback, counts. `reply`: the message of a listener
    with `behaviour: {reply: true}`. `request`: the message itself that was sent. `nothing`: no message.
    `exception`: a broker has the request, and no reply came in time (RequestTimeoutException, code 10006).
    `send-refused` counts requests that could not be sent.
    """

    word = "replied"
    example = "replied: {topic: orders, count: 4}"

    topic: TopicName = Field(description="the topic of the requests")
    got: Literal["reply", "request", "nothing", "exception"] = Field(
        default="reply", description="what the producer got"
    )

    @model_validator(mode="after")
    def _said_by_an_exception(self) -> Replied:
        if self.got != "exception" and (self.because, self.code, self.exception) != (None, None, None):
            raise ValueError("`because`, `code` and `exception` go with `got: exception`")
        return self

    def title(self) -> str:
        return f"requests to {self.topic} got {self.got}"

    def evaluate(self, view: RunView) -> Answer:
        expected = self.how_many(*_WORDS[self.got]) + self.stated.removeprefix("refused")
        end = view.end_of(self.at)
        if end is None:
            return Answer(None, expected, f"the observation `{self.at}` was not made")
        answers = [event for event in view.of_kind(RequestAnswered, until=end) if self._of_topic(event.body)]
        asked = (event.body for event in view.of_kind(SendAccepted, until=end))
        if not answers and not any(self._of_topic(body) and body.how == "request" for body in asked):
            return Answer(None, expected, f"no request was sent to {self.topic}")
        fitting = self.fitting(event for event in answers if event.body.got == self.got)
        spread = Counter(event.body.got for event in answers)
        observed = (
            ", ".join(counted(number, *_WORDS[got]) for got, number in sorted(spread.items())) or "no answer"
        )
        if said := [event.body for event in answers if event.body.error is not None][:1]:
            observed += f": {refusal_text(said[0].error or '', said[0].code)}"
        proof = [event.n for event in fitting or answers]
        return Answer(self.fits(len(fitting)), expected, observed, proof)

    def _of_topic(self, body: RequestAnswered | SendAccepted) -> bool:
        return body.topic == self.topic
