"""The cells of a matrix as a table in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rocketchaos.harness.core.text import seconds_text
from rocketchaos.harness.reporting.parts.cells import (
    CellRuns,
    delivered_told,
    judgement,
    outcome_told,
    subscription_told,
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
    for one in found:
        name, before = "" if one.scenario == before else f"`{one.scenario}`", one.scenario
        columns = (
            *map(cell, (name, one.client, one.rocketmq)),
            f"**{cell(outcome_told(one))}**",
            *map(
                cell, (judgement(one), delivered_told(one), subscription_told(one), seconds_text(one.seconds))
            ),
        )
        lines.append("| " + " | ".join(columns) + " |")
    return "\n".join(lines)
