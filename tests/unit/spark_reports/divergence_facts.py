"""What Spark would have counted, from runs told one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rocketchaos.harness.core.model import MessageClass
from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.divergence.read import Ending, Facts, fates
from rocketchaos.spark_reports.divergence.witnesses import QUESTIONS

Run = Mapping[str, int]
"""Kind of message: so many; `outcome` and the like are `Ended`'s."""


def cell(client: str = "java", rocketmq: str = "5.5.0", scenario: str = "tags") -> Cell:
    return Cell(scenario, client, rocketmq, "embedded", "compressed")


def class_rows(where: Cell, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The rows of `divergence_classes`."""
    kinds = [*MessageClass, *QUESTIONS, *sorted({question.asked for question in QUESTIONS.values()})]
    counts = Counter(
        (kind.replace("-", "_"), run.get(kind, 0), sum(run.get(item, 0) for item in MessageClass))
        for run in runs
        for kind in map(str, kinds)
    )
    rows = [
        {**where._asdict(), "kind": kind, "number": str(number), "messages": messages, "runs": runs}
        for (kind, number, messages), runs in counts.items()
    ]
    return [*rows, {**where._asdict(), "kind": "classes", "example": f"file:///runs/{where.client}"}]


def ended(
    outcome: str, runs: int, expected: str | None = None, fits: bool | None = None, trouble: str | None = None
) -> Ending:
    return Ending(outcome, expected, fits, trouble, runs, f"file:///runs/{outcome}", "because")


def facts(
    cells: Mapping[Cell, Sequence[Run]], endings: Mapping[Cell, Sequence[Ending]] | None = None
) -> Facts:
    """Every run ends `reproduced` where nothing else is said."""
    rows = [row for where, runs in cells.items() for row in class_rows(where, runs)]
    ends = {where: [ended("reproduced", len(runs))] for where, runs in cells.items()}
    return Facts(fates(rows), {**ends, **(endings or {})}, [], [], [])
