"""How long the claims of one version take: the fast ones, and those that wait for RocketMQ's own timers."""

from __future__ import annotations

from pathlib import Path

from harness.campaign import DEFAULT_VERSION
from tests.benchmarks.measuring import Figure, rocketchaos

AIMS = {"fast": "≤ 600 s", "slow": "≤ 1800 s"}
SHOWN = (0, 1, 3)
"""Verdicts were told, whatever they are: the time is the same."""


def measure_claims(repeats: int, runs: str) -> list[Figure]:
    """From the command to the verdicts, once each: a series is many runs already.

    Args:
        repeats: not used.
        runs: where run folders go.
    """
    figures = []
    for speed, aim in AIMS.items():
        folder = Path(runs) / speed
        arguments = ("claims", "run", "--rocketmq", DEFAULT_VERSION, f"--{speed}", "--runs", str(folder))
        seconds, _ = rocketchaos(*arguments, ends=SHOWN)
        number = len(list(folder.glob("*/[0-9]*/run.json")))
        figures.append(Figure(f"`claims run --{speed}`, {number} runs", "s", [seconds], aim))
    return figures
