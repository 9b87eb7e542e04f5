"""`send-refused`: messages that were not acknowledged, and what RocketMQ said."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from rocketchaos.assertions.base import Answer, Count
from rocketchaos.assertions.refusal import Refused, refusal_text
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.messages import SendAccepted, SendFailed, Sent
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.words import TopicName


class SendRefused(Count, Refused):
    """The number of messages of a topic that were not acknowledged, and that got this answer.

    The answer comes from a broker (`MQBrokerException`, with its code) or from the producer's client
    (`MQClientException`). Messages with another answer don't count. The `send` needs `may_fail`, or the first
    refusal ends the run. With `status` it counts messages that a broker stored, and acknowledged with this
    SendStatus in place of SEND_OK: consumers get them, and a producer that sends again doubles them.
    """

    word = "send-refused"
    example = "send-refused: {topic: orders, count: 8, code: 16, exception: MQBrokerException}"

    topic: TopicName = Field(description="the topic")
    status: Literal["FLUSH_DISK_TIMEOUT", "FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE"] | None = Field(
        default=None, description="in place of a refusal: the SendStatus of a message that the broker stored"
    )

    @model_validator(mode="after")
    def _refused_or_stored(self) -> SendRefused:
        if self.status is not None and (self.because, self.code, self.exception) != (None, None, None):
            raise ValueError(
                "a message with a `status` was stored, not refused: give `status` alone, or "
                "`because`, `code` and `exception`"
            )
        return self

    @property
    def stated(self) -> str:
        """`refused with code 1`, or `acknowledged with FLUSH_DISK_TIMEOUT`."""
        return super().stated if self.status is None else f"acknowledged with {self.status}"

    def title(self) -> str:
        return f"sending to {self.topic} refused"

    def evaluate(self, view: RunView) -> Answer:
        expected = f"{self.how_many('message')} {self.stated}"
        end = view.end_of(self.at)
        if end is None:
            return Answer(None, expected, f"the observation `{self.at}` was not made")
        failed = [event for event in view.of_kind(SendFailed, until=end) if event.body.topic == self.topic]
        sent = [event for event in view.of_kind(Sent, until=end) if event.body.topic == self.topic]
        accepted = [
            event for event in view.of_kind(SendAccepted, until=end) if event.body.topic == self.topic
        ]
        if not failed and not sent and not accepted:
            return Answer(None, expected, f"no message of {self.topic} was sent")
        if self.status is not None:
            return self._stored(expected, [*sent, *accepted])
        fitting = self.fitting(failed)
        others = [event for event in failed if event not in fitting]
        observed = f"{len(fitting)} of {len(failed)} that were not acknowledged"
        if shown := (fitting or others)[:1]:
            observed += f": {refusal_text(shown[0].body.error, shown[0].body.code)}"
        return Answer(self.fits(len(fitting)), expected, observed, [event.n for event in fitting or others])

    def _stored(self, expected: str, answered: list[Event[Sent] | Event[SendAccepted]]) -> Answer:
        """Of those that a broker stored, also as half of a transaction, or until their time has come."""
        status = {event.body.key: event.body.status for event in answered if event.body.status is not None}
        number = sum(status[key] == self.status for key in status)
        proof = [event.n for event in answered if event.body.status == self.status]
        observed = f"{number} of {len(status)} that the broker stored"
        return Answer(self.fits(number), expected, observed, proof or [event.n for event in answered])
