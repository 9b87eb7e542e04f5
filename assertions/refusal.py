"""The common part of all checks of refusals: RocketMQ's own class, code and text."""

from collections.abc import Iterable, Sequence
from typing import ClassVar, TypeVar

from pydantic import Field

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.clients import SeekRefused, SubscriptionRefused
from rocketchaos.harness.core.events.messages import RecallRefused, ReplyRefused, RequestAnswered, SendFailed
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.words import ConsumerRef, TopicName

R = TypeVar("R", RecallRefused, ReplyRefused, RequestAnswered, SendFailed, SeekRefused | SubscriptionRefused)


class Refused(Check):
    """A check of what RocketMQ said where it refused something."""

    because: str | None = Field(default=None, min_length=1, description="a part of the broker's remark")
    code: int | None = Field(default=None, description="RocketMQ's response code: 1, 14, 26")
    exception: str | None = Field(
        default=None,
        min_length=1,
        description="the class of what the client threw, or of its cause: `MQClientException`",
    )

    def fits_refusal(self, error: str, code: int | None, exceptions: Sequence[str]) -> bool:
        """Whether that is what is stated."""
        return (
            (self.because is None or self.because in error)
            and self.code in (None, code)
            and (self.exception is None or self.exception in exceptions)
        )

    def fitting(self, events: Iterable[Event[R]]) -> list[Event[R]]:
        """Those of these refusals that are what is stated."""
        return [
            event
            for event in events
            if self.fits_refusal(event.body.error or "", event.body.code, event.body.exceptions)
        ]

    @property
    def stated(self) -> str:
        """`refused with MQClientException, code 1, 'text'`."""
        parts = [
            *([self.exception] if self.exception is not None else []),
            *([f"code {self.code}"] if self.code is not None else []),
            *([repr(self.because)] if self.because is not None else []),
        ]
        return "refused" + (f" with {', '.join(parts)}" if parts else "")


class RefusedWhileRunning(Refused):
    """A check of what a running consumer asked of its client for a topic, and did not get."""

    event: ClassVar[type[SeekRefused | SubscriptionRefused]]
    what: ClassVar[str]
    """What was refused: `subscription`."""

    consumer: ConsumerRef = Field(description="the consumer")
    topic: TopicName = Field(description="the topic")

    def evaluate(self, view: RunView) -> Answer:
        at, consumers = view.end_of(self.at), view.consumers(self.consumer)
        if at is None or consumers is None:
            return Answer(None, self.stated, f"the observation `{self.at}` was not made, or names no member")
        refused = [
            event
            for event in view.of_kind(self.event, until=at)
            if event.node in consumers and event.body.topic == self.topic
        ]
        if not refused:
            return Answer(False, self.stated, f"no {self.what} of {self.consumer} was refused")
        last = refused[-1].body
        observed = f"refused: {refusal_text(last.error, last.code)}"
        return Answer(bool(self.fitting(refused)), self.stated, observed, [event.n for event in refused])


def refusal_text(error: str, code: int | None) -> str:
    """What was said, with its code."""
    return error if code is None else f"{error} (code {code})"
