"""The first command beside that of another checkout, in turn: how fast this one is, whatever the machine does."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.measuring import ROOT
from tests.benchmarks.reproduce import COLD, SCENARIO, VERSIONS, WARM, await_left_processes, cell


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder with rocketchaos in which `make venv` was run."""

    folder: Path
    commit: str
    scenario: Path
    """Its own copy, because the language may differ."""

    @classmethod
    def at(cls, folder: Path) -> Checkout:
        """The one in this folder.

        Raises:
            SystemExit: there is none, or it has no environment.
        """
        found = [*(folder / "scenarios").rglob(SCENARIO.name)]
        if len(found) != 1 or not (folder / ".venv" / "bin" / "rocketchaos").is_file():
            raise SystemExit(f"no checkout of rocketchaos with a .venv: {folder}")
        head = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
        return cls(folder.resolve(), commit, found[0].resolve())

    def cold_and_warm(self, version: str, runs: str) -> tuple[float, float]:
        """Seconds of a run on a cluster of its own, and of one on a cluster that is up."""
        reproduce = ("reproduce", str(self.scenario), "--json", "--runs", runs, "--rocketmq", version)
        cold = self._seconds(*reproduce)
        self._seconds("up", "--json", "--rocketmq", version)
        try:
            await_left_processes()
            return cold, self._seconds(*reproduce)
        finally:
            self._seconds("down")

    def _seconds(self, *arguments: str) -> float:
        program = self.folder / ".venv" / "bin" / "rocketchaos"
        started = time.monotonic()
        # Not in a checkout: its modules would win over the other's.
        done = subprocess.run([program, *arguments], cwd="/", capture_output=True, text=True, check=False)
        seconds = time.monotonic() - started
        if done.returncode:
            raise SystemExit(f"{program} {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
        return seconds


def measure_beside(folder: Path, repeats: int, runs: str) -> list[str]:
    """Rows in Markdown: both checkouts, and this one's share of the other's time, pair by pair."""
    here, other = Checkout.at(ROOT), Checkout.at(folder)
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for version in VERSIONS:  # fetches what the cache lacks, and warms the disk's cache
        for checkout in (here, other):
            checkout.cold_and_warm(version, runs)
    for _ in range(repeats):
        for version in VERSIONS:
            both = [checkout.cold_and_warm(version, runs) for checkout in (here, other)]
            for row, *pair in zip((COLD, WARM), *both, strict=True):
                pairs.setdefault((row, version), []).append((pair[0], pair[1]))
    lines = [f"| what | {' | '.join(VERSIONS)} | pairs |", "|---" * (len(VERSIONS) + 2) + "|"]
    for row in (COLD, WARM):
        by_version = [pairs[row, version] for version in VERSIONS]
        cells = (
            (f"{row}: {here.commit}", [cell([one for one, _ in found], " s") for found in by_version]),
            (f"{row}: {other.commit}", [cell([two for _, two in found], " s") for found in by_version]),
            (
                f"of it: time of {here.commit} / time of {other.commit}",
                [cell([one / two for one, two in found], "") for found in by_version],
            ),
        )
        lines += [f"| {name} | {' | '.join(shown)} | {repeats} |" for name, shown in cells]
    return lines
