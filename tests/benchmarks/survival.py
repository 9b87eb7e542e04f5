"""The harness is killed at random moments of a night: what is left of it, and whether histories can be read."""

from __future__ import annotations

import random
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from harness.guardian import find_owned
from harness.history import read_history
from tests.benchmarks.measuring import COMMAND, ROOT, Figure

KILLS = 200
AT_ONCE = 2
LONGEST_S = 20.0
"""By then clusters are up, and scenarios run in all their phases."""
LIMIT_S = 5.0
GIVEN_UP_S = 30.0


def measure_survival(repeats: int, runs: str) -> list[Figure]:
    """SIGKILL after a random time, again and again.

    Args:
        repeats: not used.
        runs: where run folders go.
    """
    rng = random.Random(KILLS)
    moments = [(number, rng.uniform(0.2, LONGEST_S)) for number in range(KILLS)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        gone_s = list(pool.map(lambda one: _killed(Path(runs), *one), moments))
    histories = list(Path(runs).glob("*/*/[0-9]*/events.jsonl"))
    unreadable = [file for file in histories if not _is_readable(file)]
    late = sum(one > LIMIT_S for one in gone_s)
    return [
        Figure(
            f"SIGKILL of `nightly`, 0.2 to {LONGEST_S:g} s after its start: until nothing is left",
            "s",
            gone_s,
            "",
        ),
        Figure(f"of it: times that anything was left after {LIMIT_S:g} s", "", [late], "0"),
        Figure(f"of it: unreadable histories, of {len(histories)}", "", [len(unreadable)], "0"),
    ]


def _killed(runs: Path, number: int, after_s: float) -> float:
    """Seconds from the kill of a night until every process that it started is gone."""
    folder = runs / str(number)
    command = ("nightly", "--minutes", "5", "--seed", str(number), "--runs", str(folder))
    process = subprocess.Popen(
        [*COMMAND, *command],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        process.wait(after_s)
        raise SystemExit(f"rocketchaos {' '.join(command)} ended with {process.returncode} by itself")
    except subprocess.TimeoutExpired:
        process.kill()
    killed = time.monotonic()
    process.wait()
    while left := find_owned(lambda owner: owner.startswith(f"{process.pid}-")):
        if time.monotonic() - killed > GIVEN_UP_S:
            raise SystemExit(f"{GIVEN_UP_S:g} s after the kill there is still process {left[0].pid}")
        there = [psutil.Process(one.pid) for one in left if psutil.pid_exists(one.pid)]
        psutil.wait_procs(there, timeout=0.1)
    return time.monotonic() - killed


def _is_readable(file: Path) -> bool:
    """Whether every line that was written to its end is an event, in order."""
    whole_lines = file.read_bytes().count(b"\n")
    numbers = [event.n for event in read_history(file).events]
    return numbers[:whole_lines] == list(range(1, whole_lines + 1))
