"""How long the claims of a version take: the fast ones, and those that wait for RocketMQ's own timers."""

from __future__ import annotations

from pathlib import Path

from rocketchaos.harness.claims.registry import VERSIONS
from rocketchaos.harness.plan.options import DEFAULT_VERSION
from tests.benchmarks.measuring import Figure, rocketchaos

AIMS = {"fast": "≤ 600 s", "slow": "≤ 1800 s"}
SHOWN = (0, 1, 3)
"""Verdicts were told, whatever they are: the time is the same."""
NOT_AS_EXPECTED = "not as expected: "
"""How such a line begins that `claims run` prints."""


def measure_claims(repeats: int, runs: str) -> list[Figure]:
    """From the command to the verdicts, on the usual version and the newest, once each: each is many runs already.

    Args:
        repeats: not used.
        runs: where run folders go.
    """
    figures = []
    for version in (DEFAULT_VERSION, VERSIONS[-1]):
        for speed, aim in AIMS.items():
            folder = Path(runs) / version / speed
            arguments = ("claims", "run", "--rocketmq", version, f"--{speed}", "--runs", str(folder))
            seconds, printed = rocketchaos(*arguments, ends=SHOWN)
            number = len(list(folder.glob("*/[0-9]*/run.json")))
            text = f"`claims run --rocketmq {version} --{speed}`, {number} runs"
            figures.append(Figure(text, "s", [seconds], aim))
            changed = [line for line in printed.splitlines() if line.startswith(NOT_AS_EXPECTED)]
            print("\n".join(changed))
            figures.append(Figure("of it: verdicts that are not the expected ones", "", [len(changed)], "0"))
    return figures
