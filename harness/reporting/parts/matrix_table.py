"""The cells of a matrix as a table in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rocketchaos.harness.core.text import seconds_text
from rocketchaos.harness.reporting.parts.cells import (
    CellRuns,
    delivered_text,
    judgement,
    outcome_text,
    subscription_text,
)
from rocketchaos.harness.reporting.parts.markdown import cell

_HEAD = (
    "| scenario | client | RocketMQ | outcome | expected? | delivered | stored at the end | took |",
    "|---|---|---|---|---|---|---|---:|",
)


def matrix_table(found: Sequence[CellRuns]) -> str:
    """A line a cell; a scenario's name stands in its first one."""
    lines = list(_HEAD)
    before = ""
    for cell_runs in found:
        name, before = "" if cell_runs.scenario == before else f"`{cell_runs.scenario}`", cell_runs.scenario
        columns = (
            *map(cell, (name, cell_runs.client, cell_runs.rocketmq)),
            f"**{cell(outcome_text(cell_runs))}**",
            *map(
                cell,
                (
                    judgement(cell_runs),
                    delivered_text(cell_runs),
                    subscription_text(cell_runs),
                    seconds_text(cell_runs.seconds),
                ),
            ),
        )
        lines.append("| " + " | ".join(columns) + " |")
    return "\n".join(lines)
