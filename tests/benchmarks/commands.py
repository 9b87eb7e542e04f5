"""How long commands take that start nothing, and what of it is only Python itself.

Each is measured in turn with `python -c pass`, so that the machine is as busy for both, and its multiple is told.
"""

from __future__ import annotations

import subprocess
import sys
import time

from tests.benchmarks.measuring import ROOT, Figure, rocketchaos

SCENARIO = ROOT / "scenarios" / "tags" / "same-group-different-tags.scenario.yaml"
COMMANDS = {
    ("--version",): "≤ 0.2 s",
    ("--help",): "≤ 0.2 s",
    ("validate", str(SCENARIO)): "≤ 0.4 s",
    ("list",): "≤ 1 s",
}


def measure_commands(repeats: int, _runs: str) -> list[Figure]:
    """Seconds of each, and its multiple of `python -c pass`."""
    bare: list[float] = []
    took: dict[tuple[str, ...], list[float]] = {command: [] for command in COMMANDS}
    times: dict[tuple[str, ...], list[float]] = {command: [] for command in COMMANDS}
    for command in COMMANDS:
        rocketchaos(*command)  # compiles what isn't yet
    for _ in range(repeats):
        for command in COMMANDS:
            bare.append(_bare())
            took[command].append(rocketchaos(*command)[0])
            times[command].append(took[command][-1] / bare[-1])
    figures = [Figure("`python -c pass`", "s", bare, "")]
    for command, aim in COMMANDS.items():
        shown = f"`{command[0]}`" + (" of one file" if len(command) > 1 else "")
        figures.append(Figure(shown, "s", took[command], aim))
        figures.append(Figure("of it: multiple of `python -c pass`", "", times[command], ""))
    return figures


def _bare() -> float:
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.monotonic() - started
