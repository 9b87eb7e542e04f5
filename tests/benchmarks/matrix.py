"""How long a matrix takes: four scenarios with every client on two versions, on one cluster for each version."""

from __future__ import annotations

import json

from tests.benchmarks.measuring import ROOT, Figure, rocketchaos

SCENARIOS = (
    "same-group-different-tags",
    "same-group-same-tags",
    "mixed-tags-a-quarter-arrives",
    "mixed-tags-both-take-both",
)
DIMENSIONS = ("clients=java,python,grpc", "rocketmq=4.9.4,5.5.0")


def measure_matrix(repeats: int, runs: str) -> list[Figure]:
    """From the command to the table; what can't be (gRPC on 4.9.4) is left out."""
    files = [str(ROOT / "scenarios" / "tags" / f"{name}.scenario.yaml") for name in SCENARIOS]
    arguments = ("run", *files, "--matrix", *DIMENSIONS, "--json", "--runs", runs)
    took, cells, own = [], 0, []
    for _ in range(max(1, repeats // 2)):
        seconds, printed = rocketchaos(*arguments)
        took.append(seconds)
        made = json.loads(printed)["runs"]
        cells = len(made)
        own += [run["seconds"] for run in made]
    return [
        Figure(f"{len(SCENARIOS)} scenarios x 3 clients x 2 versions, {cells} cells", "s", took, "≤ 300 s"),
        Figure("of it: a cell's own time", "s", own, ""),
    ]
