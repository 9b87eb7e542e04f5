"""A run that is driven from Python, as a scenario file with the same content. The file grows with each step and
check."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import yaml

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.language.words import Word
from rocketchaos.harness.scenario import InvalidScenario
from rocketchaos.harness.scenario.growing import GrowingScenario
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps.observe import Observe
from rocketchaos.harness.steps.start import Start

_DESCRIPTION = (
    "Recorded from Python. Reproduced: every check there holds. Not reproduced: one was seen not to hold."
)
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class _Entry:
    """A step or a check."""

    data: dict[str, Any]
    line: str

    @classmethod
    def of(cls, word: str, value: Any) -> _Entry:
        return cls({word: value}, f"  - {word}: {_flow(value)}")


class RecordedScenario:
    """All declarations, steps and checks so far. Every addition is validated as in a file, so that the file can be
    judged and run again. Once a consumer has started, only the addition is validated and written: the file is read
    again only if something is wrong with it.
    """

    def __init__(self, name: str, title: str) -> None:
        self.name = scenario_name(name)
        self._head: dict[str, Any] = {"name": self.name, "title": title, "description": _DESCRIPTION}
        self._declared: dict[str, dict[str, Any]] = {"topics": {}, "consumers": {}}
        self._steps: list[_Entry] = []
        self._checks: list[_Entry] = []
        self._growing: GrowingScenario | None = None
        """None before the declarations and the first `start` are complete."""
        self._head_lines: list[str] | None = None

    def set(self, key: str, value: Any) -> None:
        """A key of the scenario itself: `timing`, `cluster`."""
        self._head[key] = plain(value)
        self._growing = self._head_lines = None

    def declare(self, section: str, name: str, fields: Mapping[str, Any]) -> None:
        """A topic or a consumer; it is validated with the first step."""
        self._declared[section][str(name)] = plain(fields)
        self._growing = self._head_lines = None

    def add_step(self, word: str, value: Any) -> Scenario:
        """One more step; the scenario up to it.

        Raises:
            InvalidScenario: it can't be meant so; nothing is added.
        """
        return self._add([_Entry.of(word, plain(value))], [])

    def add_check(self, word: str, value: Mapping[str, Any]) -> Scenario:
        """One more check, preceded by an observation unless it names one; the scenario up to it.

        Raises:
            InvalidScenario: it can't be meant so; nothing is added.
        """
        fields = dict(plain(value))
        if "at" in fields:
            return self._add([], [_Entry.of(word, fields)])
        moment = f"check-{len(self._checks) + 1}"
        return self._add([_Entry.of(Observe.word, moment)], [_Entry.of(word, {**fields, "at": moment})])

    @property
    def step_count(self) -> int:
        """Steps so far."""
        return len(self._steps)

    @property
    def checks_something(self) -> bool:
        """Whether there is any check."""
        return bool(self._checks)

    def _add(self, steps: list[_Entry], checks: list[_Entry]) -> Scenario:
        before = self._steps, self._checks
        self._steps, self._checks = [*self._steps, *steps], [*self._checks, *checks]
        try:
            return self._validated()
        except InvalidScenario:
            self._steps, self._checks = before
            raise

    def _validated(self) -> Scenario:
        steps = self._steps_to_validate()
        text, entries = self._text(steps), self._entries(steps)
        sections = {section: [item.data for item in within] for section, within in entries.items()}
        if self._growing is None or not self._growing.grow(text, sections):
            read = GrowingScenario(text, f"{self.name} (recorded)")
            if steps is not self._steps:
                return read.scenario
            self._growing = read
        return self._growing.scenario

    def text(self) -> str:
        """The file."""
        return self._text(self._steps)

    def _steps_to_validate(self) -> list[_Entry]:
        """The steps, with one that starts a consumer if none does yet: a file without any is refused."""
        consumers = list(self._declared["consumers"])
        if self._growing or not consumers or _has_key([step.data for step in self._steps], Start.word):
            return self._steps
        return [*self._steps, _Entry.of(Start.word, consumers[0])]

    def _entries(self, steps: list[_Entry]) -> dict[str, list[_Entry]]:
        return {"steps": steps, "anomaly": self._checks or [_NOTHING], "healthy": [_NOTHING]}

    def _text(self, steps: list[_Entry]) -> str:
        if self._head_lines is None:
            self._head_lines = list(self._rendered_head())
        lines = list(self._head_lines)
        for section, entries in self._entries(steps).items():
            lines += [f"{section}:", *(entry.line for entry in entries)]
        return "\n".join([*lines, ""])

    def _rendered_head(self) -> Iterator[str]:
        for key, value in self._head.items():
            yield f"{key}: {_flow(value)}"
        for section, entries in self._declared.items():
            yield f"{section}:" if entries else f"{section}: {{}}"
            for name, fields in entries.items():
                yield f"  {_flow(name)}: {_flow(fields)}"


def _has_key(value: Any, key: str) -> bool:
    """Whether any mapping in the value has the key."""
    if isinstance(value, dict):
        return key in value or any(_has_key(inner, key) for inner in value.values())
    return isinstance(value, list) and any(_has_key(inner, key) for inner in value)


def scenario_name(text: str) -> str:
    """A scenario's name from a test's: `test_mismatch[4.9.4]` becomes `test-mismatch-4-9-4`."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST_NAME].strip("-") or "recorded"


def value_of(model: type[Word], arguments: tuple[Any, ...], fields: Mapping[str, Any]) -> Any:
    """The data of a call with these arguments, as a file would have it.

    Raises:
        UsageProblem: the word takes named fields only.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    if not arguments:
        return given
    if model.shorthand is None:
        names = ", ".join(field.alias or name for name, field in model.model_fields.items())
        raise UsageProblem(f"`{model.word}` takes its fields by name", f"They are {names}.")
    bare = arguments[0] if len(arguments) == 1 else list(arguments)
    return {model.shorthand: bare, **given} if given else bare


def plain(value: Any) -> Any:
    """The value in YAML's own types.

    Raises:
        UsageProblem: a scenario file can't express it.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str | PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    raise UsageProblem(
        f"{value!r} can't be written in a scenario",
        "Its values are text, numbers, true and false, and lists and mappings of them.",
    )


def _flow(value: Any) -> str:
    """The value on one line."""
    text: str = yaml.safe_dump(
        [value], default_flow_style=True, allow_unicode=True, sort_keys=False, width=2**31
    )
    return text.strip()[1:-1]


_NOTHING = _Entry.of("refuted", "anomaly")
"""A list of checks without the run's own."""
