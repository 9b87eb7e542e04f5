"""The cells, and the pairs of cells that differ in exactly one thing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.natural import natural

DIMENSIONS: tuple[str, ...] = ("client", "rocketmq", "cluster", "timing")
"""In what two cells of a scenario can differ. Who differs in `rocketmq` has other clients, too, where these are of
the brokers' version."""
BROKER = "broker"
"""One more: the brokers' version alone, below clients of the same versions."""


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
        name = "rocketmq" if self.dimension == BROKER else self.dimension
        return getattr(self.first, name), getattr(self.second, name)

    @property
    def alike(self) -> str:
        """In what they don't, the scenario apart: `5.5.0 embedded compressed`."""
        if self.dimension == BROKER:
            return f"{self.first.exact_client} {self.first.cluster} {self.first.timing}"
        return " ".join(getattr(self.first, name) for name in DIMENSIONS if name != self.dimension)


def pairs(cells: Iterable[Cell]) -> Iterator[Pair]:
    """Every pair, the older version first, otherwise in the order of the alphabet."""
    known = sorted(set(cells), key=_in_order)
    for dimension in DIMENSIONS:
        for first, second in _alike(known, [cell._replace(**{dimension: ""}) for cell in known]):
            yield Pair(first, second, dimension)
    by_broker = sorted(known, key=lambda item: _in_order(item._replace(client="")))
    exact = [item._replace(client=item.exact_client, rocketmq="") for item in by_broker]
    for first, second in _alike(by_broker, exact):
        # Those that are called alike differ in `rocketmq`, and stand there.
        if first.client != second.client:
            yield Pair(first, second, BROKER)


def _alike(cells: Sequence[Cell], but_for: Sequence[Cell]) -> Iterator[tuple[Cell, Cell]]:
    groups: dict[Cell, list[Cell]] = defaultdict(list)
    for cell, rest in zip(cells, but_for, strict=True):
        groups[rest].append(cell)
    for group in groups.values():
        yield from combinations(group, 2)


def _in_order(cell: Cell) -> list[list[tuple[int, int | str]]]:
    return list(map(natural, cell))
