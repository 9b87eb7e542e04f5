"""SIGTERM of a worker's process: it shuts its clients down, and ends by itself. There is no RocketMQ in it."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady, PreconditionNotMet
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.workers.on_host import OnHost
from rocketchaos.harness.workers.worker import Worker
from rocketchaos.harness.workers.worker_events import WorkerEvent
from rocketchaos.harness.workers.worker_kinds import WorkerKind
from tests.unit.workers.test_worker import CHILDREN, LIMIT_S
from tests.waiting import until


class Recorder:
    """What the worker told."""

    def __init__(self) -> None:
        self.events: list[WorkerEvent] = []
        self.deaths: list[tuple[str, str, Trouble]] = []

    def on_death(self, *death: object) -> None:
        self.deaths.append(death)  # type: ignore[arg-type]

    def of(self, kind: str) -> list[str]:
        """The clients of which events of this kind tell, in their order."""
        return [str(event.data.get("consumer", "")) for event in list(self.events) if event.kind == kind]

    def wait(self, kind: str, count: int = 1) -> None:
        until(lambda: len(self.of(kind)) >= count)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


Spawn = Callable[[str], Worker]


@pytest.fixture
def spawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorder: Recorder) -> Iterator[Spawn]:
    monkeypatch.setenv("PYTHONPATH", str(CHILDREN))
    spawned: list[Worker] = []

    def spawn_one(module: str) -> Worker:
        worker = Worker.spawn(
            WorkerKind("child", module, None),
            "b",
            log_folder=tmp_path,
            home=OnHost("run-7"),
            on_event=recorder.events.append,
            on_death=recorder.on_death,
        )
        spawned.append(worker)
        worker.wait_ready(LIMIT_S)
        return worker

    yield spawn_one
    for worker in spawned:
        worker.kill()
        assert not psutil.pid_exists(worker.pid)


@pytest.fixture
def worker(spawn: Spawn) -> Worker:
    return spawn("worker_with_clients")


def start(worker: Worker, name: str, **more: object) -> None:
    worker.request("start-consumer", LIMIT_S, name=name, **more)


def end(worker: Worker) -> None:
    worker.terminate()
    worker.wait_terminated(LIMIT_S)
    assert worker.returncode == 143


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


def test_every_client_is_shut_down_and_no_listener_that_blocks_keeps_it(
    worker: Worker, recorder: Recorder
) -> None:
    start(worker, "one")
    start(worker, "two", behaviour={"block": "all"})
    worker.request("start-producer", LIMIT_S, name="p")
    recorder.wait("blocked")
    recorder.wait("consumed")
    end(worker)
    assert sorted(recorder.of("stopped")) == ["one", "producer", "two"]
    assert recorder.of("consumed") == ["one"]
    assert recorder.deaths == []
    with pytest.raises(EnvironmentNotReady, match=r"died \(exit code 143\)"):
        worker.request("ping", LIMIT_S)


@pytest.mark.parametrize("module", ["worker_with_clients", "worker_obedient"])
def test_without_a_client_it_ends_at_once(spawn: Spawn, recorder: Recorder, module: str) -> None:
    worker = spawn(module)
    began = time.monotonic()
    end(worker)
    assert time.monotonic() - began < 2
    assert [event.kind for event in recorder.events] == ["ready"]
    assert recorder.deaths == []


def test_clients_are_shut_down_at_the_same_time_and_one_that_fails_keeps_nobody(
    worker: Worker, recorder: Recorder, fifo: Path
) -> None:
    start(worker, "failing", fails=True)
    start(worker, "slow", stops_with=str(fifo))
    start(worker, "quick")
    worker.terminate()
    recorder.wait("stopping", 3)
    recorder.wait("stopped")
    assert recorder.of("stopped") == ["quick"]
    fifo.write_text("go")
    worker.wait_terminated(LIMIT_S)
    assert recorder.of("stopped") == ["quick", "slow"]
    assert "ZeroDivisionError: of its own making" in worker.log.read_text()


def test_another_sigterm_breaks_nothing_off(worker: Worker, recorder: Recorder, fifo: Path) -> None:
    start(worker, "slow", stops_with=str(fifo))
    worker.terminate()
    recorder.wait("stopping")
    for _ in range(3):
        worker.terminate()
    assert worker.alive
    fifo.write_text("go")
    worker.wait_terminated(LIMIT_S)
    assert (recorder.of("stopped"), worker.returncode, recorder.deaths) == (["slow"], 143, [])


def test_what_is_being_sent_is_answered(worker: Worker, recorder: Recorder, fifo: Path) -> None:
    worker.request("start-producer", LIMIT_S, name="p")
    message = {"name": "p", "topic": "orders", "tag": None, "key": "k", "queue": None, "timeout_ms": 1}
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(worker.request, "send", LIMIT_S, body=str(fifo), **message)
        recorder.wait("sending")
        worker.terminate()
        recorder.wait("stopping")
        fifo.write_text("go")
        assert sent.result(LIMIT_S) == {"status": "SEND_OK"}
    worker.wait_terminated(LIMIT_S)
    assert recorder.deaths == []


def test_events_arrive_whole_up_to_the_last_one(spawn: Spawn, recorder: Recorder) -> None:
    worker = spawn("worker_obedient")
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(worker.request, "emit-for-ever", LIMIT_S, diary=os.devnull)
        recorder.wait("numbered", 100)
        end(worker)
        with pytest.raises(EnvironmentNotReady, match=r"died \(exit code 143\) before it answered"):
            ended.result(LIMIT_S)
    numbers = [event.data["number"] for event in recorder.events if event.kind == "numbered"]
    assert numbers == list(range(len(numbers)))
    assert recorder.deaths == []


def test_one_that_does_not_end_is_no_effect_and_tells_what_was_last_seen(
    worker: Worker, recorder: Recorder
) -> None:
    start(worker, "hanging", stops_with=None)
    worker.terminate()
    recorder.wait("stopping")
    with pytest.raises(
        PreconditionNotMet,
        match=rf"^the process {worker.pid} of b got SIGTERM 0\.2 s ago and has not ended; last seen: `stopping`",
    ):
        worker.wait_terminated(0.2)
    worker.release()
    assert recorder.deaths == []


def test_one_that_something_else_ends_is_no_effect_and_an_accident(
    worker: Worker, recorder: Recorder
) -> None:
    start(worker, "hanging", stops_with=None)
    worker.terminate()
    recorder.wait("stopping")
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(PreconditionNotMet, match=r"did not end by itself, .*, but with signal SIGKILL"):
        worker.wait_terminated(LIMIT_S)
    assert recorder.deaths == [("b", "signal SIGKILL", Trouble.ENVIRONMENT)]


def test_a_sigterm_of_somebody_else_is_an_accident(worker: Worker, recorder: Recorder) -> None:
    start(worker, "one")
    os.kill(worker.pid, signal.SIGTERM)
    until(lambda: recorder.deaths != [])
    assert recorder.of("stopped") == ["one"]
    assert recorder.deaths == [("b", "exit code 143", Trouble.ENVIRONMENT)]


@pytest.mark.parametrize("name", ["one", "two", "three", "four", "five"])
def test_no_sigterm_is_missed_while_commands_come(worker: Worker, recorder: Recorder, name: str) -> None:
    """It may come while the main thread reads, just before it does, and to another thread."""
    start(worker, name)
    over = threading.Event()

    def ask_on() -> None:
        with contextlib.suppress(EnvironmentNotReady):
            while not over.is_set():
                worker.request("ping", LIMIT_S)

    with ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(ask_on)
        end(worker)
        over.set()
    assert (recorder.of("stopped"), recorder.deaths) == ([name], [])
