"""The harness is killed at random moments of a night: what is left of it, and whether histories can be read.

Left may be processes, the reaper's among them, and the folders of clusters.
"""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.history import read_history
from rocketchaos.harness.reaper.reaper import find_owned
from tests.benchmarks.measuring import COMMAND, ROOT, Figure

KILLS = 200
AT_ONCE = 2
LONGEST_S = 20.0
"""By then clusters are up, and scenarios run in all their phases."""
LIMIT_S = 5.0
GIVEN_UP_S = 30.0
LOOK_EVERY_S = 0.05


def measure_survival(repeats: int, runs: str) -> list[Figure]:
    """SIGKILL after a random time, again and again.

    Args:
        repeats: not used.
        runs: where run folders go.
    """
    rng = random.Random(KILLS)
    moments = [(number, rng.uniform(0.2, LONGEST_S)) for number in range(KILLS)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        gone_s = list(pool.map(lambda moment: _killed(Path(runs), *moment), moments))
    histories = list(Path(runs).glob("*/*/[0-9]*/events.jsonl"))
    unreadable = [file for file in histories if not _is_readable(file)]
    late = sum(item > LIMIT_S for item in gone_s)
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
    """Seconds from the kill of a night until every process and scratch folder that was its is gone."""
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
        # The reaper is among them, which carries no owner's token.
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
    killed = time.monotonic()
    process.wait()
    awaited = Retrying(
        retry=retry_if_result(bool), wait=wait_fixed(LOOK_EVERY_S), stop=stop_after_delay(GIVEN_UP_S)
    )
    try:
        awaited(_left, process.pid, children)
    except RetryError as late:
        left = late.last_attempt.result()
        raise SystemExit(f"{GIVEN_UP_S:g} s after the kill there is still {left[0]}") from late
    return time.monotonic() - killed


def _left(harness: int, children: Sequence[psutil.Process]) -> list[str]:
    """What there still is of a harness, by its process id."""
    prefix = f"{harness}-"
    processes = [item.pid for item in find_owned(lambda owner: owner.startswith(prefix))]
    processes += [child.pid for child in children if child.is_running()]
    folders = [str(item) for item in paths.scratch_root().iterdir() if item.name.startswith(prefix)]
    return [*(f"process {pid}" for pid in processes), *folders]


def _is_readable(file: Path) -> bool:
    """Whether every line that was written to its end is an event, in order."""
    whole_lines = file.read_bytes().count(b"\n")
    numbers = [event.n for event in read_history(file).events]
    return numbers[:whole_lines] == list(range(1, whole_lines + 1))
