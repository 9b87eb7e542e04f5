"""Shared workers, with children that have no RocketMQ in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect, RequestFailed
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.workers.lease import Lease
from rocketchaos.harness.workers.on_host import OnHost
from rocketchaos.harness.workers.shared_workers import CLIENTS_AT_MOST, SharedWorkers, Tenancy
from rocketchaos.harness.workers.worker import Worker
from rocketchaos.harness.workers.worker_events import WorkerEvent
from rocketchaos.harness.workers.worker_kinds import WorkerKind
from tests.waiting import until

CHILDREN = Path(__file__).parent / "children"
LIMIT_S = 10.0
SHARED_FOR_S = 60.0


class Run:
    """A run of two clients, and what it heard of them."""

    def __init__(self, workers: SharedWorkers, token: str) -> None:
        self.tenancy: Tenancy = workers.tenancy(token)
        self.heard: list[tuple[str, str]] = []
        self.deaths: list[tuple[str, str, Trouble]] = []
        self.fail: Exception | None = None

    def client(self, name: str, **with_: Any) -> Lease:
        lease = self.tenancy.lease(
            name, "child", "4.9.4", self._on_event, lambda *death: self.deaths.append(death)
        )
        lease.wait_ready(LIMIT_S)
        lease.request("start-consumer", LIMIT_S, name=name, **with_)
        return lease

    def _on_event(self, event: WorkerEvent) -> None:
        if self.fail is not None:
            raise self.fail
        self.heard.append((event.data["consumer"], event.data["text"]))


@pytest.fixture
def clock() -> list[float]:
    """What time it is for the workers, in seconds."""
    return [0.0]


@pytest.fixture
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> Iterator[SharedWorkers]:
    monkeypatch.setenv("PYTHONPATH", str(CHILDREN))

    def spawn(_kind: str, _version: str, name: str, on_event: Any, on_death: Any) -> Worker:
        kind = WorkerKind("child", "worker_host", None)
        return Worker.spawn(
            kind, name, home=OnHost("run-7"), log_folder=tmp_path, on_event=on_event, on_death=on_death
        )

    shared = SharedWorkers(spawn, 2, SHARED_FOR_S, lambda: clock[0])
    yield shared
    shared.close()


def test_clients_of_one_name_are_told_apart(workers: SharedWorkers, tmp_path: Path) -> None:
    item, other = Run(workers, "tok1"), Run(workers, "tok2")
    for number, run in enumerate((item, other)):
        a, b = run.client("a"), run.client("b")
        assert a.pid != b.pid, "members of one run live apart where they can"
        a.request("say", LIMIT_S, name="a", text=f"{number}")
        b.request("say", LIMIT_S, name="b", text=f"{number}")
    a.request("say-of-nobody", LIMIT_S)
    assert item.heard == [("a", "0"), ("b", "0")]
    assert other.heard == [("a", "1"), ("b", "1")]
    assert len(workers.pids) == 2
    assert workers.run_count() == 2
    assert a.request("list-clients", LIMIT_S) == {"clients": ["tok1:a", "tok2:a"]}
    item.tenancy.end(tmp_path)
    assert a.request("list-clients", LIMIT_S) == {"clients": ["tok2:a"]}
    assert workers.run_count() == 1
    assert len(workers.pids) == 2, "a worker outlives its clients"
    assert (item.deaths, other.deaths) == ([], [])


def test_a_stopped_client_leaves_and_its_place_is_free(workers: SharedWorkers) -> None:
    run = Run(workers, "tok1")
    a = run.client("a")
    a.request("stop-consumer", LIMIT_S, name="a")
    a.stop(LIMIT_S)
    assert not a.alive
    assert psutil.pid_exists(a.pid)
    b = run.client("b")
    assert b.request("list-clients", LIMIT_S) == {"clients": ["tok1:b"]}


def test_an_old_worker_takes_nobody_in_and_is_gone_with_the_last_who_lives_in_it(
    workers: SharedWorkers, tmp_path: Path, clock: list[float]
) -> None:
    item, other = Run(workers, "tok1"), Run(workers, "tok2")
    a, b = item.client("a"), other.client("b")
    assert a.pid != b.pid
    clock[0] = SHARED_FOR_S + 1
    assert workers.pids == ()
    later = Run(workers, "tok3")
    c = later.client("c")
    assert c.pid not in (a.pid, b.pid)
    assert a.request("list-clients", LIMIT_S) == {"clients": ["tok1:a"]}
    item.tenancy.end(tmp_path / "one")
    until(lambda: not psutil.pid_exists(a.pid))
    assert psutil.pid_exists(b.pid), "somebody lives there yet"
    until(lambda: not (tmp_path / f"{a._worker.name}.log").exists())
    assert (tmp_path / f"{b._worker.name}.log").exists()
    assert (item.deaths, other.deaths, later.deaths) == ([], [], [])
    assert workers.pids == (c.pid,)


def test_the_death_of_a_worker_is_the_trouble_of_those_in_it_alone(
    workers: SharedWorkers, tmp_path: Path
) -> None:
    struck, spared = Run(workers, "tok1"), Run(workers, "tok2")
    a = struck.client("a")
    b = next(client for client in (spared.client("b"), spared.client("c")) if client.pid != a.pid)
    for lease in [lease for _, lease in spared.tenancy._leases if lease is not b]:
        lease.stop(LIMIT_S)
    psutil.Process(a.pid).kill()
    until(lambda: bool(struck.deaths))
    ((name, reason, trouble),) = struck.deaths
    assert (name, trouble) == ("a", Trouble.ENVIRONMENT)
    assert reason == f"signal SIGKILL (process {a.pid}, shared with other runs)"
    assert spared.deaths == []
    assert b.request("ping", LIMIT_S) == {}
    again = Run(workers, "tok3")
    assert a.pid not in {again.client("a").pid, again.client("b").pid}
    struck.tenancy.end(tmp_path / "run")
    assert (tmp_path / "run" / f"{a._worker.name}.log").exists()
    assert (tmp_path / f"{a._worker.name}.log").exists(), "the other one, who lived there too, will read it"
    spared.tenancy.end(tmp_path / "other")
    until(lambda: not (tmp_path / f"{a._worker.name}.log").exists())


def test_a_worker_that_cannot_stop_a_client_is_gone_with_the_last_who_lives_in_it(
    workers: SharedWorkers, tmp_path: Path
) -> None:
    run, neighbour = Run(workers, "tok1"), Run(workers, "tok2")
    stubborn = run.client("stubborn")
    beside = next(c for c in (neighbour.client("a"), neighbour.client("b")) if c.pid == stubborn.pid)
    run.tenancy.end(tmp_path)
    assert stubborn.pid not in workers.pids
    assert beside.request("list-clients", LIMIT_S) == {"clients": ["tok1:stubborn", f"tok2:{beside.name}"]}
    later = Run(workers, "tok3")
    assert stubborn.pid not in {later.client("a").pid, later.client("b").pid, later.client("c").pid}
    neighbour.tenancy.end(tmp_path)
    until(lambda: not psutil.pid_exists(stubborn.pid))
    assert later.deaths == []


def test_a_client_that_failed_to_start_condemns_its_worker_and_a_refusal_does_not(
    workers: SharedWorkers,
) -> None:
    run = Run(workers, "tok1")
    a = run.client("a")
    with pytest.raises(RequestFailed, match="TOPIC_NOT_EXIST"):
        a.request("refuse", LIMIT_S, name="a")
    assert a.pid in workers.pids
    with pytest.raises(RequestFailed, match="not this expression"):
        a.request("start-consumer", LIMIT_S, name="a2", refuse=True)
    assert a.pid not in workers.pids


def test_a_run_that_cannot_take_an_event_is_alone_with_it(workers: SharedWorkers) -> None:
    broken, sound = Run(workers, "tok1"), Run(workers, "tok2")
    broken.fail = ZeroDivisionError("of its own making")
    for run in (broken, sound):
        run.client("a").request("say", LIMIT_S, name="a", text="hello")
    ((name, reason, trouble),) = broken.deaths
    assert (name, trouble) == ("a", Trouble.HARNESS)
    assert "ZeroDivisionError" in reason
    assert sound.heard == [("a", "hello")]
    assert sound.deaths == []


def test_nobody_in_a_shared_process_can_be_killed_terminated_or_paused(workers: SharedWorkers) -> None:
    a = Run(workers, "tok1").client("a")
    for act in (a.kill, a.terminate, lambda: a.wait_terminated(LIMIT_S), a.pause, a.resume):
        with pytest.raises(HarnessDefect, match="shares its process"):
            act()
    assert a.alive


def test_a_request_that_the_death_cuts_off_says_whose_it_was(workers: SharedWorkers) -> None:
    a = Run(workers, "tok1").client("a")
    with pytest.raises(
        EnvironmentNotReady, match=r"the worker a died: signal SIGKILL .*before it answered `die`"
    ):
        a.request("die", LIMIT_S)
    assert a.pid not in workers.pids


def test_a_full_worker_is_not_the_last(workers: SharedWorkers) -> None:
    run = Run(workers, "tok1")
    clients = [run.client(f"c{number}") for number in range(2 * CLIENTS_AT_MOST + 1)]
    assert len({client.pid for client in clients}) == 3


def test_after_the_end_there_is_no_place(workers: SharedWorkers, tmp_path: Path) -> None:
    run = Run(workers, "tok1")
    a = run.client("a")
    workers.close()
    workers.close()
    assert not psutil.pid_exists(a.pid)
    assert run.deaths == []
    with pytest.raises(EnvironmentNotReady, match="have ended"):
        run.client("b")
    run.tenancy.end(tmp_path)


def test_a_client_can_be_had_beside_another_one(workers: SharedWorkers) -> None:
    run = Run(workers, "run")
    first, second = run.client("a"), run.client("b")
    assert first.pid != second.pid
    beside = run.tenancy.lease("c", "child", "4.9.4", run._on_event, lambda *_: None, "b")
    assert beside.pid == second.pid
