"""Several consumers in one process of a run's own."""

from __future__ import annotations

from typing import Any, cast

from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.workers.joint_process import JointProcess
from rocketchaos.harness.workers.worker import OnDeath, OnEvent, Worker
from rocketchaos.harness.workers.worker_events import WorkerEvent


class Process:
    def __init__(self, on_event: OnEvent, on_death: OnDeath) -> None:
        self.on_event, self.on_death = on_event, on_death
        self.alive = True
        self.done: list[str] = []

    def kill(self) -> None:
        self.done.append("kill")
        self.alive = False

    def terminate(self) -> None:
        self.done.append("terminate")
        self.alive = False

    def stop(self, _limit_s: float) -> None:
        self.done.append("stop")
        self.alive = False

    release = kill


class Joined:
    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []
        self.died: list[str] = []
        self.joint = JointProcess(lambda on_event, on_death: cast(Worker, Process(on_event, on_death)))
        self.process = cast(Process, self.joint.worker)
        self.a, self.b = self.join("a"), self.join("b")

    def join(self, name: str) -> Any:
        return self.joint.join(
            name, lambda event: self.events.append((name, event.kind)), lambda who, *_: self.died.append(who)
        )


def event(kind: str, **data: Any) -> WorkerEvent:
    return WorkerEvent("a", 1, 1, kind, data)


def test_events_go_to_whom_they_name_and_the_process_s_own_to_the_first() -> None:
    joined = Joined()
    joined.process.on_event(event("ready", pid=1))
    joined.process.on_event(event("received", consumer="b"))
    joined.process.on_event(event("received", consumer="nobody"))
    assert joined.events == [("a", "ready"), ("b", "received")]


def test_a_kill_is_of_all_and_each_finds_it_done() -> None:
    joined = Joined()
    joined.a.kill()
    assert (joined.a.alive, joined.b.alive, joined.joint.ended) == (False, True, True)
    joined.b.kill()
    assert not joined.b.alive


def test_sigterm_comes_once() -> None:
    joined = Joined()
    joined.a.terminate()
    joined.b.terminate()
    assert joined.process.done == ["terminate"]


def test_the_last_one_takes_the_process_along() -> None:
    joined = Joined()
    joined.a.stop(1)
    assert (joined.process.done, joined.a.alive, joined.b.alive) == ([], False, True)
    joined.b.release()
    assert (joined.process.done, joined.joint.ended) == (["kill"], True)


def test_a_death_is_of_those_who_live_there() -> None:
    joined = Joined()
    joined.a.stop(1)
    joined.process.alive = False
    joined.process.on_death("a", "killed by somebody", Trouble.ENVIRONMENT)
    assert joined.died == ["b"]
    assert not joined.b.alive


def test_what_comes_before_a_place_is_taken_is_reported_then() -> None:
    """A program starts all its consumers at once, and the harness asks for one after the other."""
    joined = Joined()
    joined.process.on_event(event("received", consumer="c"))
    joined.process.on_event(event("consumed", consumer="c"))
    assert joined.events == []
    joined.join("c")
    joined.process.on_event(event("received", consumer="c"))
    assert joined.events == [("c", "received"), ("c", "consumed"), ("c", "received")]
