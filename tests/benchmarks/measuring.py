"""What all benchmarks share: figures, and whole commands with the time that they take."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "docs" / "benchmarks.md"
COMMAND = (
    sys.executable,
    "-P",
    "-c",
    "import sys, rocketchaos.harness.cli.main; sys.exit(rocketchaos.harness.cli.main.main())",
)
"""`rocketchaos`, of this checkout where that is the working folder, or on PYTHONPATH."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing measured several times."""

    name: str
    unit: str
    values: Sequence[float]
    wanted: str

    def row(self) -> str:
        """As a row of the table."""
        digits = 1 if self.unit in ("ms", "MiB") else 2
        median = statistics.median(self.values)
        return (
            f"| {self.name} | {median:.{digits}f} {self.unit} | {min(self.values):.{digits}f} – "
            f"{max(self.values):.{digits}f} | {len(self.values)} | {self.wanted} |"
        )


def rocketchaos(*arguments: str, ends: Sequence[int] = (0,)) -> tuple[float, str]:
    """Seconds of a whole command, and what it printed; with another exit code it ends the benchmark."""
    started = time.monotonic()
    done = subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    seconds = time.monotonic() - started
    if done.returncode not in ends:
        raise SystemExit(f"rocketchaos {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return seconds, done.stdout


def write_into_page(page: Path, text: str, begin: str, end: str) -> None:
    """Replace what stands between the marks of a page of the documentation."""
    content = page.read_text(encoding="utf-8")
    before, rest = content.split(begin, 1)
    page.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end, 1)[1]}", encoding="utf-8")
