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
            name,
            one.client,
            one.rocketmq,
            f"**{outcome_told(one)}**",
            judgement(one),
            delivered_told(one),
            subscription_told(one),
            seconds_text(one.seconds),
        )
        lines.append("| " + " | ".join(_shown(column) for column in columns) + " |")
    return "\n".join(lines)


def _shown(text: str) -> str:
    bold = text.startswith("**") and text.endswith("**") and len(text) > 4
    return f"**{cell(text[2:-2])}**" if bold else cell(text)
