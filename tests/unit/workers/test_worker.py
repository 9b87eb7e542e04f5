"""The parent's handle of a worker, against children that have no RocketMQ in them."""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect, RequestFailed
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.workers.on_host import OnHost
from rocketchaos.harness.workers.worker import Worker
from rocketchaos.harness.workers.worker_events import LINE_LIMIT_BYTES, WorkerEvent
from rocketchaos.harness.workers.worker_kinds import KINDS, WorkerKind
from tests.waiting import until

CHILDREN = Path(__file__).parent / "children"
LIMIT_S = 10.0


class Recorder:
    """What the callbacks were told, in order."""

    def __init__(self) -> None:
        self.events: list[WorkerEvent] = []
        self.deaths: list[tuple[str, str, Trouble]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.raise_this: Exception | None = None

    def on_event(self, event: WorkerEvent) -> None:
        self.gate.wait(LIMIT_S)
        if self.raise_this is not None and event.kind == "numbered":
            raise self.raise_this
        self.events.append(event)

    def on_death(self, name: str, reason: str, trouble: Trouble) -> None:
        self.deaths.append((name, reason, trouble))

    @property
    def numbers(self) -> list[int]:
        return [event.data["number"] for event in self.events if event.kind == "numbered"]


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def spawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorder: Recorder
) -> Iterator[Callable[..., Worker]]:
    monkeypatch.setenv("PYTHONPATH", str(CHILDREN))
    # A worker must find `harness` from anywhere.
    monkeypatch.chdir(tmp_path)
    spawned: list[Worker] = []

    def spawn_one(module: str = "worker_obedient", name: str = "b") -> Worker:
        worker = Worker.spawn(
            WorkerKind("child", module, None),
            name,
            log_folder=tmp_path,
            home=OnHost("run-7"),
            on_event=recorder.on_event,
            on_death=recorder.on_death,
        )
        spawned.append(worker)
        return worker

    yield spawn_one
    recorder.gate.set()
    for worker in spawned:
        worker.kill()
        assert not psutil.pid_exists(worker.pid)


@pytest.fixture
def worker(spawn: Callable[..., Worker]) -> Worker:
    worker = spawn()
    worker.wait_ready(LIMIT_S)
    return worker


def test_an_answer_reaches_its_requester_with_64_bit_numbers_whole(worker: Worker) -> None:
    wanted = {"highest": 2**63 - 1, "lowest": -(2**63), "text": "ä\n'\"\U0001f600", "nothing": None}
    assert worker.request("echo", LIMIT_S, **wanted) == {"with": wanted}


def test_events_are_handed_on_in_order_and_before_the_answer_and_replies_are_not(
    worker: Worker, recorder: Recorder
) -> None:
    before = time.monotonic_ns()
    worker.request("emit", LIMIT_S, count=500, size=10)
    assert [event.kind for event in recorder.events] == ["ready"] + ["numbered"] * 500
    assert recorder.numbers == list(range(500))
    assert {event.worker for event in recorder.events} == {"b"}
    assert before < recorder.events[-1].mono_ns < time.monotonic_ns()
    assert abs(recorder.events[-1].wall_ms - time.time() * 1000) < LIMIT_S * 1000


def test_each_of_many_requesters_gets_its_own_answer(worker: Worker) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: worker.request("echo", LIMIT_S, n=number), range(300)))
    assert [answer["with"]["n"] for answer in answers] == list(range(300))


def test_a_refusal_carries_rocketmqs_response_code(worker: Worker) -> None:
    with pytest.raises(RequestFailed, match=r"worker b: `refuse` failed: TOPIC_NOT_EXIST") as raised:
        worker.request("refuse", LIMIT_S, code=17)
    assert raised.value.code == 17
    with pytest.raises(RequestFailed) as raised:
        worker.request("refuse", LIMIT_S, code=None)
    assert raised.value.code is None


