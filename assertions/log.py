"""`log`: what a server or a client wrote into its own log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from rocketchaos.assertions.base import Answer, Check, Count
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


class OfOneLog(Check):
    """A check of the lines of one server's log, or of one client's."""

    node: NodeRef | None = Field(default=None, description="the server: `broker-a`, `nameserver`")
    consumer: ConsumerRef | None = Field(default=None, description="or the consumer")
    producer: ProducerRef | None = Field(default=None, description="or the producer")

    @model_validator(mode="after")
    def _one_log(self) -> Self:
        if len([name for name in (self.node, self.consumer, self.producer) if name is not None]) != 1:
            raise ValueError("give exactly one of `node`, `consumer` and `producer`")
        return self

    @property
    def whose(self) -> str:
        """The name that it gives: of a server, a producer, a consumer, or a variable that stands for consumers."""
        return str(self.node or self.producer or self.consumer)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The expressions whose lines it reads."""
        raise NotImplementedError

    def sources(self, view: RunView) -> Sequence[str] | None:
        """The names of those whose logs it reads; None: the variable was never bound."""
        return view.consumers(self.whose) if self.consumer is not None else (self.whose,)


class Log(OfOneLog, Count):
    """The number of lines of a log that match, from the run's beginning, or from one observation, to another.

    The log is the server's own, of `broker-a`, `broker-a-slave`, `nameserver`, `proxy`, or the RocketMQ client's,
    of any consumer or producer; clients that are `beside` one another have one log. A server writes into one what
    RocketMQ's packages write into several: broker.log, store.log, pop.log, ….
    Topics and groups in it have the scenario's names.
    On a shared cluster only lines that name a topic, a group or a client of this run count: a line like `boot
    success` needs a cluster of the scenario's own. A `kill` can lose the last lines that a client wrote.
    """

    word = "log"
    example = "log: {node: broker-a, matches: 'subscription changed, group: g', at_least: 1}"

    matches: Pattern = Field(description="a Python regular expression found in the line")

    since: MomentName | None = Field(default=None, description="only lines after this observation")

    @property
    def patterns(self) -> tuple[str, ...]:
        return (self.matches,)

    def title(self) -> str:
        return f"log of {self.whose}"

    def evaluate(self, view: RunView) -> Answer:
        expected = f"{self.how_many('line')} matching {self.matches!r}"
        sources = self.sources(view)
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
