"""However a command ends, it says so in one message, keeps the history, and leaves nothing behind.

The command runs as a process of its own against a real RocketMQ, in a cache that is shared with the other tests,
and is ended from outside while its scenario waits.
"""

from __future__ import annotations

import json
import operator
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from rocketchaos.harness.core.history import read_history
from rocketchaos.harness.reaper.reaper import OwnedProcess, find_owned
from tests.embedded.command import started
from tests.waiting import until

pytestmark = pytest.mark.embedded

PATIENT = """\
name: patient
title: "waits long enough to be ended"
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
  b: {group: g, subscribe: {orders: tagB}}
steps:
  - start: [a, b]
  - settle: {ownership: g, within: 40s}
  - send: {topic: orders, tag: tagA, count: 4, per_queue: 1}
  - wait: {duration: 120s, because: "to be ended meanwhile"}
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 4}}]
"""


@dataclass
class Command:
    """A running `rocketchaos reproduce`."""

    process: subprocess.Popen[str]
    runs: Path

    def owned(self) -> list[OwnedProcess]:
        """Everything that it has started and that still runs."""
        return find_owned(lambda owner: owner.startswith(f"{self.process.pid}-"))

    def events(self) -> list[str]:
        """Kinds of events in the history so far."""
        files = {path.resolve() for path in self.runs.glob("*/*/events.jsonl")}
        return [event.kind for file in files for event in read_history(file).events]

    @property
    def folder(self) -> Path:
        (folder,) = {path.resolve() for path in self.runs.glob("*/latest")}
        return folder

    def until(self, condition: Callable[[], bool], limit_s: float = 60) -> None:
        """Wait for a condition; a command that ends before it holds fails the test at once, with what it said."""
        until(
            lambda: (condition() or self.process.poll() is not None, self.events()),
            limit_s,
            operator.itemgetter(0),
        )
        assert condition(), self.process.communicate()

    def ended(self, limit_s: float = 15) -> str:
        """What it said on standard error, once it has ended."""
        return self.process.communicate(timeout=limit_s)[1]

    def process_of(self, node: str) -> psutil.Process:
        """The process of a server or a consumer, by the history."""
        for file in self.runs.glob("*/*/events.jsonl"):
            for event in read_history(file).events:
                if event.node == node and "pid" in event.data:
                    return psutil.Process(event.data["pid"])
        raise AssertionError(f"{node} is not in the history")


def start(scenario: Path, folder: Path) -> Command:
    """The command, under way."""
    process = started("reproduce", scenario, "--runs", folder / "runs", "--json", cwd=folder)
    return Command(process, folder / "runs")


def end(command: Command) -> None:
    """Whatever a test came to: the command ends, and nothing of it is left."""
    if command.process.poll() is None:
        command.process.kill()
        command.process.communicate()
    nothing_left(command)


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    scenario = tmp_path / "patient.scenario.yaml"
    scenario.write_text(PATIENT)
    running = start(scenario, tmp_path)
    yield running
    end(running)


def nothing_left(command: Command, limit_s: float = 5) -> None:
    """Fails unless everything that the command started is gone within the limit."""
    end = time.monotonic() + limit_s
    while (left := command.owned()) and time.monotonic() < end:
        psutil.wait_procs(
            [psutil.Process(item.pid) for item in left if psutil.pid_exists(item.pid)], timeout=0.1
        )
    assert not left


@pytest.mark.parametrize(
    ("ending", "code", "word"),
    [
        (signal.SIGINT, 130, "interrupted"),
        pytest.param(signal.SIGTERM, 143, "terminated", marks=pytest.mark.extended),
    ],
)
def test_a_signal_ends_it_in_good_order(
    command: Command, ending: signal.Signals, code: int, word: str
) -> None:
    command.until(lambda: "sent" in command.events())
    # Name server, broker, admin worker, and two workers that share the clients.
    assert len(command.owned()) >= 5
    command.process.send_signal(ending)
    said = command.ended()
    assert command.process.returncode == code
    assert word in said
    assert "Traceback" not in said
    outcome = json.loads((command.folder / "outcome.json").read_text())
    assert (outcome["outcome"], outcome["trouble"]) == ("inconclusive", "interrupted")
    nothing_left(command)