def test_an_exception_in_the_worker_is_the_harness_own_defect(worker: Worker) -> None:
    with pytest.raises(HarnessDefect, match="ZeroDivisionError: of its own making") as raised:
        worker.request("stumble", LIMIT_S)
    text = "".join(traceback.format_exception(raised.value))
    assert "In the worker " in text
    assert "in reply_line" in text
    with pytest.raises(HarnessDefect, match="no command `sing`"):
        worker.request("sing", LIMIT_S)


def test_a_worker_has_a_session_and_an_owner_and_no_current_folder_on_its_path(worker: Worker) -> None:
    assert worker.request("surroundings", LIMIT_S) == {
        "session": worker.pid,
        "owner": "run-7",
        "safe_path": False,
    }


def test_death_before_ready_tells_exit_code_and_last_lines(
    spawn: Callable[..., Worker], recorder: Recorder
) -> None:
    worker = spawn("worker_stillborn")
    with pytest.raises(EnvironmentNotReady) as raised:
        worker.wait_ready(LIMIT_S)
    assert "worker b died: exit code 1;" in raised.value.message
    assert raised.value.message.endswith("    the jars are not there")
    ((name, reason, trouble),) = recorder.deaths
    assert (name, trouble) == ("b", Trouble.ENVIRONMENT)
    assert reason.startswith("exit code 1; ")
    assert reason.endswith("the jars are not there")
    assert (worker.alive, worker.returncode) == (False, 1)


def test_a_worker_that_never_gets_ready_is_given_up_after_the_limit(spawn: Callable[..., Worker]) -> None:
    worker = spawn("worker_mute")
    until(lambda: worker.log.read_text() != "")
    with pytest.raises(EnvironmentNotReady, match=r"not ready within 0.2 s; the end of .*\n    thinking"):
        worker.wait_ready(0.2)


def test_a_command_without_an_answer_is_given_up_and_the_worker_stays_usable(
    worker: Worker, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "until")
    with pytest.raises(
        EnvironmentNotReady,
        match=r"worker b did not answer `hang` within 0.2 s; last seen: `ready` \d+\.\d s ago",
    ):
        worker.request("hang", 0.2, until_file=str(tmp_path / "until"))
    (tmp_path / "until").write_text("go")  # its late answer belongs to nobody
    assert worker.request("ping", LIMIT_S) == {}


@pytest.mark.parametrize("do", ["hang", "end"])
def test_death_fails_a_pending_request_at_once(
    worker: Worker, recorder: Recorder, tmp_path: Path, do: str
) -> None:
    os.mkfifo(tmp_path / "until")
    with ThreadPoolExecutor(1) as pool:
        if do == "hang":
            pending = pool.submit(worker.request, "hang", 60, until_file=str(tmp_path / "until"))
            until(lambda: psutil.Process(worker.pid).num_threads() > 1)
            os.kill(worker.pid, signal.SIGTERM)
            reason = "exit code 143"
        else:
            pending = pool.submit(worker.request, "end", 60, code=3)
            reason = "exit code 3"
        with pytest.raises(EnvironmentNotReady, match=rf"died \({reason}\) before it answered `{do}`"):
            pending.result(LIMIT_S)
    assert recorder.deaths == [("b", reason, Trouble.ENVIRONMENT)]
    with pytest.raises(EnvironmentNotReady, match=rf"died \({reason}\) before it answered `ping`"):
        worker.request("ping", LIMIT_S)


