"""`refused-pulls`: how soon clients come again whose pulls were refused."""

from __future__ import annotations

import itertools
import math
import statistics
from typing import Annotated

from pydantic import Field, model_validator

from assertions.base import Answer, Check
from assertions.view import RunView
from harness.language import DurationMs, Refers


class RefusedPulls(Check):
    """The median of the times between the pulls that a step `refuse-pulls` has refused is so long.

    A machine that is busy makes some of them longer, so the median is told, with the shortest and the longest.
    """

    word = "refused-pulls"
    example = "refused-pulls: {of: f1, at_least: 15ms, at_most: 100ms}"

    of: Annotated[str, Refers(("refusal",))] = Field(
        description="the step, by the name that it gave: `as: f1`"
    )
    at_least: DurationMs | None = Field(default=None, description="so long or longer")
    at_most: DurationMs | None = Field(default=None, description="so long or shorter")

    @model_validator(mode="after")
    def _says_something(self) -> RefusedPulls:
        if self.at_most is None and self.at_least is None:
            raise ValueError("say `at_most`, `at_least` or both")
        return self

    def title(self) -> str:
        return f"pulls that {self.of} refused"

    def evaluate(self, view: RunView) -> Answer:
        limits = (("at least", self.at_least), ("at most", self.at_most))
        expected = " and ".join(f"{word} {limit} ms" for word, limit in limits if limit is not None)
        pulls = [event for event in view.of_kind("pull-refused") if event.data["name"] == self.of]
        if len(pulls) < 2:
            return Answer(None, expected, f"{len(pulls)} pulls came, too few")
        apart_ms = [(later.mono_ns - earlier.mono_ns) / 1e6 for earlier, later in itertools.pairwise(pulls)]
        median = statistics.median(apart_ms)
        holds = (self.at_least or 0) <= median <= (self.at_most or math.inf)
        observed = (
            f"median {median:.1f} ms of {len(apart_ms)} times, {min(apart_ms):.1f} to {max(apart_ms):.1f} ms"
        )
        return Answer(holds, expected, observed, [event.n for event in pulls])
