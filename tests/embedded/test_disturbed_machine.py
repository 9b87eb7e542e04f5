"""A hung JVM, a full disk, a loaded machine: runs of a consistent group that nobody may take for a finding.

Where such a run comes to its end it is judged, and its silence says something; a test of each says that it does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import tenacity

from rocketchaos.harness.core.history import History
from rocketchaos.harness.core.model import Event, OutcomeKind, Trouble
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.nightly.findings import findings, why_not_judged
from rocketchaos.harness.nightly.generator import scenario_of
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.reporting.base import Report

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

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
            "operations": {"1": 1},
        },
        "operations": {"kill": 1},
        "triggers": {"flow": 1},
    }
)
UNDISTURBED = OF_ONE_MIND.model_copy(update={"operations": {"pause-producer": 1}})
"""Nothing is done to members and brokers; what is sent may fail."""
FAILING = UNDISTURBED.model_copy(
    update={"dimensions": {**OF_ONE_MIND.dimensions, "behaviour": {"fail once": 1}}}
)
SEED, NUMBER = 3, 1
HUNG_S = 12.0
"""Longer than any of a client's calls waits, as in a long collection of garbage, or a disk that doesn't answer."""
FLOWS_WITHIN_S = 90.0
FULL_AFTER = 40
"""Events of the history: clients run by then, and messages flow."""


def run(runs: Path, profile: Profile = OF_ONE_MIND, *, shared: bool = False) -> Report:
    """`shared`: on the cluster that is up, which no test may disturb."""
    with Runner(Options(runs=runs, use_running=shared)) as runner:
        return runner.run(runner.job(scenario_of(SEED, NUMBER, profile)))


def found_in(report: Report) -> list[str]:
    """What was found in a run that says something."""
    assert why_not_judged(report.outcome, report.events) is None, report.outcome.reason
    return [finding.code for finding in findings(report.scenario, report.events, report.outcome)]


@contextmanager
def hung(runs: Path, pid_of: Callable[[Path], int | None]) -> Iterator[list[float]]:
    """A process that this test has started stands still for a while, once messages flow; how long, when it did."""
    stood: list[float] = []

    def hang() -> None:
        process = psutil.Process(_once_messages_flow(runs, pid_of))
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


def _once_messages_flow(runs: Path, pid_of: Callable[[Path], int | None]) -> int:
    limit = tenacity.stop_after_delay(FLOWS_WITHIN_S)
    for attempt in tenacity.Retrying(wait=tenacity.wait_fixed(0.05), stop=limit, reraise=True):
        with attempt:
            pid = pid_of(runs)
            assert pid is not None, f"no message came within {FLOWS_WITHIN_S:.0f} s"
    return pid


def consumer(runs: Path) -> int | None:
    """The process of the consumer that got the first message."""
    events = _events(runs)
    pids = {event["node"]: event["data"]["pid"] for event in events if event["kind"] == "consumer-started"}
    return next((pids[event["node"]] for event in events if event["kind"] == "received"), None)


def broker(runs: Path) -> int | None:
    """The broker, once a message has come."""
    if consumer(runs) is None:
        return None
    return next(
        event["data"]["pid"]
        for event in _events(runs)
        if event["node"] == "broker-a" and "pid" in event["data"]
    )


def _events(runs: Path) -> list[dict[str, Any]]:
    """Of the runs so far."""
    return [json.loads(line) for file in runs.glob("*/*/events.jsonl") for line in _whole_lines(file)]


def _whole_lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").split("\n")[:-1]


@pytest.mark.nightly
def test_a_consumer_that_hangs_while_messages_flow_is_no_finding(tmp_path: Path) -> None:
    with hung(tmp_path, consumer) as stood:
        report = run(tmp_path, FAILING)
    assert stood == [HUNG_S]
    assert found_in(report) == []


@pytest.mark.nightly
def test_a_broker_that_hangs_while_messages_flow_is_no_finding(tmp_path: Path) -> None:
    with hung(tmp_path, broker) as stood:
        report = run(tmp_path, UNDISTURBED)
    assert stood == [HUNG_S]
    # Clients that lose it may leave a connection too many, which counts as a member for 120 s: that says nothing.
    assert report.outcome.trouble in (None, Trouble.PRECONDITION), report.outcome.reason
    assert findings(report.scenario, report.events, report.outcome) == []


# At night, when no other test runs beside it: it would load that one's machine too.
@pytest.mark.nightly
@pytest.mark.usefixtures("on_shared_cluster")
def test_a_machine_under_load_is_no_finding(tmp_path: Path) -> None:
    with ExitStack() as stack:
        for _ in range(4 * (os.cpu_count() or 1)):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(busy.kill)
        report = run(tmp_path, shared=True)
    assert found_in(report) == []


@pytest.mark.usefixtures("on_shared_cluster")
def test_a_disk_that_fills_up_is_reported_and_is_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = History._write

    def write_until_full(self: History, event: Event) -> None:
        if event.n == FULL_AFTER and self._fd is not None:
            with Path("/dev/full").open("wb") as full:
                os.dup2(full.fileno(), self._fd)
        write(self, event)

    monkeypatch.setattr(History, "_write", write_until_full)
    report = run(tmp_path, shared=True)
    assert (report.outcome.kind, report.outcome.trouble) == (OutcomeKind.ERROR, Trouble.ENVIRONMENT)
    assert findings(report.scenario, report.events, report.outcome) == []
