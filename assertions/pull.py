"""`pull`: how a broker answered a raw pull."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.servers import Pulled
from rocketchaos.harness.language.words import DurationMs, Refers, as_tuple
from rocketchaos.harness.rocketmq.response_codes import ResponseCode, pull_in_words

_SAYS = ("code", "remark", "next_offset", "min_offset", "max_offset", "messages", "keys")


class Pull(Check):
    """The broker's answer to the raw pull of this name; every given field must match.

    In a `repeat` it is the last one of the name. `at` has no influence.
    """

    word = "pull"
    example = "pull: {of: p1, code: PULL_OFFSET_MOVED, remark: OFFSET_OVERFLOW_BADLY, next_offset: 2}"

    of: Annotated[str, Refers(("pull",))] = Field(
        description="the pull, by the name that its step gave: `as: p1`"
    )
    code: ResponseCode | None = Field(
        default=None,
        description="the response code, as RocketMQ calls it, or its number; `FOUND` is 0, SUCCESS",
    )
    remark: str | None = Field(
        default=None,
        pattern=r"\S",
        description="how the remark begins, after any blanks; for pulls that the broker executed, the "
        "GetMessageStatus: `NO_MATCHED_MESSAGE`",
    )
    next_offset: int | None = Field(default=None, description="nextBeginOffset")
    min_offset: int | None = Field(default=None, description="the queue's minOffset")
    max_offset: int | None = Field(default=None, description="the queue's maxOffset")
    messages: int | None = Field(default=None, ge=0, description="how many messages came")
    keys: (
        Annotated[
            tuple[str, ...],
            BeforeValidator(as_tuple),
            WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
        ]
        | None
    ) = Field(default=None, description="their keys, in order: `[orders-1, orders-5]`")
    took_at_least: DurationMs | None = Field(default=None, description="the answer took at least this long")
    took_at_most: DurationMs | None = Field(default=None, description="the answer took at most this long")

    @model_validator(mode="after")
    def _says_something(self) -> Pull:
        given = [getattr(self, name) for name in (*_SAYS, "took_at_least", "took_at_most")]
        if all(value is None for value in given):
            raise ValueError("say how it was answered: `code`, `remark`, `next_offset`, `messages`, …")
        return self

    def title(self) -> str:
        return f"answer to the pull {self.of}"

    def evaluate(self, view: RunView) -> Answer:
        expected = ", ".join(text for _, text in self._statements(None))
        events = [event for event in view.of_kind(Pulled) if event.body.name == self.of]
        if not events:
            return Answer(None, expected, f"no pull {self.of} was made")
        body = events[-1].body
        # RocketMQ's longer remarks go on with a link to its FAQ.
        remark = next(iter(str(body.remark or "").splitlines()), "no remark")
        observed = (
            f"{body.status}, {remark}, next {body.next_offset}, "
            f"{body.messages} messages, of {body.min_offset} to {body.max_offset}, "
            f"in {body.took_ms:.0f} ms"
        )
        holds = all(held for held, _ in self._statements(body))
        return Answer(holds, expected, observed, [events[-1].n])

    def _statements(self, body: Pulled | None) -> Iterator[tuple[bool, str]]:
        """What is stated, and whether it is so; None: nothing is known."""
        if self.code is not None:
            yield body is not None and body.code == self.code, pull_in_words(self.code)
        if self.remark is not None:
            remark = "" if body is None else (body.remark or "").lstrip()
            yield remark.startswith(self.remark.lstrip()), self.remark
        for name, text in (
            ("next_offset", "next"),
            ("min_offset", "from"),
            ("max_offset", "up to"),
            ("messages", "messages:"),
            ("keys", "keys"),
        ):
            stated = getattr(self, name)
            if stated is not None:
                shown = list(stated) if isinstance(stated, tuple) else stated
                yield getattr(body, name, None) == stated, f"{text} {shown}"
        took_ms = 0.0 if body is None else body.took_ms
        if self.took_at_least is not None:
            yield took_ms >= self.took_at_least, f"in at least {self.took_at_least} ms"
        if self.took_at_most is not None:
            yield took_ms <= self.took_at_most, f"in at most {self.took_at_most} ms"
