"""Which cell of one side is compared with which of the other."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from rocketchaos.spark_reports.cell import Cell


class Pair(NamedTuple):
    """The same experiment on both sides; None: one side has no runs of it."""

    before: Cell | None
    after: Cell | None

    @property
    def cell(self) -> Cell:
        """The later one; if there is none, the earlier one."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def change(self) -> str:
        """The difference in versions, in words: `rocketmq 5.5.0 → 4.9.4`; empty if there is none."""
        if self.before is None or self.after is None:
            return ""
        return ", ".join(
            f"{name} {item} → {other}"
            for name, item, other in zip(Cell._fields, self.before, self.after, strict=True)
            if item != other
        )


def pairs(before: Iterable[Cell], after: Iterable[Cell]) -> list[Pair]:
    """All cells, each with the same one of the other side.

    Where versions were changed there is none: if each side has one version that the other side lacks, of the same
    scenario, kinds of clients, cluster and timing, these two are a pair.
    """
    old, new = set(before), set(after)
    found = [Pair(cell, cell) for cell in old & new]
    left: dict[tuple[str, ...], tuple[list[Cell], list[Cell]]] = defaultdict(lambda: ([], []))
    for side, cells in enumerate((old - new, new - old)):
        for cell in cells:
            left[_experiment(cell)][side].append(cell)
    for gone, come in left.values():
        if len(gone) == len(come) == 1:
            found.append(Pair(gone[0], come[0]))
        else:
            found += [Pair(cell, None) for cell in gone]
            found += [Pair(None, cell) for cell in come]
    return sorted(found, key=lambda pair: pair.cell)


def _experiment(cell: Cell) -> tuple[str, ...]:
    """All fields except the versions."""
    kinds = "+".join(item.split(" ")[0] for item in cell.client.split("+"))
    return cell.scenario, kinds, cell.cluster, cell.timing
