"""The experiment of eight messages, a thousand times, and as often its control."""

from __future__ import annotations

import json

from tests.benchmarks.measuring import ROOT, Figure, rocketchaos

REPEATS = 1000
SCENARIOS = ("same-group-different-tags", "same-group-same-tags")


def measure_experiment(repeats: int, runs: str) -> list[Figure]:
    """From the command to the last verdict, and how many runs ended as expected.

    Args:
        repeats: not used.
        runs: where run folders go.
    """
    figures = []
    for name in SCENARIOS:
        scenario = ROOT / "scenarios" / "tags" / f"{name}.scenario.yaml"
        arguments = ("reproduce", str(scenario), "--repeat", str(REPEATS), "--json", "--runs", runs)
        seconds, printed = rocketchaos(*arguments, ends=(0, 1, 3, 4))
        text = json.loads(printed)["runs"]
        attempts = [run["attempts"] for run in text]
        expected = sum(run["as_expected"] for run in text)
        figures += [
            Figure(f"`{name}`, {REPEATS:,} runs", "s", [seconds], "≤ 600 s, better 300 s"),
            Figure("of it: ended as expected", "", [expected], f"{REPEATS:,}"),
            Figure("of it: attempts beyond the first", "", [sum(attempts) - len(attempts)], "0"),
            Figure("of it: a run's own time", "s", [run["seconds"] for run in text], ""),
        ]
    return figures
