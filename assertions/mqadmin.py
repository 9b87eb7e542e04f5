"""`mqadmin`: what a command of RocketMQ's tools printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, model_validator

from rocketchaos.assertions.answer import Expressions
from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.message_ids import doubtful, with_ids
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.servers import MqadminRan
from rocketchaos.harness.language.words import Refers

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario

_FAILED = re.compile(
    r"\bSubCommandException\b|^Exception in thread|^The sub command \S+ not exist|^usage: mqadmin ",
    re.MULTILINE,
)
"""How `mqadmin` says that it failed, or that it doesn't understand its arguments: its exit code is often 0 then
too (4.9.4 and 5.5.0)."""
_FRAME = re.compile(r"\s*(at [\w.$/<>]+\(.*\)|\.\.\. \d+ (more|common frames omitted))\s*")
"""A line of a stack trace that names no exception."""
_WORD = re.compile(r"(?<!\\)\b[A-Za-z]{5,}")
"""A word of an expression that a line of the output may have, though with another number behind it."""
_OF_NOTHING = r"of no output it can't be said what it lacks; `has: \A\Z` says that there is none"
_SHOWN = 300
"""Characters of the output that the answer shows."""


class Mqadmin(Check):
    """What the `mqadmin` step of this name printed; every expression of `has`, and none of `lacks`, is found.

    Topics, groups and client ids in the output have the scenario's names, `g` and not `<g>`. In `has` and `lacks`
    `<orders-1>` is the id of the first message sent to orders, `<orders-1.offset>` its offsetMsgId. In a `repeat`
    it is the last one of the name. If the command failed, or had not ended by its limit, what it lacks is unknown.
    `at` has no influence.
    """

    word = "mqadmin"
    example = "mqadmin: {of: progress, has: 'Diff Total: 0', lacks: ERROR}"

    of: Annotated[str, Refers(("mqadmin",))] = Field(
        description="the command, by the name that its step gave: `as: progress`"
    )
    has: Expressions = Field(
        default=(), description="Python regular expressions, each found in the output; `^` begins a line"
    )
    lacks: Expressions = Field(default=(), description="the same, none of them found in the output")

    @model_validator(mode="after")
    def _says_something(self) -> Mqadmin:
        if not (self.has or self.lacks):
            raise ValueError("say what it prints: `has` or `lacks`")
        return self

    def doubts(self, scenario: Scenario) -> Iterator[str]:
        yield from doubtful((*self.has, *self.lacks), scenario)

    def title(self) -> str:
        return f"output of mqadmin {self.of}"

    def evaluate(self, view: RunView) -> Answer:
        expected = ", ".join(
            [f"with {item}" for item in self.has] + [f"without {item}" for item in self.lacks]
        )
        events = [event for event in view.of_kind(MqadminRan) if event.body.name == self.of]
        if not events:
            return Answer(None, expected, f"no command {self.of} was run")
        body, proof = events[-1].body, [events[-1].n]
        text = body.output.strip()
        ids = with_ids((*self.has, *self.lacks), view)
        if isinstance(ids, str):
            shown = self._shown(text, {})
            return Answer(None, expected, f"mqadmin {' '.join(body.command)} printed: {shown}; {ids}", proof)
        found = {item: re.search(written, text, re.MULTILINE) is not None for item, written in ids.items()}
        observed = f"mqadmin {' '.join(body.command)} printed: {self._shown(text, ids)}"
        if any(found[item] for item in self.lacks):
            return Answer(False, expected, observed, proof)
        why_not = _why_not_all(body, text)
        all_there = all(found[item] for item in self.has)
        if why_not is not None and (self.lacks or not all_there):
            return Answer(None, expected, f"{observed}; {why_not}", proof)
        if self.lacks and not text:
            return Answer(None, expected, f"{observed}; {_OF_NOTHING}", proof)
        return Answer(all_there, expected, observed, proof)

    def _shown(self, text: str, ids: Mapping[str, str]) -> str:
        """The lines that its expressions find, and those that look like one that finds none; all lines where these
        are few, or none does. Of a stack trace the exceptions.
        """
        lines = [line for line in text.splitlines() if line.strip() and not _FRAME.fullmatch(line)]
        has = [ids.get(item, item) for item in self.has]
        stated = [*has, *(ids.get(item, item) for item in self.lacks)]
        hits = {line for line in lines if any(re.search(item, line) for item in stated)}
        missed = (item for item in has if not any(re.search(item, line) for line in lines))
        words = [word for item in missed for word in _WORD.findall(item)]
        near = {line for line in lines if any(word in line for word in words)}
        if not hits and len(_joined(lines)) <= _SHOWN:
            near = set()
        whole = _joined([line for line in lines if line in hits or line in near] or lines)
        return f"{whole[:_SHOWN]}…" if len(whole) > _SHOWN else whole or "nothing"


def failed_tool(body: MqadminRan) -> str | None:
    """How the command failed, its first line; None: it didn't, or it was killed at its limit."""
    lines = [line.strip() for line in body.output.splitlines() if line.strip()]
    if body.exit_code is None or not lines or not _FAILED.search(body.output):
        return None
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return (causes or lines)[-1 if causes else 0]


def _joined(lines: list[str]) -> str:
    return " / ".join(re.sub(r"\s{2,}", "  ", line.strip()) for line in lines)


def _why_not_all(body: MqadminRan, text: str) -> str | None:
    """Why the output is not all that the command would have printed; None: it is."""
    if body.exit_code is None:
        return f"it had not ended after {body.seconds:g} s"
    return "the command failed" if _FAILED.search(text) else None
