"""`log-lapse`: how much time lies between lines of a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from pydantic import Field, model_validator

from rocketchaos.assertions.base import Answer
from rocketchaos.assertions.limits import keeps
from rocketchaos.assertions.log import OfOneLog, Pattern
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.servers import LogLine
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.words import DurationMs, MomentName


class LogLapse(OfOneLog):
    """The time from each matching line of a log to the next line that matches another expression.

    The times are those in the lines, usually in milliseconds; in broker.log in whole seconds. Without `to` it
    is the time from each line to the next one that matches `from`. Lines with the same time count once; a
    line that no `to` follows is ignored. The same lines count as with `log`.
    """

    word = "log-lapse"
    example = (
        "log-lapse: {consumer: a, from: offset illegal, to: fix the pull request offset, at_least: 9900ms}"
    )

    begin: Pattern = Field(
        alias="from",
        description="a Python regular expression found in the line from which the time counts",
    )
    to: Pattern | None = Field(
        default=None,
        description="the same for the line at which the time ends; default: the next line of `from`",
    )
    at_least: DurationMs | None = Field(default=None, description="at least this long")
    at_most: DurationMs | None = Field(default=None, description="at most this long")
    since: MomentName | None = Field(default=None, description="only lines after this observation")
    times: int = Field(default=1, ge=1, description="an answer needs at least this many of these times")

    @model_validator(mode="after")
    def _says_something(self) -> LogLapse:
        if self.at_most is None and self.at_least is None:
            raise ValueError("say `at_most`, `at_least` or both")
        return self

    @property
    def patterns(self) -> tuple[str, ...]:
        return (self.begin,) if self.to is None else (self.begin, self.to)

    def title(self) -> str:
        return f"times in the log of {self.whose}"

    def evaluate(self, view: RunView) -> Answer:
        limits = (("at least", self.at_least), ("at most", self.at_most))
        expected = " and ".join(f"{word} {limit} ms" for word, limit in limits if limit is not None)
        end = view.end_of(self.at)
        begin = 0 if self.since is None else view.end_of(self.since)
        if end is None or begin is None:
            missing = self.at if end is None else self.since
            return Answer(None, expected, f"the observation `{missing}` was not made")
        sources = self.sources(view)
        if sources is None:
            return Answer(None, expected, f"{self.consumer} was never bound")
        lines = [
            item for item in view.of_kind(LogLine, until=end) if item.n > begin and item.body.of in sources
        ]
        lapses = list(self._lapses(lines))
        if len(lapses) < self.times:
            return Answer(None, expected, f"{len(lapses)} such times, {self.times} are needed", [end])
        took_ms = [ms for _, _, ms in lapses]
        holds = all(keeps(ms, self.at_least, self.at_most) for ms in took_ms)
        observed = f"{len(took_ms)} times, of {min(took_ms):.0f} to {max(took_ms):.0f} ms"
        return Answer(holds, expected, observed, [n for first, last, _ in lapses for n in (first, last)])

    def _lapses(self, lines: Sequence[Event[LogLine]]) -> Iterator[tuple[int, int, float]]:
        """The numbers of both lines, and the milliseconds between them."""
        begins = _times(lines, self.begin)
        ends = begins if self.to is None else _times(lines, self.to)
        for moment, number in begins:
            later = [end for end in ends if end[0] >= moment and (self.to is not None or end[0] > moment)]
            if later:
                yield number, later[0][1], round((later[0][0] - moment) * 1000)


def _times(lines: Sequence[Event[LogLine]], pattern: str) -> list[tuple[float, int]]:
    """Time in seconds and event number of each line, the earliest first."""
    found: dict[float, int] = {}
    for line in lines:
        if line.body.pattern == pattern and line.body.time is not None:
            time = datetime.fromisoformat(line.body.time.replace(",", "."))
            found.setdefault(time.timestamp(), line.n)
    return sorted(found.items())
