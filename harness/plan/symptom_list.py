"""The symptoms that come with rocketchaos: what people report, each with the scenario that shows it.

As with `scenario_list`, a file is read by PyYAML's fast parser alone: the shipped ones are checked by tests.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from rocketchaos.harness.language.symptom import SEEN
from rocketchaos.harness.plan.library import scenarios_folder, shipped
from rocketchaos.harness.rocketmq.versions import ascending

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MEASURED = "measured.json"
"""What runs showed, by scenario and version; `rocketchaos symptoms --table RUNS --json` makes it."""
REPRODUCED, NOT_REPRODUCED = "reproduced", "not-reproduced"
Measured = Mapping[str, Mapping[str, Mapping[str, int]]]
"""How often which outcome, by scenario and version."""


@dataclass(frozen=True, eq=False)
class ListedSymptom:
    """One symptom."""

    name: str
    """Its scenario."""
    title: str
    issues: tuple[str, ...]
    seen: tuple[str, ...]
    reported: str
    texts: tuple[str, ...]
    cause: str
    remedy: str
    not_reproduced: str
    """What was tried, where no version shows it; otherwise empty."""
    control: str | None
    runs: Mapping[str, Mapping[str, int]]
    """How often which outcome, by version."""

    @cached_property
    def versions(self) -> tuple[str, ...]:
        """The versions on which a run said yes or no, the oldest first."""
        said = (version for version, ends in self.runs.items() if {REPRODUCED, NOT_REPRODUCED} & ends.keys())
        return tuple(ascending(said))

    @property
    def shown_on(self) -> tuple[str, ...]:
        """The versions on which a run reproduced it."""
        return tuple(version for version in self.versions if self.runs[version].get(REPRODUCED))

    @property
    def absent_on(self) -> tuple[str, ...]:
        """The versions on which no run did."""
        return tuple(version for version in self.versions if version not in self.shown_on)

    @property
    def fixed_in(self) -> str:
        """The first measured version without it after the last one with it; empty if there is none."""
        shown = self.shown_on
        ends = [
            later
            for earlier, later in pairwise(self.versions)
            if earlier in shown[-1:] and later in self.absent_on
        ]
        return ends[0] if ends else ""

    @property
    def reproduce(self) -> str:
        """The command that reproduces it, on the newest version that is known to show it."""
        version = f" --rocketmq {self.shown_on[-1]}" if self.shown_on and self.absent_on else ""
        return f"rocketchaos reproduce {self.name}{version}"


def shipped_symptoms(measured: Measured | None = None) -> list[ListedSymptom]:
    """Every shipped scenario that is of a symptom, in the order of `SEEN`, then by name.

    Args:
        measured: what runs showed of them; by default what comes with rocketchaos.
    """
    measured = shipped_measured() if measured is None else measured
    found = [symptom_of(document, measured) for document in _documents()]
    order = list(SEEN)
    return sorted(found, key=lambda symptom: (order.index(symptom.seen[0]), symptom.name))


@cache
def _documents() -> Sequence[Mapping[str, Any]]:
    """The shipped scenarios that are of a symptom."""
    texts = (path.read_text(encoding="utf-8") for path in shipped().values())
    return [yaml.load(text, Loader=_LOADER) for text in texts if "\nsymptom:" in text]


def symptom_of(data: Mapping[str, Any], measured: Measured) -> ListedSymptom:
    """The symptom of a scenario's document."""
    symptom = data["symptom"]
    return ListedSymptom(
        name=data["name"],
        title=_line(data["title"]),
        issues=_several(data["issue"]),
        seen=_several(symptom["seen"]),
        reported=_line(symptom["reported"]),
        texts=_several(symptom["texts"]),
        cause=_line(symptom["cause"]),
        remedy=_line(symptom["remedy"]),
        not_reproduced=_line(symptom.get("not_reproduced", "")),
        control=data.get("control"),
        runs=measured.get(data["name"], {}),
    )


def shipped_measured() -> Measured:
    """What runs showed of the shipped symptoms; empty if nothing is kept."""
    file = scenarios_folder() / "symptoms" / MEASURED
    return measured_in(file) if file.is_file() else {}


def measured_in(file: Path) -> Measured:
    """The data of its file."""
    measured: Measured = json.loads(file.read_text(encoding="utf-8"))["runs"]
    return measured


def _several(value: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(map(_line, [value] if isinstance(value, str) else value))


def _line(text: str) -> str:
    return " ".join(text.split())
