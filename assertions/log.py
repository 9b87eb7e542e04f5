"""`log`: what a server or a client wrote into its own log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from rocketchaos.assertions.base import Answer, Count
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.servers import LogLine, LogObserved
from rocketchaos.harness.language.words import ConsumerRef, MomentName, NodeRef, ProducerRef


def _expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"it is no regular expression: {error}") from None
    return text


Pattern = Annotated[str, StringConstraints(min_length=1), AfterValidator(_expression)]
"""A regular expression, of Python's."""


def require_one_log(*named: str | None) -> None:
    """Raises: ValueError: not exactly one log is named."""
    if len([name for name in named if name is not None]) != 1:
        raise ValueError("give exactly one of `node`, `consumer` and `producer`")


def sources_of(
    view: RunView, node: str | None, producer: str | None, consumer: str | None
) -> Sequence[str] | None:
    """Whose logs are meant, by the keys of a check; None: the variable was never bound."""
    named = node or producer
    return (named,) if named else view.consumers(str(consumer))


class Log(Count):
    """The number of lines of a log that match, from the run's beginning, or from one observation, to another.

    The log is the server's own, or the RocketMQ client's; clients that are `beside` one another have one log.
    Topics and groups in it have the scenario's names.
    On a shared cluster only lines that name a topic, a group or a client of this run count: a line like `boot
    success` needs a cluster of the scenario's own. A `kill` can lose the last lines that a client wrote.
    """

    word = "log"
    example = "log: {node: broker-a, matches: 'subscription changed, group: g', at_least: 1}"

    node: NodeRef | None = Field(default=None, description="the server: `broker-a`, `nameserver`")
    consumer: ConsumerRef | None = Field(default=None, description="or the consumer")
    producer: ProducerRef | None = Field(default=None, description="or the producer")
    matches: Pattern = Field(description="a Python regular expression found in the line")

    since: MomentName | None = Field(default=None, description="only lines after this observation")

    @model_validator(mode="after")
    def _one_log(self) -> Log:
        require_one_log(self.node, self.consumer, self.producer)
        return self

    @property
    def patterns(self) -> tuple[str, ...]:
        """The expressions whose lines it reads."""
        return (self.matches,)

    def title(self) -> str:
        return f"log of {self.node or self.producer or self.consumer}"

    def evaluate(self, view: RunView) -> Answer:
        expected = f"{self.how_many('line')} matching {self.matches!r}"
        sources = sources_of(view, self.node, self.producer, self.consumer)
        if sources is None:
            return Answer(None, expected, f"{self.consumer} was never bound")
        if not sources:
            return Answer(None, expected, f"{self.consumer} stands for no member, so there is no log")
        number, proof = 0, []
        for source in sources:
            seen = view.observed(LogObserved, self.at, of=source, pattern=self.matches)
            if not seen:
                return Answer(None, expected, f"the log of {source} was not read at `{self.at}`")
            before = self._before(view, source)
            if before is None:
                return Answer(None, expected, f"the log of {source} was not read at `{self.since}`")
            begin, known = before
            number += seen[-1].body.count - known
            lines = [
                event.n
                for event in view.of_kind(LogLine, until=seen[-1].n)
                if event.n > begin and (event.body.of, event.body.pattern) == (source, self.matches)
            ]
            proof += lines or [seen[-1].n]
        return Answer(self.fits(number), expected, f"{number} lines", proof)

    def _before(self, view: RunView, source: str) -> tuple[int, int] | None:
        """The beginning of the lines that count: an event's number, and the number of earlier lines."""
        if self.since is None:
            return 0, 0
        seen = view.observed(LogObserved, self.since, of=source, pattern=self.matches)
        return (seen[-1].n, seen[-1].body.count) if seen else None
