"""What is compared: cells, and pairs of them that differ in exactly one thing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

DIMENSIONS: tuple[str, ...] = ("client", "rocketmq", "cluster", "timing")
"""In what two cells of a scenario can differ."""

_DIGITS = re.compile(r"(\d+)")


class Cell(NamedTuple):
    """The columns of `spark_reports.tables.CELL`."""

    scenario: str
    client: str
    rocketmq: str
    cluster: str
    timing: str

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Cell:
        """The cell of a row; what its run folders don't tell is `unknown`."""
        return cls(*(row[column] or "unknown" for column in cls._fields))

    @property
    def label(self) -> str:
        """All but the scenario."""
        return " ".join(self[1:])


class Pair(NamedTuple):
    """Two cells that differ in one dimension alone."""

    first: Cell
    second: Cell
    dimension: str

    def turned(self) -> Pair:
        """The same the other way round."""
        return Pair(self.second, self.first, self.dimension)

    @property
    def values(self) -> tuple[str, str]:
        """In what they differ."""
        return getattr(self.first, self.dimension), getattr(self.second, self.dimension)

    @property
    def alike(self) -> str:
        """In what they don't, the scenario apart: `5.5.0 embedded compressed`."""
        return " ".join(getattr(self.first, name) for name in DIMENSIONS if name != self.dimension)


def pairs(cells: Iterable[Cell]) -> Iterator[Pair]:
    """Every pair, the older version first, otherwise in the order of the alphabet."""
    known = sorted(set(cells), key=_in_order)
    for dimension in DIMENSIONS:
        groups: dict[Cell, list[Cell]] = defaultdict(list)
        for cell in known:
            groups[cell._replace(**{dimension: ""})].append(cell)
        for group in groups.values():
            for first, second in combinations(group, 2):
                yield Pair(first, second, dimension)


def _in_order(cell: Cell) -> list[list[tuple[int, int | str]]]:
    """Numbers by their size: 5.10.0 is newer than 5.3.3."""
    return [
        [(0, int(part)) if part.isdigit() else (1, part) for part in _DIGITS.split(value) if part]
        for value in cell
    ]
