"""How long the library of symptoms takes on a version, and a bisect over all versions."""

from __future__ import annotations

import json
import random

from rocketchaos.harness.plan.options import DEFAULT_VERSION
from rocketchaos.harness.plan.selection import load_all
from tests.benchmarks.measuring import ROOT, Figure, rocketchaos

SYMPTOMS = str(ROOT / "scenarios" / "symptoms")
BISECTED = "retries-filtered-by-sql"
"""The scenario of claim E14, which a version has changed."""
MEASURED = (0, 1, 3)
"""All ran, whatever they showed: the time is the same."""


def forty() -> list[str]:
    """The files of 40 symptoms and of their controls: the same ones each time, drawn at random."""
    library = {item.name: item for item in load_all([ROOT / "scenarios"])}
    any_version = [item for item in library.values() if item.symptom and item.control and not item.rocketmq]
    drawn = random.Random(0).sample(any_version, 40)
    names = dict.fromkeys(name for item in drawn for name in (item.name, item.control))
    return [str(library[str(name)].file) for name in names]


def measure_forty(repeats: int, runs: str) -> list[Figure]:
    """40 symptoms with their controls: the size of a library for which the aim was set."""
    del repeats  # once: it is many runs already
    files = forty()
    seconds, printed = rocketchaos(
        "run", *files, "--rocketmq", DEFAULT_VERSION, "--json", "--runs", runs, ends=MEASURED
    )
    made = json.loads(printed)["runs"]
    name = f"40 symptoms and their controls, drawn at random, {len(made)} runs"
    return [Figure(name, "s", [seconds], "≤ 360 s")]


def measure_symptoms(repeats: int, runs: str) -> list[Figure]:
    """From the command to the last outcome, clusters' start included; the library once: it is many runs already.

    Args:
        repeats: of the bisect.
        runs: where run folders go.
    """
    library = ("run", SYMPTOMS, "--rocketmq", DEFAULT_VERSION, "--json", "--runs", runs)
    seconds, printed = rocketchaos(*library, ends=MEASURED)
    made = json.loads(printed)["runs"]
    for run in made:
        if run["trouble"] is not None or run["outcome"] != run["expected"] != "measured":
            print(f"{run['scenario']}: {run['outcome']}: {run['reason']}")
    bisect = ("bisect", BISECTED, "--json", "--runs", runs)
    rocketchaos(*bisect, ends=MEASURED)  # downloads what is missing
    took = [rocketchaos(*bisect, ends=MEASURED)[0] for _ in range(max(1, repeats // 3))]
    name = f"`run scenarios/symptoms --rocketmq {DEFAULT_VERSION}`, {len(made)} runs"
    return [
        Figure(name, "s", [seconds], "≤ 360 s"),
        Figure("of it: for each run", "s", [seconds / len(made)], ""),
        Figure(
            "of it: a run's own time", "s", [run["seconds"] for run in made if run["seconds"] is not None], ""
        ),
        Figure(f"`bisect {BISECTED}` over all versions, warm caches", "s", took, "≤ 90 s"),
    ]
