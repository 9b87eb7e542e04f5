"""Several consumers in one process of a run's own."""

from __future__ import annotations

from typing import Any, cast

from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.workers.room import Room
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


class Stage:
    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []
        self.died: list[str] = []
        self.room = Room(lambda on_event, on_death: cast(Worker, Process(on_event, on_death)))
        self.process = cast(Process, self.room.worker)
        self.a, self.b = self.enter("a"), self.enter("b")

    def enter(self, name: str) -> Any:
        return self.room.enter(
            name, lambda event: self.events.append((name, event.kind)), lambda who, *_: self.died.append(who)
        )


def event(kind: str, **data: Any) -> WorkerEvent:
    return WorkerEvent("a", 1, 1, kind, data)


def test_events_go_to_whom_they_name_and_the_process_s_own_to_the_first() -> None:
    stage = Stage()
    stage.process.on_event(event("ready", pid=1))
    stage.process.on_event(event("received", consumer="b"))
    stage.process.on_event(event("received", consumer="nobody"))
    assert stage.events == [("a", "ready"), ("b", "received")]


def test_a_kill_is_of_all_and_each_finds_it_done() -> None:
    stage = Stage()
    stage.a.kill()
    assert (stage.a.alive, stage.b.alive, stage.room.ended) == (False, True, True)
    stage.b.kill()
    assert not stage.b.alive


def test_sigterm_comes_once() -> None:
    stage = Stage()
    stage.a.terminate()
    stage.b.terminate()
    assert stage.process.done == ["terminate"]


def test_the_last_one_takes_the_process_along() -> None:
    stage = Stage()
    stage.a.stop(1)
    assert (stage.process.done, stage.a.alive, stage.b.alive) == ([], False, True)
    stage.b.release()
    assert (stage.process.done, stage.room.ended) == (["kill"], True)


def test_a_death_is_of_those_who_live_there() -> None:
    stage = Stage()
    stage.a.stop(1)
    stage.process.alive = False
    stage.process.on_death("a", "killed by somebody", Trouble.ENVIRONMENT)
    assert stage.died == ["b"]
    assert not stage.b.alive
