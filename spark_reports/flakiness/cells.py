"""A cell: what is compared with nothing but itself, how its runs ended, and what that makes it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from rocketchaos.harness.core.intervals import wilson_interval
from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.statistics.score import CERTAIN, STEADY_RATE, alike_runs_needed, chance_above

ALIKE_RUNS = alike_runs_needed()
"""This many runs without exception make a verdict certain."""

_DRAWN = re.compile(r"nightly-\d+-\d+")


class Verdict(StrEnum):
    """The verdict on a cell, by its runs with an expectation that ended by the product's behaviour."""

    FAIL = "FAIL"
    FLAKY = "FLAKY"
    LIKELY_FAIL = "FAIL?"
    UNKNOWN = "UNKNOWN"
    LIKELY_PASS = "PASS?"
    PASS = "PASS"
    MEASURED = "MEASURED"


@dataclass(frozen=True, slots=True)
class Counts:
    """How the runs of a cell ended: a row of `flakiness_cells`."""

    runs: int
    product: int
    reproduced: int
    not_reproduced: int
    inconclusive: int
    environment_errors: int
    harness_errors: int
    broken_off: int
    judged: int
    as_expected: int
    expecting: int
    unplaced: int
    hosts: int
    first_started: datetime | None
    last_started: datetime | None
    owner: str | None = None

    @property
    def errors(self) -> int:
        """Runs that say nothing of the product."""
        return self.runs - self.product


def is_drawn(scenario: str) -> bool:
    """Whether `rocketchaos nightly` drew it (see `harness.nightly.generator`): hardly any other run has it."""
    return _DRAWN.fullmatch(scenario) is not None


def judge(hits: int, runs: int) -> Verdict:
    """The verdict over judged runs.

    Both ends seen is FLAKY: that is a fact, and needs no test. That only one was seen proves little until there
    are enough of them: before, the verdict has a question mark.
    """
    if runs == 0:
        return Verdict.UNKNOWN
    if 0 < hits < runs:
        return Verdict.FLAKY
    certain = chance_above(STEADY_RATE, runs, runs) >= CERTAIN
    if hits:
        return Verdict.PASS if certain else Verdict.LIKELY_PASS
    return Verdict.FAIL if certain else Verdict.LIKELY_FAIL


def verdict_of(counts: Counts) -> Verdict:
    """The verdict of a cell; where nothing is expected it is only measured."""
    if counts.judged == 0 and counts.expecting == 0 and counts.product:
        return Verdict.MEASURED
    return judge(counts.as_expected, counts.judged)


def more_runs(hits: int, runs: int) -> int:
    """How many more runs, all ending alike, would make the verdict certain; 0 where it is."""
    return max(0, ALIKE_RUNS - runs) if hits in (0, runs) else 0


def share(hits: int, runs: int) -> tuple[float, float, float] | None:
    """The share with its 95 % interval by Wilson; None: there are no runs."""
    return (hits / runs, *wilson_interval(hits, runs)) if runs else None


class Names:
    """The names of cells: from the fields that differ, and always scenario, client and version."""

    def __init__(self, keys: Iterable[Cell]) -> None:
        known = list(keys)
        self._cluster = len({key.cluster for key in known}) > 1
        self._timing = len({key.timing for key in known}) > 1

    def column(self, key: Cell) -> tuple[str, ...]:
        """All fields except the scenario, part by part."""
        more = [key.cluster] * self._cluster + [key.timing] * self._timing
        return (key.client, key.rocketmq, *more)

    def label(self, key: Cell) -> str:
        """In one line: `same-group-different-tags java 5.5.0`."""
        return " ".join((key.scenario, *self.column(key)))