def test_a_kill_loses_no_event_that_was_written(worker: Worker, recorder: Recorder, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    recorder.gate.clear()  # nobody takes events away: the pipe fills up
    with ThreadPoolExecutor(2) as pool:
        pool.submit(worker.request, "emit-for-ever", LIMIT_S, diary=str(diary))
        until(lambda: diary.exists() and diary.read_bytes() > b"%09d" % 100)
        killed = pool.submit(worker.kill)
        until(lambda: not worker.alive)
        with pytest.raises(TimeoutError):
            killed.result(0.3)  # it waits for the events
        recorder.gate.set()
        killed.result(LIMIT_S)
    noted = int(diary.read_bytes())
    assert recorder.numbers == list(range(len(recorder.numbers)))
    # It may have died between the writing of an event and the note of it.
    assert len(recorder.numbers) in (noted + 1, noted + 2)
    assert recorder.deaths == []
    assert worker.returncode == -signal.SIGKILL


def test_a_line_cut_off_by_death_is_no_garbage(worker: Worker, recorder: Recorder) -> None:
    with pytest.raises(EnvironmentNotReady, match="signal SIGKILL"):
        worker.request("die-in-mid-line", LIMIT_S)
    assert recorder.numbers == [0]
    assert recorder.deaths == [("b", "signal SIGKILL", Trouble.ENVIRONMENT)]


def test_a_worker_that_died_just_before_its_kill_was_not_killed(worker: Worker, recorder: Recorder) -> None:
    recorder.gate.clear()
    with ThreadPoolExecutor(3) as pool:
        pool.submit(worker.request, "emit", LIMIT_S, count=1, size=0)
        pool.submit(worker.request, "end", LIMIT_S, code=3)
        until(lambda: not worker.alive)
        killed = pool.submit(worker.kill)
        until(lambda: worker._killed)
        recorder.gate.set()
        killed.result(LIMIT_S)
    assert recorder.deaths == [("b", "exit code 3", Trouble.ENVIRONMENT)]
    assert worker.returncode == 3


def test_a_big_event_arrives_whole(worker: Worker, recorder: Recorder) -> None:
    size = LINE_LIMIT_BYTES - 1000
    worker.request("emit", LIMIT_S, count=3, size=size)
    assert [len(event.data["filler"]) for event in recorder.events[1:]] == [size] * 3


EVENT = '{"mono_ns": 1, "wall_ms": 2, "kind": "x", "data": {}}'


@pytest.mark.parametrize(
    ("command", "with_", "reason"),
    [
        (
            "write",
            {"text": "Exception in thread main\n"},
            "a line that is no JSON: 'Exception in thread main'",
        ),
        ("write", {"text": "[1, 2]\n"}, "a line without the fields of an event: '[1, 2]'"),
        ("write", {"text": EVENT.replace("1", '"1"') + "\n"}, "a line without the fields of an event"),
        ("write", {"text": EVENT.replace('"x"', "null") + "\n"}, "a line without the fields of an event"),
        ("write", {"text": EVENT.replace('"x"', '"reply"') + "\n"}, "a reply without its fields: {}"),
        ("emit", {"count": 1, "size": LINE_LIMIT_BYTES}, f"a line of more than {LINE_LIMIT_BYTES} bytes"),
        ("write-filler", {"size": LINE_LIMIT_BYTES * 2}, f"a line of more than {LINE_LIMIT_BYTES} bytes"),
    ],
)
def test_garbage_is_a_defect_and_ends_the_worker(
    worker: Worker, recorder: Recorder, command: str, with_: dict[str, Any], reason: str
) -> None:
    with pytest.raises(EnvironmentNotReady, match="died"):
        worker.request(command, LIMIT_S, **with_)
    [(name, why, trouble)] = recorder.deaths
    assert (name, trouble) == ("b", Trouble.HARNESS)
    assert f"it wrote {reason}" in why
    assert not worker.alive
    assert [event.kind for event in recorder.events] == ["ready"]


def test_a_worker_that_closes_its_pipe_is_a_defect(
    worker: Worker, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocketchaos.harness.workers.worker._END_LIMIT_S", 0.3)
    with pytest.raises(EnvironmentNotReady, match="died"):
        worker.request("close-pipe", LIMIT_S)
    assert recorder.deaths == [("b", "it closed its event pipe and went on running", Trouble.HARNESS)]


@pytest.mark.parametrize(
    ("error", "trouble"),
    [(ValueError("unforeseen"), Trouble.HARNESS), (EnvironmentNotReady("disk full"), Trouble.ENVIRONMENT)],
)
def test_an_event_that_can_not_be_taken_ends_the_worker(
    worker: Worker, recorder: Recorder, error: Exception, trouble: Trouble
) -> None:
    recorder.raise_this = error
    with pytest.raises(EnvironmentNotReady, match="died"):
        worker.request("emit", LIMIT_S, count=1, size=0)
    [(_, reason, seen)] = recorder.deaths
    assert seen == trouble
    assert str(error) in reason
    assert not worker.alive


def test_a_paused_worker_stands_still_until_it_is_resumed(worker: Worker, recorder: Recorder) -> None:
    worker.pause()
    assert psutil.Process(worker.pid).status() == psutil.STATUS_STOPPED
    assert worker.alive
    with pytest.raises(EnvironmentNotReady, match=r"did not answer `ping` within 0.2 s; .*; it is paused"):
        worker.request("ping", 0.2)
    worker.resume()
    assert psutil.Process(worker.pid).status() != psutil.STATUS_STOPPED
    assert worker.request("ping", LIMIT_S) == {}
    assert recorder.deaths == []


def test_a_paused_worker_can_be_killed_and_stopped(spawn: Callable[..., Worker], recorder: Recorder) -> None:
    for end, name in ((Worker.kill, "b"), (lambda worker: worker.stop(60), "c")):
        worker = spawn(name=name)
        worker.wait_ready(LIMIT_S)
        worker.pause()
        began = time.monotonic()
        end(worker)
        assert time.monotonic() - began < LIMIT_S
        assert worker.returncode == -signal.SIGKILL
    assert recorder.deaths == []


def test_the_dead_can_not_be_paused(worker: Worker) -> None:
    worker.kill()
    with pytest.raises(EnvironmentNotReady, match="worker b has ended: SIGSTOP can't reach it"):
        worker.pause()


def test_stop_ends_a_worker_orderly(worker: Worker, recorder: Recorder) -> None:
    worker.stop(LIMIT_S)
    assert worker.returncode == 0
    assert recorder.deaths == []
    worker.stop(LIMIT_S)
    with pytest.raises(EnvironmentNotReady, match=r"died \(exit code 0\)"):
        worker.request("ping", LIMIT_S)


def test_stop_kills_after_the_limit(worker: Worker, recorder: Recorder) -> None:
    worker.request("ignore-end-of-input", LIMIT_S)
    worker.stop(0.2)
    assert worker.returncode == -signal.SIGKILL
    assert recorder.deaths == []


def test_a_worker_that_reads_nothing_hangs_nobody(spawn: Callable[..., Worker]) -> None:
    worker = spawn("worker_deaf")
    worker.wait_ready(LIMIT_S)
    for _ in range(2):  # more than a pipe holds, then behind it
        with pytest.raises(EnvironmentNotReady, match=r"did not answer `echo` within 0\.3 s"):
            worker.request("echo", 0.3, text="x" * 200_000)
    worker.stop(0.1)
    assert worker.returncode == -signal.SIGKILL


def test_the_death_of_one_worker_is_seen_while_a_later_one_lives(spawn: Callable[..., Worker]) -> None:
    """The later one must not have inherited the pipes of the first."""
    first = spawn(name="first")
    first.wait_ready(LIMIT_S)
    second = spawn(name="second")
    second.wait_ready(LIMIT_S)
    first.kill()
    assert second.request("ping", LIMIT_S) == {}


def test_a_worker_may_be_killed_from_its_own_callback(
    worker: Worker, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_on_event", lambda event: worker.kill())
    with pytest.raises(EnvironmentNotReady, match="signal SIGKILL"):
        worker.request("emit-for-ever", LIMIT_S, diary=os.devnull)
    assert recorder.deaths == []


def test_each_kind_is_registered_under_its_name() -> None:
    assert {"java", "admin"} <= set(KINDS)
    assert all(kind.name == name for name, kind in KINDS.items())
