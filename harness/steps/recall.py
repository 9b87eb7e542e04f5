"""`recall`: a producer takes delayed messages back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, StringConstraints

from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.core.events.messages import Recalled, RecallRefused
from rocketchaos.harness.language.producer_spec import PRODUCER
from rocketchaos.harness.language.words import OneOrMore, ProducerRef
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext

_NUMBERED = r"^(.+)-([1-9][0-9]*)$"
MessageKey = Annotated[str, StringConstraints(pattern=_NUMBERED)]
"""`orders-1`: the first message that was sent to orders."""


class Recall(Step):
    """Let a producer take back messages that it has sent with `delay`: `DefaultMQProducer.recallMessage()`.

    It needs the handle that came with the broker's answer to the message (SendResult.getRecallHandle): the
    producer that has sent it has that, until it is restarted. Without one, as with `delay_level`, its client
    refuses. A broker refuses it unless its `recallMessageEnable` is true; default `false`. One that accepts it
    looks for the message only when that is due.
    """

    word = "recall"
    shorthand = "messages"
    example = "recall: {messages: orders-1}"

    messages: OneOrMore[MessageKey] = Field(
        description="their keys, `orders-1` for the first one sent to orders"
    )
    producer: ProducerRef = Field(default=PRODUCER, description="which one of several, see `producers`")
    may_be_refused: bool = Field(
        default=False, description="a refusal by RocketMQ is recorded, and the run continues"
    )

    def problems(self, scenario: Scenario) -> Iterator[str]:
        for key in self.messages:
            topic, number = _parts(key)
            if topic not in scenario.topics:
                yield f"{key}: there is no topic {topic}"
            elif number > scenario.most_sent(topic):
                yield f"{key}: the steps send {scenario.most_sent(topic)} messages to {topic}"

    def run(self, context: StepContext) -> None:
        producer = context.members.producer(self.producer)
        for key in self.messages:
            context.check_alive()
            topic = _parts(key)[0]
            try:
                msg_id = producer.recall(topic, key)
            except RequestFailed as refusal:
                if not self.may_be_refused or not refusal.is_refusal:
                    raise
                refused = RecallRefused(
                    key=key,
                    topic=topic,
                    error=refusal.message,
                    code=refusal.code,
                    exceptions=tuple(refusal.exceptions),
                )
                context.history.append(self.producer, refused)
                continue
            context.history.append(self.producer, Recalled(key=key, topic=topic, msg_id=msg_id))


def _parts(key: str) -> tuple[str, int]:
    """The topic and the number of a message."""
    found = re.fullmatch(_NUMBERED, key)
    assert found is not None
    return found[1], int(found[2])
