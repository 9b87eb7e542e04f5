"""`client-pull`: what a consumer's own client made of a pull."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.clients import ClientPulled
from rocketchaos.harness.language.words import Refers


class ClientPull(Check):
    """The result of the `client-pull` of this name: a PullStatus, or an exception with this text.

    In a `repeat` it is the last one of the name. `at` has no influence.
    """

    word = "client-pull"
    example = "client-pull: {of: c1, status: OFFSET_ILLEGAL}"

    of: Annotated[str, Refers(("client-pull",))] = Field(
        description="the pull, by the name that its step gave: `as: c1`"
    )
    status: Literal["FOUND", "NO_NEW_MSG", "NO_MATCHED_MSG", "OFFSET_ILLEGAL"] | None = Field(
        default=None, description="its PullStatus"
    )
    throws: str | None = Field(
        default=None, min_length=1, description="it was an exception instead, with this in its text"
    )
    next_offset: int | None = Field(default=None, description="nextBeginOffset")

    @model_validator(mode="after")
    def _one_end(self) -> ClientPull:
        if (self.status is None) == (self.throws is None):
            raise ValueError("give exactly one of `status` and `throws`")
        return self

    def title(self) -> str:
        return f"pull {self.of} by a client"

    def evaluate(self, view: RunView) -> Answer:
        expected = ", ".join(text for _, text in self._statements(None))
        events = [event for event in view.of_kind(ClientPulled) if event.body.name == self.of]
        if not events:
            return Answer(None, expected, f"no pull {self.of} was made")
        body = events[-1].body
        observed = body.error or f"{body.status}, next {body.next_offset}"
        return Answer(all(held for held, _ in self._statements(body)), expected, observed, [events[-1].n])

    def _statements(self, body: ClientPulled | None) -> Iterator[tuple[bool, str]]:
        """What is stated, and whether it is so; None: nothing is known."""
        if self.status is not None:
            yield body is not None and body.status == self.status, self.status
        if self.throws is not None:
            yield body is not None and self.throws in (body.error or ""), f"an exception with {self.throws!r}"
        if self.next_offset is not None:
            yield body is not None and body.next_offset == self.next_offset, f"next {self.next_offset}"
