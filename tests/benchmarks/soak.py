"""A long night of consistent groups: whether it is silent, and whether memory, files, threads or disk grow."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import psutil
from scipy.stats import theilslopes

from rocketchaos.harness.core import paths
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.harness.reaper.reaper import find_owned
from tests.benchmarks.measuring import COMMAND, ROOT, Figure

MINUTES = 45
WARM_UP_S = 600.0
"""Not looked at: the first clusters start, and as many shared workers as the machine carries."""
LOOK_EVERY_S = 5.0
KEEP = 20
PARALLEL = 4
"""So that other work of the machine, which lets fewer or more in at once, doesn't show as growth."""
KEPT = ROOT / "build" / "soak"
"""Where the runs of a soak with findings stay."""
SHOWN = (0, 1, 3)
"""How a night ends that came to its end: silent, with findings, or with runs that say nothing."""


@dataclass(slots=True)
class _Watched:
    """What was seen of the harness and of all that it started, by name, each with its seconds since the start."""

    pid: int
    runs: Path
    began: float = field(default_factory=time.monotonic)
    seen: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def look(self) -> None:
        """Once."""
        at_s = time.monotonic() - self.began
        harness = psutil.Process(self.pid)
        with harness.oneshot():
            self._note(at_s, "memory of the harness", harness.memory_info().rss / 2**20)
            self._note(at_s, "its open files", harness.num_fds())
            self._note(at_s, "its threads", harness.num_threads())
        others = [item.pid for item in find_owned(lambda owner: owner.startswith(f"{self.pid}-"))]
        self._note(at_s, "memory of all that it started", sum(map(_memory, others)) / 2**20)
        self._note(at_s, "processes that it started", len(others))
        self._note(at_s, "disk: run folders", _size(self.runs) / 2**20)
        self._note(at_s, "disk: clusters that run", _size(paths.scratch_root()) / 2**20)

    def _note(self, at_s: float, name: str, value: float) -> None:
        self.seen.setdefault(name, []).append((at_s, value))


UNITS: Mapping[str, str] = {
    "memory of the harness": "MiB",
    "memory of all that it started": "MiB",
    "disk: run folders": "MiB",
    "disk: clusters that run": "MiB",
}


def measure_soak(repeats: int, runs: str) -> list[Figure]:
    """One night of groups of one mind, of which the last silent runs are kept.

    Args:
        repeats: not used.
        runs: where run folders go.
    """
    folder = Path(runs) / "soak"
    folder.mkdir()
    profile = Path(runs) / "profile.yaml"
    profile.write_text(json.dumps(Profile(consistent="only").model_dump(include={"consistent"})))
    command = [*COMMAND, "nightly", "--minutes", str(MINUTES), "--seed", "1", "--profile", str(profile)]
    command += ["--keep", str(KEEP), "--runs", str(folder), "--parallel", str(PARALLEL)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    watched = _Watched(process.pid, folder)
    try:
        while process.poll() is None:
            _try(watched.look)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_EVERY_S)
    finally:
        process.terminate()
    printed = process.stdout.read() if process.stdout is not None else ""
    if process.returncode not in SHOWN:
        raise SystemExit(f"rocketchaos {' '.join(command)} ended with {process.returncode}:\n{printed}")
    print(printed)
    status = json.loads((folder / "nightly-status.json").read_text())
    if status["findings"]:
        shutil.rmtree(KEPT, ignore_errors=True)
        shutil.copytree(folder, KEPT, symlinks=True)
        print(f"Kept, for its findings: {KEPT}")
    scenarios = status["scenarios"]
    figures = [
        Figure(f"`nightly --minutes {MINUTES}`, consistent groups: runs", "", [scenarios["run"]], ""),
        Figure("of it: judged", "", [scenarios["judged"]], ""),
        Figure("of it: ended by an error", "", [scenarios["errors"]], "0"),
        Figure("of it: findings", "", [len(status["findings"])], "0"),
    ]
    for name, values in watched.seen.items():
        unit = UNITS.get(name, "")
        later = [(at_s, value) for at_s, value in values if at_s >= WARM_UP_S]
        figures.append(Figure(name, unit, [value for _, value in later], ""))
        figures.append(Figure(f"of it: growth in an hour, {name}", unit, _growth(_by_minute(later)), "0"))
        print(f"{name}, each minute: {' '.join(f'{value:.1f}' for value in _by_minute(values).values())}")
    return figures


def _by_minute(values: list[tuple[float, float]]) -> dict[int, float]:
    """The median of each minute."""
    minutes = groupby(values, key=lambda item: int(item[0] // 60))
    return {minute: statistics.median(value for _, value in own) for minute, own in minutes}


def _growth(medians: Mapping[int, float]) -> list[float]:
    """The slope of the minutes' medians in an hour, after Theil and Sen, with the ends of its 95 % interval."""
    found = theilslopes(list(medians.values()), list(medians))
    return [60 * float(item) for item in (found.low_slope, found.slope, found.high_slope)]


def _memory(pid: int) -> int:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def _size(folder: Path) -> int:
    """Bytes of all files below; what goes meanwhile is not counted."""
    total = 0
    for parent, _, names in os.walk(folder):  # which passes over folders that are gone
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size  # noqa: PTH118 - ten thousands of them
    return total


def _try(look: Callable[[], None]) -> None:
    """A look at a process that ends meanwhile is none."""
    try:
        look()
    except psutil.NoSuchProcess:
        return
