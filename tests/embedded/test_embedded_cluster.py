"""Starts real RocketMQ servers; the jars come from the cache, or from Maven the first time."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from rocketchaos.harness.cluster import ports
from rocketchaos.harness.cluster.base import Configurable, Killable
from rocketchaos.harness.cluster.embedded import EmbeddedCluster
from rocketchaos.harness.cluster.running import AttachedCluster, keep, take_down
from rocketchaos.harness.cluster.server_process import ServerProcess
from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.reaper.reaper import Reaper, find_owned, new_owner
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED

pytestmark = pytest.mark.embedded


@pytest.fixture(scope="module")
def reaper() -> Iterator[Reaper]:
    with Reaper.start() as reaper:
        yield reaper


@pytest.fixture
def started(reaper: Reaper, tmp_path: Path) -> Iterator[EmbeddedCluster]:
    cluster = EmbeddedCluster(
        "4.9.4",
        COMPRESSED,
        tmp_path / "cluster",
        owner=reaper.owner,
        needs=ClusterNeeds(broker={"maxMessageSize": "200000"}, brokers=("broker-a", "broker-b")),
    )
    cluster.start()
    yield cluster
    cluster.stop()


def failing(reaper: Reaper, tmp_path: Path, configuration: dict[str, str]) -> EmbeddedCluster:
    needs = ClusterNeeds(broker=configuration)
    return EmbeddedCluster("4.9.4", COMPRESSED, tmp_path / "cluster", owner=reaper.owner, needs=needs)


def test_a_started_cluster_is_ready_and_a_stopped_one_leaves_nothing(
    started: EmbeddedCluster, reaper: Reaper, tmp_path: Path
) -> None:
    assert isinstance(started, Killable)
    assert isinstance(started, Configurable)
    assert [node.name for node in started.nodes] == ["nameserver", "broker-a", "broker-b"]
    assert started.nameserver == started.nodes[0].address
    registered = remoting.ask(started.nameserver, remoting.GET_BROKER_CLUSTER_INFO).body.decode()
    for broker in started.nodes[1:]:
        assert f'"{broker.address}"' in registered
        settings = remoting.ask(broker.address, remoting.GET_BROKER_CONFIG).body.decode()
        # RocketMQ's own are 4 MiB and 1000.
        assert "maxMessageSize=200000\n" in settings
        assert "shortPollingTimeMills=100\n" in settings
        assert "boot success" in broker.log.read_text()
    assert {process.pid for process in find_owned(reaper.owner.__eq__)} == {
        node.pid for node in started.nodes
    }
    assert started.deaths() == []

    started.stop()
    assert find_owned(reaper.owner.__eq__) == []
    assert started.deaths() == []
    for node in started.nodes:
        assert ports.is_free(int(node.address.rpartition(":")[2]))
    started.stop()


def test_a_server_that_ends_unasked_is_a_death_and_one_that_was_killed_is_none(
    started: EmbeddedCluster,
) -> None:
    nameserver, first, second = started.nodes
    started.kill_node("broker-a")
    assert first.pid is not None
    assert not psutil.pid_exists(first.pid)
    assert started.deaths() == []
    assert second.pid is not None
    os.kill(second.pid, signal.SIGKILL)
    Retrying(
        retry=retry_if_result(lambda deaths: not deaths), wait=wait_fixed(0.02), stop=stop_after_delay(5)
    )(started.deaths)
    (death,) = started.deaths()
    assert death.node == "broker-b"
    assert death.reason.startswith("signal SIGKILL; last line of its log: ")
    assert nameserver.pid is not None
    assert psutil.pid_exists(nameserver.pid)
    with pytest.raises(KeyError):
        started.kill_node("broker-c")


def test_the_servers_write_only_into_their_folder(started: EmbeddedCluster) -> None:
    for node in started.nodes:
        process = psutil.Process(node.pid)
        assert process.cwd() == str(started.folder / node.name)
        written = [file.path for file in process.open_files() if file.mode != "r"]
        assert written
        assert all(path.startswith(str(started.folder / node.name)) for path in written)


def test_a_port_the_user_asked_for_that_is_taken_is_a_message_with_its_holder(
    reaper: Reaper, tmp_path: Path
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        cluster = EmbeddedCluster("4.9.4", COMPRESSED, tmp_path, owner=reaper.owner, nameserver_port=port)
        with pytest.raises(EnvironmentNotReady, match=rf"port {port} is taken by .* \(pid {os.getpid()}\)"):
            cluster.start()
    assert cluster.nodes == []


@pytest.mark.extended
def test_a_port_lost_to_another_program_means_another_try_with_others(
    reaper: Reaper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as other:
        other.bind(("0.0.0.0", 0))
        other.listen()
        choices = iter(
            [ports.ServerPorts(ports.choose(1).name_servers, [other.getsockname()[1]]), ports.choose(1)]
        )
        monkeypatch.setattr(ports, "choose", lambda _count, _port, **_with: next(choices))
        cluster = EmbeddedCluster("4.9.4", COMPRESSED, tmp_path / "cluster", owner=reaper.owner)
        cluster.start()
    try:
        assert cluster.start_attempts == 2
        assert len(find_owned(reaper.owner.__eq__)) == 2
    finally:
        cluster.stop()


def test_settings_that_rocketmq_ignores_in_silence_are_wrong_usage(reaper: Reaper, tmp_path: Path) -> None:
    cluster = failing(reaper, tmp_path, {"maxMessageSiez": "1", "flushConsumerOffsetInterval": "fast"})
    with pytest.raises(UsageProblem) as raised:
        cluster.start()
    assert "maxMessageSiez (there is no such setting; is maxMessageSize meant?)" in raised.value.message
    assert "flushConsumerOffsetInterval=fast (it runs with 5000)" in raised.value.message
    assert find_owned(reaper.owner.__eq__) == []


def test_a_broker_that_cannot_start_is_one_message_with_the_end_of_its_output(
    reaper: Reaper, tmp_path: Path
) -> None:
    cluster = failing(reaper, tmp_path, {"sendMessageThreadPoolNums": "-1"})
    with pytest.raises(EnvironmentNotReady) as raised:
        cluster.start()
    assert raised.value.message == "broker-a could not be started: ended with exit code 255"
    assert "IllegalArgumentException" in raised.value.hint
    assert str(tmp_path / "cluster" / "broker-a" / "server.log") in raised.value.hint
    assert find_owned(reaper.owner.__eq__) == []


def test_a_disk_that_is_too_full_is_a_message(
    reaper: Reaper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type(psutil.disk_usage("/"))
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage(100 << 40, 99 << 40, 1 << 40, 99.0))
    with pytest.raises(EnvironmentNotReady, match="the disk is too full"):
        failing(reaper, tmp_path, {}).start()


def test_a_broker_that_missed_its_name_server_is_to_register(
    reaper: Reaper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RocketMQ's own second try is 10 s later."""
    cluster = EmbeddedCluster("4.9.4", COMPRESSED, tmp_path / "cluster", owner=reaper.owner)
    nameserver_starts = threading.Event()
    start = ServerProcess.start

    def late(server: ServerProcess) -> None:
        start(server)
        if server.role == "broker":
            return
        # Stopped at once, the name server comes up long after the broker has looked for it.
        os.kill(server.node.pid or 0, signal.SIGSTOP)

        def go_on() -> None:
            broker_log = cluster.folder / "broker-a" / "server.log"
            Retrying(
                retry=retry_if_result(lambda text: "boot success" not in text),
                wait=wait_fixed(0.05),
                stop=stop_after_delay(30),
            )(lambda: broker_log.read_text() if broker_log.exists() else "")
            os.kill(server.node.pid or 0, signal.SIGCONT)
            nameserver_starts.set()

        threading.Thread(target=go_on, daemon=True).start()

    monkeypatch.setattr(ServerProcess, "start", late)
    try:
        cluster.start()
        assert nameserver_starts.is_set()
        log = (cluster.folder / "broker-a" / "server.log").read_text()
        assert "updateBrokerConfig, new config: [{brokerPermission=6}]" in log
    finally:
        cluster.stop()


