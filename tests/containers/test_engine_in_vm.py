"""RocketMQ in containers whose addresses this host can't reach, as with Docker Desktop.

The engine here is mostly none in a VM; it is said to be one, and a rule of the packet filter sees to it that the
harness gets at no address of a container.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from rocketchaos.harness.cluster import readiness
from rocketchaos.harness.containers.container_engine import Engine, connect
from rocketchaos.harness.containers.delay_support import choose_mechanism
from rocketchaos.harness.containers.images import Images
from rocketchaos.harness.core import paths
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.reaper.reaper import Reaper
from rocketchaos.harness.rocketmq import reach
from tests.containers.test_containers_cluster import cluster_of, things_of
from tests.embedded.command import ROOT, rocketchaos

pytestmark = pytest.mark.containers

IN_VM = "ROCKETCHAOS_ENGINE_IN_VM"
ALL_OURS = "198.18.0.0/15"
NOBODY_S = "198.19.255.254"
LIMIT_S = 280


@dataclass(frozen=True)
class Fence:
    """Rejects, and counts, what the processes of one group of users send to containers; nobody else is in it."""

    group: int
    chain: str

    def build(self) -> None:
        _iptables("-N", self.chain)
        _iptables("-A", self.chain, "-j", "REJECT")
        _iptables("-I", "OUTPUT", *self._jump)

    def remove(self) -> None:
        for what in (("-D", "OUTPUT", *self._jump), ("-F", self.chain), ("-X", self.chain)):
            subprocess.run(["iptables", "-w", *what], capture_output=True, check=False)

    @property
    def rejected(self) -> int:
        """So many packets."""
        rule = _iptables("-L", self.chain, "-nvx").splitlines()[2]
        return int(rule.split()[0])

    def knock(self) -> None:
        """Be rejected."""
        program = f"import socket; socket.create_connection(('{NOBODY_S}', 1), 5)"
        subprocess.run([sys.executable, "-c", program], group=self.group, capture_output=True, check=False)

    @property
    def _jump(self) -> Sequence[str]:
        return ("-d", ALL_OURS, "-m", "owner", "--gid-owner", str(self.group), "-j", self.chain)


def _iptables(*arguments: str) -> str:
    return subprocess.run(["iptables", "-w", *arguments], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def fence() -> Iterator[Fence]:
    if os.geteuid() != 0 or shutil.which("iptables") is None:
        pytest.skip("only root, with iptables, can keep the harness from the containers' addresses")
    fence = Fence(700_000_000 + os.getpid(), f"rocketchaos-test-{os.getpid()}")
    try:
        try:
            fence.build()
        except subprocess.CalledProcessError as refusal:
            pytest.skip(f"this kernel's packet filter can't tell groups of users apart: {refusal.stderr}")
        fence.knock()
        before = fence.rejected
        assert before > 0, "the fence has a hole"
        yield fence
        assert fence.rejected == before, "the harness went to the address of a container"
    finally:
        fence.remove()


@pytest.fixture
def remote_engine(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The engine of this machine, said to be in a VM."""
    monkeypatch.setenv(IN_VM, "1")
    return connect(engine.base_url)


@pytest.fixture
def environment(engine: Engine, tmp_path: Path) -> dict[str, str]:
    """For a command that takes the engine to be in a VM, and that finds no cluster which somebody keeps up."""
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "maven").symlink_to(paths.maven_folder())
    return {IN_VM: "1", paths.CACHE_VARIABLE: str(cache)}


@pytest.mark.timeout(LIMIT_S + 20)
def test_a_mismatch_is_reproduced(environment: dict[str, str], fence: Fence, tmp_path: Path) -> None:
    done = rocketchaos(
        "reproduce", "same-group-different-tags", "--on", "containers", "--json",
        cwd=tmp_path, limit_s=LIMIT_S, group=fence.group, **environment,
    )  # fmt: skip
    (run,) = done.document["runs"]
    assert (done.code, run["outcome"]) == (0, "reproduced"), run
    folder = Path(run["run_dir"])
    record = json.loads((folder / "run.json").read_text())
    assert record["workers"] == "containers"
    assert [node["address"].startswith("198.1") for node in record["cluster"]["nodes"]] == [True, True]
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    started = [event["data"] for event in events if event["kind"] == "consumer-started"]
    assert [consumer["process"] for consumer in started] == ["own", "own"]
    servers = [event["data"] for event in events if event["kind"] == "node-ready"]
    assert [server["pid"] for server in servers] == [None, None]


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S + 20)
def test_hand_made_heartbeats_and_raw_pulls_get_there(
    environment: dict[str, str], fence: Fence, tmp_path: Path
) -> None:
    done = rocketchaos(
        "run",
        ROOT / "scenarios" / "subscription" / "only-a-greater-version-is-stored.scenario.yaml",
        ROOT / "scenarios" / "pull" / "pull-with-a-match.scenario.yaml",
        "--on", "containers", "--json", cwd=tmp_path, limit_s=LIMIT_S, group=fence.group, **environment,
    )  # fmt: skip
    assert done.code == 0, done.out + done.err
    assert done.document["summary"]["as_expected"] == 2


