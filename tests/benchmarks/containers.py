"""Containers beside processes, measured in turn in one run: the start of a cluster, and the scenarios on it."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.containers.container_engine import connect
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.engine.cluster_choice import Making
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.plan.options import DEFAULT_VERSION
from rocketchaos.harness.reaper.reaper import new_owner
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from rocketchaos.harness.workers.processes import Processes
from tests.benchmarks.measuring import ROOT, Figure, rocketchaos

THEMES = ("tags", "filter", "pull")


def measure_containers(repeats: int, runs: str) -> list[Figure]:
    """Nothing, with a reason, where no engine answers."""
    try:
        connect()
    except EnvironmentNotReady as refusal:
        print(f"containers are left out: {refusal.message}")
        return []
    starts: dict[ClusterKind, list[float]] = {kind: [] for kind in ClusterKind}
    with Processes(COMPRESSED, lambda _text: None) as processes:
        for number in range(repeats + 1):
            for kind in ClusterKind:
                seconds = start_once(kind, processes)
                if number:  # the first one warms the disk's cache
                    starts[kind].append(seconds)
    scenarios: dict[ClusterKind, list[float]] = {kind: [] for kind in ClusterKind}
    with up(ClusterKind.EMBEDDED), up(ClusterKind.CONTAINERS):
        for _ in range(max(1, repeats // 3)):
            for kind in ClusterKind:
                scenarios[kind].append(run_all(kind, runs))
    return [
        *compared("name server and broker, start to ready", starts, "≤ 2"),
        *compared(
            "the scenarios of three themes on a cluster that is up, each by itself, in all",
            scenarios,
            "≤ 1.3",
        ),
    ]


def compared(what: str, by_kind: dict[ClusterKind, list[float]], wanted: str) -> list[Figure]:
    embedded, containers = by_kind[ClusterKind.EMBEDDED], by_kind[ClusterKind.CONTAINERS]
    ratios = [container / other for container, other in zip(containers, embedded, strict=True)]
    return [
        Figure(f"{what}: embedded", "s", embedded, ""),
        Figure(f"{what}: containers", "s", containers, ""),
        Figure("of it: containers / embedded", "", ratios, wanted),
    ]


def start_once(kind: ClusterKind, processes: Processes) -> float:
    """Seconds until clients could work."""
    owner = new_owner()
    processes.reaper.watch(owner)
    with tempfile.TemporaryDirectory() as folder:
        cluster = Making(kind, DEFAULT_VERSION, ClusterNeeds(), processes)(Path(folder) / "cluster", owner)
        began = time.monotonic()
        try:
            cluster.start()
            return time.monotonic() - began
        finally:
            cluster.stop()


@contextmanager
def up(kind: ClusterKind) -> Iterator[None]:
    """A cluster that stays up meanwhile."""
    identity = str(json.loads(rocketchaos("up", "--on", kind, "--json")[1])["id"])
    try:
        yield
    finally:
        rocketchaos("down", identity)


def run_all(kind: ClusterKind, runs: str) -> float:
    """Seconds that the scenarios took in all, their clusters' start and the command's left out."""
    folders = [str(ROOT / "scenarios" / theme) for theme in THEMES]
    text = rocketchaos(
        "run", *folders, "-m", "not slow", "--on", kind, "--parallel", "1", "--json", "--runs", runs
    )[1]
    return sum(
        float(run["seconds"])
        for run in json.loads(text)["runs"]
        if json.loads((Path(run["run_dir"]) / "run.json").read_text())["cluster"]["shared"]
    )