def test_sigkill_leaves_nothing_and_a_readable_history(command: Command) -> None:
    command.until(lambda: "sent" in command.events())
    command.process.kill()
    command.process.communicate()
    nothing_left(command)
    read = read_history(command.folder / "events.jsonl")
    assert [event.kind for event in read.events].count("sent") >= 1


@pytest.mark.extended
def test_sigkill_at_any_moment_of_the_start(command: Command) -> None:
    # No condition to await: whatever one could wait for would be a moment that the code knows of, and this is for
    # those that nobody thought of, somewhere between the first process and the last.
    moment_s = random.uniform(0.1, 4.0)
    time.sleep(moment_s)
    command.process.kill()
    command.process.communicate()
    nothing_left(command)
    for file in command.runs.glob("*/*/events.jsonl"):
        whole_lines = file.read_bytes().count(b"\n")
        numbers = [event.n for event in read_history(file).events]
        assert numbers[:whole_lines] == list(range(1, whole_lines + 1)), f"killed after {moment_s:.2f} s"


@pytest.mark.extended
def test_a_broker_that_dies_is_an_error_of_the_environment(command: Command) -> None:
    command.until(lambda: "sent" in command.events())
    command.process_of("broker-a").kill()
    said = command.ended()
    assert command.process.returncode == 4
    assert "Traceback" not in said
    outcome = json.loads((command.folder / "outcome.json").read_text())
    assert (outcome["outcome"], outcome["trouble"]) == ("error", "environment")
    assert "broker-a" in outcome["reason"]
    assert "SIGKILL" in outcome["reason"]


@pytest.mark.extended
@pytest.mark.usefixtures("on_shared_cluster")
def test_a_consumer_that_dies_is_an_error_of_the_environment(command: Command) -> None:
    command.until(lambda: "sent" in command.events())
    command.process_of("a").kill()
    command.ended()
    assert command.process.returncode == 4
    outcome = json.loads((command.folder / "outcome.json").read_text())
    assert (outcome["outcome"], outcome["trouble"]) == ("error", "environment")
    # The process is that of the producer as well, which may be sending just then.
    assert re.search("the worker (a|producer) died: signal SIGKILL", outcome["reason"])
    died = [
        event.node
        for event in read_history(command.folder / "events.jsonl").events
        if event.kind == "worker-died"
    ]
    assert "a" in died


@pytest.mark.nightly
def test_a_broker_that_dies_while_messages_are_sent_is_the_cause_of_what_follows(tmp_path: Path) -> None:
    """The producer notices first; what is told is the death."""
    scenario = tmp_path / "sending.scenario.yaml"
    scenario.write_text(PATIENT.replace("count: 4, per_queue: 1", "count: 20000, per_queue: 5000"))
    sending = start(scenario, tmp_path)
    try:
        sending.until(lambda: sending.events().count("sent") > 20)
        sending.process_of("broker-a").kill()
        sending.ended()
        outcome = json.loads((sending.folder / "outcome.json").read_text())
        assert (outcome["outcome"], outcome["trouble"]) == ("error", "environment"), outcome["reason"]
        assert "broker-a died" in outcome["reason"]
        assert sending.process.returncode == 4
    finally:
        end(sending)


@pytest.mark.nightly
def test_a_broker_out_of_memory_is_an_error_of_the_environment(tmp_path: Path) -> None:
    """It lives on, and leaves unanswered what needed the memory: its log is what says so."""
    scenario = tmp_path / "short.scenario.yaml"
    scenario.write_text(PATIENT.replace("duration: 120s", "duration: 5s"))
    short = start(scenario, tmp_path)
    try:
        short.until(lambda: "sent" in short.events())
        option = "-Drocketchaos.log="
        (log,) = (
            item.removeprefix(option)
            for item in short.process_of("broker-a").cmdline()
            if item.startswith(option)
        )
        with Path(log).open("a") as file:
            file.write("Caused by: java.lang.OutOfMemoryError: Cannot reserve 4259840 bytes\n")
        short.ended()
        outcome = json.loads((short.folder / "outcome.json").read_text())
        assert (outcome["outcome"], outcome["trouble"]) == ("error", "environment"), outcome["reason"]
        assert "broker-a ran out of memory" in outcome["reason"]
        assert short.process.returncode == 4
    finally:
        end(short)
