"""Spare workers, with children that have no RocketMQ in them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.reaper.reaper import find_owned, new_owner
from rocketchaos.harness.workers import spares as spares_module
from rocketchaos.harness.workers.program import WorkerPlan
from rocketchaos.harness.workers.spares import Spares
from rocketchaos.harness.workers.worker import Worker
from rocketchaos.harness.workers.worker_kinds import WorkerKind
from tests.waiting import until

CHILDREN = Path(__file__).parent / "children"
KIND = WorkerKind("child", "worker_spare", None)
LIMIT_S = 10.0


class Cluster:
    """One that is up and has spares, without its servers."""

    def __init__(self, folder: Path) -> None:
        self.owner = new_owner()
        self.sockets = folder / "s"
        self.sockets.mkdir()
        self.logs = folder / "logs"

    def spares(self) -> Spares:
        """As each command has them."""
        return Spares(
            self.sockets,
            self.owner,
            None,
            lambda name: WorkerPlan(KIND, name, self.logs / name, self.logs / f"{name}.log"),
        )

    @property
    def pids(self) -> set[int]:
        return {each.pid for each in find_owned(self.owner.__eq__)}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setenv("PYTHONPATH", str(CHILDREN))
    cluster = Cluster(tmp_path)
    yield cluster
    for owned in find_owned(cluster.owner.__eq__):
        owned.end()


def with_two(cluster: Cluster) -> Spares:
    spares = cluster.spares()
    spares.leave(2)
    until(lambda: spares.ready_count == 2)
    return spares


def taken(spares: Spares, deaths: list[Any]) -> Worker:
    spare = spares.take()
    assert spare is not None
    worker = Worker(
        KIND, "shared-1", spare.program, spare.log, lambda _event: None, lambda *death: deaths.append(death)
    )
    worker.wait_ready(LIMIT_S)
    assert worker.request("ping", LIMIT_S) == {}
    return worker


def test_a_command_takes_spares_that_serve_it_alone_and_end_with_it(cluster: Cluster) -> None:
    spares = with_two(cluster)
    deaths: list[Any] = []
    first, second = taken(spares, deaths), taken(cluster.spares(), deaths)
    assert {first.pid, second.pid} == cluster.pids
    assert spares.take() is None
    first.stop(LIMIT_S)  # the end of its standard input ends it, as it does where the command is killed
    second.release()
    until(lambda: cluster.pids == set())
    assert deaths == []
    assert list(cluster.sockets.iterdir()) == []


def test_as_many_are_left_as_are_missing(cluster: Cluster) -> None:
    spares = with_two(cluster)
    before = cluster.pids
    spares.leave(2)
    assert cluster.pids == before
    killed = min(before)
    os.kill(killed, signal.SIGKILL)
    until(lambda: spares.ready_count == 1)
    spares.leave(2)
    until(lambda: spares.ready_count == 2)
    assert before - {killed} < cluster.pids


def test_a_process_that_only_has_the_id_of_a_dead_one_is_left_alone(cluster: Cluster) -> None:
    spares = cluster.spares()
    (cluster.sockets / f"other.a.{os.getpid()}.ready").touch()
    (cluster.sockets / f"{spares._kin()}.b.{os.getpid()}.ready").touch()
    assert spares.ready_count == 0
    spares.leave(0)
    assert list(cluster.sockets.iterdir()) == []


def test_one_that_was_started_in_another_environment_is_replaced(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_two(cluster)
    before = cluster.pids
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dfile.encoding=US-ASCII")
    spares = cluster.spares()
    assert spares.take() is None
    spares.leave(2)
    until(lambda: spares.ready_count == 2)
    until(lambda: not before & cluster.pids)


def test_a_cluster_that_is_gone_gets_no_more(cluster: Cluster) -> None:
    spares = with_two(cluster)
    for file in cluster.sockets.iterdir():
        file.unlink()
    cluster.sockets.rmdir()
    before = cluster.pids
    assert spares.take() is None
    spares.leave(2)
    assert cluster.pids == before
    assert not cluster.sockets.exists()


def test_one_that_a_dead_command_had_renamed_is_ended(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    spares = with_two(cluster)
    abandoned = min(cluster.sockets.iterdir())
    pid = int(abandoned.name.split(".")[2])
    abandoned.rename(abandoned.with_suffix(".taken"))
    spares.leave(1)
    assert pid in cluster.pids, "another command may be about to connect"
    monkeypatch.setattr(spares_module, "_TAKEN_FOR_S", -1.0)
    spares.leave(1)
    until(lambda: pid not in cluster.pids)
    assert spares.ready_count == 1


def test_the_death_of_one_is_told_without_an_exit_code(cluster: Cluster) -> None:
    deaths: list[Any] = []
    worker = taken(with_two(cluster), deaths)
    os.kill(worker.pid, signal.SIGKILL)
    until(lambda: len(deaths) == 1)
    assert deaths == [("shared-1", "unknown exit code", Trouble.ENVIRONMENT)]
    with pytest.raises(EnvironmentNotReady, match="died"):
        worker.request("ping", LIMIT_S)