def test_a_kept_cluster_outlives_its_reaper_and_can_be_used_and_taken_down(
    reaper: Reaper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = new_owner()
    cluster = EmbeddedCluster("4.9.4", COMPRESSED, tmp_path / "cluster", owner=owner)
    with Reaper.start() as short:
        short.watch(owner)
        cluster.start()
        monkeypatch.setenv("ROCKETCHAOS_CACHE", str(tmp_path / "cache"))
        record = keep(cluster)
        short.unwatch(owner)
        short._close(b"")
    attached = AttachedCluster(record)
    attached.start()
    assert attached.nameserver == cluster.nameserver
    begin = time.monotonic()
    take_down(record)
    assert time.monotonic() - begin < 5
    assert find_owned(owner.__eq__) == []
    assert not cluster.folder.exists()
    cluster.stop()


@pytest.mark.extended
def test_a_broker_of_5x_burns_no_core_for_its_first_seconds(reaper: Reaper, tmp_path: Path) -> None:
    """Its TransactionMetricsFlushService runs in circles until it first writes, by default for 10 s (5.5.0)."""
    cluster = EmbeddedCluster("5.5.0", COMPRESSED, tmp_path / "cluster", owner=reaper.owner)
    cluster.start()
    try:
        broker = cluster.nodes[1]
        written = cluster.folder / broker.name / "store" / "config" / "transactionMetrics"
        Retrying(
            retry=retry_if_result(lambda there: not there), wait=wait_fixed(0.05), stop=stop_after_delay(60)
        )(written.exists)
        assert broker.pid is not None
        assert 0 < _processor_seconds(broker.pid, "TransactionFlus") < 1
    finally:
        cluster.stop()


def _processor_seconds(pid: int, thread: str) -> float:
    """Of the threads of a process whose name the kernel has like this."""
    seconds = 0.0
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == thread:
            times = (task / "stat").read_text().rpartition(")")[2].split()
            seconds += (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
    return seconds
