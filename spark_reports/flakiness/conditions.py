"""Which measured conditions correlate with the outcome, by scenario."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.flakiness.assess import LEVEL, SEED
from rocketchaos.spark_reports.flakiness.read import ConditionBin
from rocketchaos.spark_reports.statistics.multiple import holm
from rocketchaos.spark_reports.statistics.superiority import Stratum, Superiority, superiorities

BINS = 20
GROUPS = 5
"""Groups in the figure: from the lowest fifth of the runs of each cell to the highest."""


@dataclass(frozen=True, slots=True)
class Fifth:
    """Runs in one fifth of their cells by a condition."""

    runs: int
    hits: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a scenario's runs."""

    scenario: str
    name: str
    effect: Superiority
    p: float
    """Adjusted by Holm over all conditions of all scenarios."""
    fifths: Mapping[int, Fifth]

    @property
    def sure(self) -> bool:
        """Whether the correlation is more than chance."""
        return self.p <= LEVEL


def conditions(bins: Mapping[Cell, Sequence[ConditionBin]]) -> list[Condition]:
    """Every condition that can be compared, the most significant first."""
    grouped: dict[tuple[str, str], dict[Cell, list[ConditionBin]]] = defaultdict(lambda: defaultdict(list))
    for key, rows in bins.items():
        for row in rows:
            grouped[key.scenario, row.name][key].append(row)
    rng = np.random.default_rng(SEED)
    strata = {
        place: [_stratum(rows) for rows in cells.values()]
        for place, cells in grouped.items()
        # A value that never differs within a cell can't correlate with the outcome.
        if any(len(rows) > 1 for rows in cells.values())
    }
    effects = superiorities(list(strata.values()), rng, LEVEL)
    known = {place: effect for place, effect in zip(strata, effects, strict=True) if effect is not None}
    adjusted = holm([effect.p for effect in known.values()])
    found = [
        Condition(scenario, name, effect, p, _fifths(grouped[scenario, name]))
        for ((scenario, name), effect), p in zip(known.items(), adjusted, strict=True)
    ]
    return sorted(found, key=lambda item: (item.p, -abs(item.effect.auc - 0.5), item.scenario, item.name))


def _stratum(rows: Sequence[ConditionBin]) -> Stratum:
    ordered = sorted(rows, key=lambda row: row.bin)
    return Stratum(tuple(row.runs - row.hits for row in ordered), tuple(row.hits for row in ordered))


def _fifths(cells: Mapping[Cell, Sequence[ConditionBin]]) -> Mapping[int, Fifth]:
    rows, fifths = [row for own in cells.values() for row in own], {}
    for number in range(GROUPS):
        own = [row for row in rows if row.bin * GROUPS // BINS == number]
        if own:
            fifths[number] = Fifth(
                sum(row.runs for row in own),
                sum(row.hits for row in own),
                min(row.low for row in own),
                max(row.high for row in own),
            )
    return fifths
