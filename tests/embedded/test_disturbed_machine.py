"""A hung JVM, a full disk, a loaded machine: runs of a consistent group that nobody may take for a finding."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest
import tenacity

from harness.campaign import Campaign, Options
from harness.guardian import find_owned
from harness.history import History
from harness.model import Event, OutcomeKind, Trouble
from harness.nightly.findings import findings
from harness.nightly.generator import scenario_of
from harness.nightly.profile import Profile
from harness.reporters.base import Report

pytestmark = pytest.mark.embedded

OF_ONE_MIND = Profile.model_validate(
    {
        "consistent": "only",
        "dimensions": {
            "groups": {"1": 1},
            "topics": {"1": 1},
            "members": {"2": 1},
            "late": {"0": 1},
            "filter": {"tags": 1},
            "client": {"java push": 1},
            "listener": {"concurrent": 1},
            "behaviour": {"succeed": 1},
            "process": {"own": 1},
            "brokers": {"1": 1},
            "acts": {"1": 1},
        },
        "acts": {"kill": 1},
        "anchors": {"flow": 1},
    }
)
SEED, NUMBER = 3, 1
HUNG_S = 12.0
"""Longer than any of a client's calls waits, as in a long collection of garbage, or a disk that doesn't answer."""
STARTS_WITHIN_S = 60.0
FULL_AFTER = 40
"""Events of the history: clients run by then, and messages flow."""
WORKER, BROKER = "harness.workers", "BrokerStartup"


def run(runs: Path) -> Report:
    with Campaign(Options(runs=runs, use_running=False)) as campaign:
        return campaign.run(campaign.job(scenario_of(SEED, NUMBER, OF_ONE_MIND)))


def found_in(report: Report) -> list[str]:
    return [one.signature for one in findings(report.scenario, report.events, report.outcome)]


@contextmanager
def hung(program: str) -> Iterator[list[float]]:
    """One process of this program that this test has started stands still for a while; how long, when it did."""
    stood: list[float] = []

    def hang() -> None:
        process = psutil.Process(_pid_of(program))
        process.suspend()
        try:
            process.wait(HUNG_S)
        except psutil.TimeoutExpired:
            stood.append(HUNG_S)
        finally:
            process.resume()

    thread = threading.Thread(target=hang)
    thread.start()
    try:
        yield stood
    finally:
        thread.join()


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(LookupError),
    wait=tenacity.wait_fixed(0.1),
    stop=tenacity.stop_after_delay(STARTS_WITHIN_S),
    reraise=True,
)
def _pid_of(program: str) -> int:
    own = f"{os.getpid()}-"
    for one in find_owned(lambda owner: owner.startswith(own)):
        if any(program in word for word in psutil.Process(one.pid).cmdline()):
            return one.pid
    raise LookupError(f"no {program} within {STARTS_WITHIN_S:.0f} s")


@pytest.mark.parametrize("program", [WORKER, BROKER])
def test_a_jvm_that_hangs_for_a_while_is_no_finding(tmp_path: Path, program: str) -> None:
    with hung(program) as stood:
        report = run(tmp_path)
    assert stood == [HUNG_S]
    assert found_in(report) == []


def test_a_machine_under_load_is_no_finding(tmp_path: Path) -> None:
    with ExitStack() as stack:
        for _ in range(4 * (os.cpu_count() or 1)):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(busy.kill)
        report = run(tmp_path)
    assert found_in(report) == []


def test_a_disk_that_fills_up_is_told_and_is_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = History._write

    def write_until_full(self: History, event: Event) -> None:
        if event.n == FULL_AFTER and self._fd is not None:
            with Path("/dev/full").open("wb") as full:
                os.dup2(full.fileno(), self._fd)
        write(self, event)

    monkeypatch.setattr(History, "_write", write_until_full)
    report = run(tmp_path)
    assert (report.outcome.kind, report.outcome.trouble) == (OutcomeKind.ERROR, Trouble.ENVIRONMENT)
    assert found_in(report) == []
