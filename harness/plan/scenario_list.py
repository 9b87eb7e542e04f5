"""Scenarios as a list shows them: read in a moment, and not checked.

A list of all scenarios needs a few of their keys. So a file is read by PyYAML's fast parser alone; only where that
fails, or one of these keys is not as usual, the reader that `validate` uses says what is wrong.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rocketchaos.harness.plan.library import scenario_files

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Listed:
    """One scenario."""

    name: str
    title: str
    theme: str
    """The name of its folder."""
    file: str
    expected: str | Mapping[str, Any]
    control: str | None
    timing: str
    marks: tuple[str, ...]
    claims: tuple[str, ...]
    """Those that its checks confirm or refute."""

    @property
    def words(self) -> tuple[str, ...]:
        """The texts that a search looks through."""
        return self.name, self.title, self.theme, *self.claims


def listed(paths: Iterable[Path]) -> list[Listed]:
    """The scenarios in files and folders, by theme and name.

    Raises:
        InvalidScenario: a file can't be understood.
        UsageProblem: a path isn't there, or a folder has no scenario.
    """
    return sorted(map(_read, scenario_files(paths)), key=lambda item: (item.theme, item.name))


def _read(path: Path) -> Listed:
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)
    except (OSError, ValueError, yaml.YAMLError):
        return _read_thoroughly(path)
    return _listed(data, path) if isinstance(data, dict) and _is_usual(data) else _read_thoroughly(path)


def _is_usual(data: Mapping[str, Any]) -> bool:
    """Whether the keys that are shown have values that need no second look."""
    texts = data.get("name"), data.get("title"), data.get("timing", ""), data.get("control", "")
    return all(isinstance(text, str) for text in (*texts, *_marks(data))) and isinstance(
        data.get("expected", ""), str | dict
    )


def _read_thoroughly(path: Path) -> Listed:
    """The same of a scenario that is checked."""
    from rocketchaos.harness.scenario import load_scenario
    from rocketchaos.harness.scenario.load import read_yaml

    scenario = load_scenario(path)
    document, _ = read_yaml(scenario.source, scenario.file)
    return _listed(document.data, path)


def _listed(data: Mapping[str, Any], path: Path) -> Listed:
    return Listed(
        name=data["name"],
        title=" ".join(data["title"].split()),
        theme=path.resolve().parent.name,
        file=str(path),
        expected=data.get("expected", "reproduced"),
        control=data.get("control"),
        timing=data.get("timing", "compressed"),
        marks=tuple(_marks(data)),
        claims=tuple(sorted(set(_claims(data)))),
    )


def _marks(data: Mapping[str, Any]) -> list[Any]:
    marks = data.get("marks", [])
    return marks if isinstance(marks, list) else [marks]


def _claims(data: Any) -> Iterator[str]:
    """The claims that checks name, wherever they stand."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key in ("claim", "refutes") and isinstance(value, str):
                yield value
            else:
                yield from _claims(value)
    elif isinstance(data, list):
        for item in data:
            yield from _claims(item)
