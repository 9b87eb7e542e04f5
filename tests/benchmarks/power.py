"""Short nights from several seeds: whether each finds what is known to be there, and how soon."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks.measuring import Figure, rocketchaos
from tests.benchmarks.soak import SHOWN

SEEDS = (7, 8, 9)
MINUTES = 5
"""A quarter of what a night has by default: what must be found is found long before its end."""
WANTED: Mapping[str, str] = {
    "messages that a queue's owner drops": "wanted-but-not-delivered-filtered-by-client",
    "messages that the stored subscription passes over": "wanted-but-not-delivered-filtered-by-broker",
    "`subscription not exist`, on and on": "refused-on-and-on-not-exist",
    "cross delivery through the retry topic": "cross-delivery-retry",
}
"""How the codes begin of what every seed is to find."""


def measure_power(repeats: int, runs: str) -> list[Figure]:
    """One night for each seed, of the usual profile.

    Args:
        repeats: not used.
        runs: where run folders go.
    """
    judged: list[float] = []
    signatures: list[float] = []
    found_s: dict[str, list[float]] = {name: [] for name in WANTED}
    for seed in SEEDS:
        folder = Path(runs) / str(seed)
        began = time.time()
        rocketchaos(
            *("nightly", "--minutes", str(MINUTES), "--seed", str(seed), "--runs", str(folder)), ends=SHOWN
        )
        status = json.loads((folder / "nightly-status.json").read_text())
        judged.append(status["scenarios"]["judged"])
        signatures.append(len(status["findings"]))
        for name, begins in WANTED.items():
            found_s[name].append(_first_s(status, begins, began))
    nights = f"`nightly --minutes {MINUTES}`, seeds {', '.join(map(str, SEEDS))}"
    return [
        Figure(f"{nights}: scenarios judged", "", judged, ""),
        Figure("of it: findings, each of another cause", "", signatures, ""),
        *(
            Figure(f"first seen after: {name}", "s", seconds, f"≤ {MINUTES * 60} s")
            for name, seconds in found_s.items()
        ),
    ]


def _first_s(status: Mapping[str, Any], begins: str, began: float) -> float:
    """Seconds from the beginning of the night to the end of the first run that shows it; infinite: none does."""
    ends = [
        (Path(shown["run"]) / "outcome.json").stat().st_mtime - began
        for found in status["findings"]
        if found["code"].startswith(begins)
        for shown in found["shown_by"]
    ]
    return min(ends, default=math.inf)
