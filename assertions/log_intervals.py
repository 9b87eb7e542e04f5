"""`log-intervals`: how far apart a log's lines are."""

from __future__ import annotations

import itertools
from datetime import datetime

from pydantic import Field, model_validator

from assertions.base import Answer, Check
from assertions.log import Pattern
from assertions.view import RunView
from harness.language import DurationMs, MomentName, NodeRef


class LogIntervals(Check):
    """Lines of a server's log that match are so far apart, each from the one before it.

    Times are those that the server writes, which in broker.log are whole seconds: an interval may be one second
    longer or shorter in truth. Lines of the same second count once. As with `log`, where a cluster is shared only
    lines count that name something of this run.
    """

    word = "log-intervals"
    example = "log-intervals: {node: broker-a, matches: 'remove topic orders', at_least: 29s, at_most: 31s}"

    node: NodeRef = Field(description="the server")
    matches: Pattern = Field(description="a regular expression, of Python's, that is found in the line")
    since: MomentName | None = Field(default=None, description="only lines after this observation")
    at_least: DurationMs | None = Field(default=None, description="so long or longer")
    at_most: DurationMs | None = Field(default=None, description="so long or shorter")
    lines: int = Field(default=2, ge=2, description="so many lines, or more, are needed for an answer")

    @model_validator(mode="after")
    def _says_something(self) -> LogIntervals:
        if self.at_most is None and self.at_least is None:
            raise ValueError("say `at_most`, `at_least` or both")
        return self

    def title(self) -> str:
        return f"intervals in the log of {self.node}"

    def evaluate(self, view: RunView) -> Answer:
        limits = (("at least", self.at_least), ("at most", self.at_most))
        expected = " and ".join(f"{word} {limit} ms" for word, limit in limits if limit is not None)
        end = view.end_of(self.at)
        begin = 0 if self.since is None else view.end_of(self.since)
        if end is None or begin is None:
            missing = self.at if end is None else self.since
            return Answer(None, expected, f"the observation `{missing}` was not made")
        times = {
            _seconds(str(event.data["time"])): event.n
            for event in view.of_kind("log-line", until=end)
            if event.n > begin
            and event.data["time"] is not None
            and (event.data["of"], event.data["pattern"]) == (self.node, self.matches)
        }
        seconds = sorted(times)
        if len(seconds) < self.lines:
            return Answer(None, expected, f"{len(seconds)} different times, too few", [end])
        apart_ms = [(later - earlier) * 1000 for earlier, later in itertools.pairwise(seconds)]
        holds = all(
            (self.at_least or 0) <= one and (self.at_most is None or one <= self.at_most) for one in apart_ms
        )
        observed = f"{len(apart_ms)} intervals of " + ", ".join(f"{one / 1000:g} s" for one in apart_ms[:20])
        return Answer(holds, expected, observed, list(times.values()))


def _seconds(text: str) -> float:
    """A time of a log, `2025-01-31 12:00:00` or with milliseconds behind it, in seconds."""
    return datetime.fromisoformat(text.replace(",", ".")).timestamp()
