"""The first command that anybody gives, from its start to the verdict: a column for each version."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rocketchaos.harness.clients.resident_tools import ResidentTools
from rocketchaos.harness.cluster.running import running
from rocketchaos.harness.core.looking import look_until
from tests.benchmarks.measuring import ROOT, rocketchaos

SCENARIO = ROOT / "scenarios" / "tags" / "same-group-different-tags.scenario.yaml"
VERSIONS = ("4.9.4", "5.5.0")
COLD, UP, WARM = (
    "`reproduce`, cluster of its own, command to verdict",
    "`up`",
    "`reproduce`, on a cluster that is up, command to verdict",
)
AIMS = {COLD: "≤ 2.8 s, ≤ 5 s", WARM: "≤ 1.8 s, ≤ 2.5 s"}
_TOOLS_LIMIT_S = 15.0
_PROCESSOR = "of it: processor time, of all processes"

Measured = dict[str, dict[str, list[float]]]
"""Seconds of each row, by version."""


def measure_versions(repeats: int, runs: str) -> Measured:
    """Versions in turn, so that whatever else the machine does meets all of them."""
    measured: Measured = {}
    for version in VERSIONS:  # fetches what the cache lacks, and warms the disk's cache
        rocketchaos(*_reproduce(version, runs))
    for _ in range(repeats):
        for version in VERSIONS:
            note = _note(measured, version)
            record = _timed(COLD, note, *_reproduce(version, runs))
            for phase, seconds in record.items():
                note(f"of it: {phase}", seconds)
            _timed(UP, note, "up", "--json", "--rocketmq", version)
            try:
                await_left_processes()
                _timed(WARM, note, *_reproduce(version, runs))
            finally:
                rocketchaos("down")
    return measured


def await_left_processes() -> None:
    """Wait until the tools and spare workers that `up` leaves are ready. Those of older checkouts have none."""

    def ready() -> bool:
        return all(
            ResidentTools(record.tools_socket).answers and not [*record.spares.glob("*.starting")]
            for record in running()
        )

    look_until(ready, bool, _TOOLS_LIMIT_S, 0.05)


def _reproduce(version: str, runs: str) -> Sequence[str]:
    return ("reproduce", str(SCENARIO), "--json", "--runs", runs, "--rocketmq", version)


def _note(measured: Measured, version: str) -> Callable[[str, float], None]:
    def note(row: str, value: float) -> None:
        measured.setdefault(row, {}).setdefault(version, []).append(value)

    return note


def _timed(row: str, note: Callable[[str, float], None], *arguments: str) -> Mapping[str, float]:
    """The phases of its run, if it was one."""
    before = os.times()
    seconds, printed = rocketchaos(*arguments)
    after = os.times()
    note(row, seconds)
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    # Servers that stay up aren't this process's children: theirs isn't known.
    if row != UP:
        note(f"{row}: {_PROCESSOR}", processor)
    runs = json.loads(printed).get("runs") or []
    if row != COLD or not runs:
        return {}
    phases: dict[str, float] = json.loads((Path(runs[0]["run_dir"]) / "run.json").read_text())["phases"]
    return phases


def rows(measured: Measured) -> list[str]:
    """In Markdown: median and range of each version, and the aims."""
    lines = [f"| what | {' | '.join(VERSIONS)} | measurements | aim |", "|---" * (len(VERSIONS) + 3) + "|"]
    for row, by_version in measured.items():
        cells = [cell(by_version.get(version, ()), " s") for version in VERSIONS]
        number = max(len(values) for values in by_version.values())
        name = _PROCESSOR if row.endswith(_PROCESSOR) else row
        lines.append(f"| {name} | {' | '.join(cells)} | {number} | {AIMS.get(row, '')} |")
    return lines


def cell(values: Sequence[float], unit: str) -> str:
    """Median and range."""
    if not values:
        return "–"
    return f"{statistics.median(values):.2f}{unit} ({min(values):.2f} – {max(values):.2f})"