def test_ports_are_on_loopback_alone_and_found_again_after_a_restart(
    remote_engine: Engine, reaper: Reaper, tmp_path: Path
) -> None:
    cluster = cluster_of(reaper, remote_engine, tmp_path / "cluster", "4.9.4")
    cluster.start()
    try:
        addresses = {node.name: node.address for node in cluster.nodes}
        for node in cluster.nodes:
            container = remote_engine.client.containers.get(str(node.container))
            host, _, port = node.address.partition(":")
            assert host in str(container.attrs["NetworkSettings"]["Networks"])
            published = {at: found for at, found in container.ports.items() if found}
            assert list(published) == [f"{port}/tcp"]
            (there,) = published[f"{port}/tcp"]
            assert there["HostIp"] == "127.0.0.1"
            assert _listening_on(int(there["HostPort"])) <= {"127.0.0.1"}
            assert reach.reachable(node.address) == f"127.0.0.1:{there['HostPort']}"
        broker = addresses["broker-a"]
        cluster.kill_node("broker-a")
        assert cluster.deaths() == []
        with pytest.raises(ConnectionRefusedError, match="no port on this host now"):
            reach.reachable(broker)
        cluster.restart_node("broker-a")
        assert readiness.why_not_ready(cluster.nameserver, broker, broker) is None
        assert {node.name: node.address for node in cluster.nodes} == addresses
        # There is no process here whose end could be seen.
        victim = remote_engine.client.containers.get(str(cluster.nodes[1].container))
        victim.kill("SIGKILL")
        victim.wait()
        assert [death.node for death in cluster.deaths()] == ["broker-a"]
    finally:
        cluster.stop()
    assert things_of(remote_engine, cluster.owner) == []
    assert reach.reachable(broker) == broker


@pytest.mark.nightly
def test_a_broker_behind_toxiproxy_is_asked_through_it(
    remote_engine: Engine, reaper: Reaper, tmp_path: Path
) -> None:
    images = Images(remote_engine, print)
    try:
        if choose_mechanism(remote_engine, images, reaper.owner, "r1") != "toxiproxy":
            pytest.skip("this kernel delays by itself")
    except EnvironmentNotReady as refusal:
        pytest.skip(refusal.message)
    cluster = cluster_of(reaper, remote_engine, tmp_path / "cluster", "4.9.4", delayed=("broker-a",))
    cluster.start()
    try:
        broker = cluster.nodes[1].address
        before = reach.reachable(broker)
        own = {found[0]["HostPort"] for found in _ports_of(remote_engine, str(cluster.nodes[1].container))}
        assert before.partition(":")[2] not in own, "it is asked past the proxy"
        cluster.restart_node("broker-a")
        assert readiness.why_not_ready(cluster.nameserver, broker, broker) is None
    finally:
        cluster.stop()
    assert reach.reachable(broker) == broker


def test_no_cluster_stays_up_for_commands_that_could_not_reach_it(
    environment: dict[str, str], tmp_path: Path
) -> None:
    for command in (["up"], ["reproduce", "same-group-different-tags", "--keep"]):
        done = rocketchaos(*command, "--on", "containers", cwd=tmp_path, **environment)
        assert done.code == 4, done.err
        assert "engine runs in a VM" in done.out + done.err


def _ports_of(engine: Engine, container: str) -> list[list[dict[str, str]]]:
    return [found for found in engine.client.containers.get(container).ports.values() if found]


def _listening_on(port: int) -> set[str]:
    """At which addresses somebody listens on this host; the packet filter alone, or another machine, may do it."""
    return {
        str(connection.laddr.ip)
        for connection in psutil.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
    }
