"""`answer`: what a server answered to a raw request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from rocketchaos.assertions.base import Answer as Found
from rocketchaos.assertions.base import Check
from rocketchaos.assertions.log import Pattern
from rocketchaos.assertions.message_ids import doubtful, with_ids
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.servers import Asked
from rocketchaos.harness.language.words import Refers, as_tuple
from rocketchaos.harness.rocketmq.response_codes import ResponseCode, in_words

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario

_SHOWN = 300
"""Characters of a body that the answer shows."""

Expressions = Annotated[
    tuple[Pattern, ...],
    BeforeValidator(as_tuple),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


class Answer(Check):
    """The server's answer to the raw request of this name; every given field must match.

    Topics, groups and client ids in the answer have the scenario's names, `g` and not `<g>`. In `has` and `lacks`
    `<orders-1>` is the id of the first message sent to orders, `<orders-1.offset>` its offsetMsgId. In a `repeat`
    it is the last one of the name. `at` has no influence.
    """

    word = "answer"
    example = "answer: {of: ids, code: 0, has: ['\"a\"', '\"b\"'], lacks: '\"c\"'}"

    of: Annotated[str, Refers(("asked",))] = Field(
        description="the request, by the name that its step gave: `as: ids`"
    )
    code: ResponseCode | None = Field(
        default=None, description="the response code, as RocketMQ calls it, or its number; 0 is SUCCESS"
    )
    remark: str | None = Field(
        default=None, pattern=r"\S", description="how the remark begins, after any blanks"
    )
    has: Expressions = Field(default=(), description="Python regular expressions, each found in the body")
    fields: dict[str, str] = Field(
        default_factory=dict, description='fields of the answer\'s header, all of them text: `{offset: "2"}`'
    )
    lacks: Expressions = Field(default=(), description="the same, none of them found in the body")

    @model_validator(mode="after")
    def _says_something(self) -> Answer:
        if self.code is None and self.remark is None and not (self.has or self.lacks or self.fields):
            raise ValueError("say how it was answered: `code`, `remark`, `fields`, `has` or `lacks`")
        return self

    def title(self) -> str:
        return f"answer to the request {self.of}"

    def evaluate(self, view: RunView) -> Found:
        expected = ", ".join(text for _, text in self._statements(None, {}))
        events = [event for event in view.of_kind(Asked) if event.body.name == self.of]
        if not events:
            return Found(None, expected, f"no request {self.of} was sent")
        body = events[-1].body
        remark, text = str(body.remark or "no remark"), str(body.text or "")
        fields = "".join(f"{name} {body.fields.get(name)}, " for name in self.fields)
        observed = f"{body.of}: {body.status}, {remark.splitlines()[0]}, {fields}{_clipped(text)}"
        if not text and self._only_lacks:
            return Found(
                None, expected, f"{observed}: of no body it can't be said what it lacks", [events[-1].n]
            )
        ids = with_ids((*self.has, *self.lacks), view)
        if isinstance(ids, str):
            return Found(None, expected, f"{observed}; {ids}", [events[-1].n])
        holds = all(held for held, _ in self._statements(body, ids))
        return Found(holds, expected, observed, [events[-1].n])

    def doubts(self, scenario: Scenario) -> Iterator[str]:
        yield from doubtful((*self.has, *self.lacks), scenario)

    @property
    def _only_lacks(self) -> bool:
        return self.code is None and self.remark is None and not (self.has or self.fields)

    def _statements(self, body: Asked | None, ids: Mapping[str, str]) -> Iterator[tuple[bool, str]]:
        """What is stated, and whether it is so, with each expression as `ids` has it; None: nothing is known."""
        if self.code is not None:
            yield body is not None and body.code == self.code, in_words(self.code)
        remark, fields, text = ("", {}, "") if body is None else (body.remark or "", body.fields, body.text)
        if self.remark is not None:
            yield remark.lstrip().startswith(self.remark.lstrip()), self.remark
        for name, value in self.fields.items():
            yield fields.get(name) == value, f"{name} {value}"
        for pattern in self.has:
            yield re.search(ids.get(pattern, pattern), text) is not None, f"with {pattern}"
        for pattern in self.lacks:
            yield re.search(ids.get(pattern, pattern), text) is None, f"without {pattern}"


def _clipped(text: str) -> str:
    return (text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…") or "no body"
