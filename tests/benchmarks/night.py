"""One whole night, and its findings, each made as small as can be."""

from __future__ import annotations

import json
import shutil

from rocketchaos.harness.nightly.stated import of_night
from rocketchaos.harness.nightly.status import NAME as STATUS_FILE
from rocketchaos.harness.reporting.folder import load_report
from rocketchaos.harness.scenario import load_scenario
from tests.benchmarks.measuring import ROOT, Figure, rocketchaos
from tests.benchmarks.soak import SHOWN
from tests.scenario_size import size

SEED, MINUTES = 7, 20
SHRINK_MINUTES = 3
"""At most for each finding."""
SHRUNK = (0, 3, 4)
"""How `shrink NIGHT` ends: with all, or without those that didn't show again or that couldn't run."""
KEPT = ROOT / "build" / "night"
"""Where the night and what was shrunk of it stay."""


def measure_night(repeats: int, runs: str) -> list[Figure]:
    """The night of docs/benchmarks.md, of the usual profile, and what `shrink` makes of it.

    Args:
        repeats: not used.
        runs: not used: all stays in `KEPT`.
    """
    shutil.rmtree(KEPT, ignore_errors=True)
    night = ("nightly", "--minutes", str(MINUTES), "--seed", str(SEED), "--runs", str(KEPT))
    _, text = rocketchaos(*night, ends=SHOWN)
    print(text)
    scenarios = json.loads((KEPT / STATUS_FILE).read_text())["scenarios"]
    wanted = of_night(KEPT / STATUS_FILE)
    shrink = ("shrink", str(KEPT), "--minutes", str(SHRINK_MINUTES), "--runs", str(KEPT / "shrinking"))
    seconds, text = rocketchaos(*shrink, ends=SHRUNK)
    print(text)
    shrunk = [size(load_scenario(file)) for file in sorted((KEPT / "findings").glob("*.scenario.yaml"))]
    drawn = [size(load_report(item.runs[0]).scenario) for item in wanted]
    return [
        Figure(
            f"`nightly --minutes {MINUTES} --seed {SEED}`: scenarios judged", "", [scenarios["judged"]], ""
        ),
        Figure("of it: ended by an error", "", [scenarios["errors"]], ""),
        Figure("of it: findings, each of another cause", "", [len(wanted)], ""),
        Figure(f"`shrink --minutes {SHRINK_MINUTES}` of them, in all", "s", [seconds], ""),
        Figure("of it: findings that were shrunk", "", [len(shrunk)], str(len(wanted))),
        Figure("members, queues, steps and messages of the scenario that the night drew", "", drawn, ""),
        Figure("of the smallest one that shows it", "", shrunk, ""),
    ]
