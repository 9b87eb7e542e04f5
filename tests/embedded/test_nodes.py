"""Clusters of several brokers, and what steps do to nodes, on a real RocketMQ."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from rocketchaos.harness.cluster.base import Killable, Pausable, Restartable
from rocketchaos.harness.cluster.embedded import EmbeddedCluster
from rocketchaos.harness.core.events.servers import FaultEffective
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.reaper.reaper import Reaper, find_owned
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from tests.embedded.command import rocketchaos
from tests.embedded.small_scenario import events_of, held, reproduce

pytestmark = pytest.mark.embedded

NODES = """\
name: nodes
title: brokers are killed, paused and restarted; one has a slave
cluster: {brokers: [broker-a, broker-b], slaves: broker-a, broker: {slaveReadEnable: true}}
topics: {orders: {queues: 2}, bills: {queues: 3, on: broker-b}}
consumers:
  a: {group: g, subscribe: {orders: '*'}}
  b: {group: g, subscribe: {orders: '*'}}
steps:
  - start: [a, b]
  - settle: {ownership: g, within: 40s}
  - send: {topic: orders, count: 8, per_queue: 2}
  - send: {topic: bills, count: 3, per_queue: 1}
  - settle: {offsets: g, topic: orders, within: 60s}
  - pull: {as: of-the-slave, group: g, topic: orders, queue: 0, offset: 0, broker: broker-a-slave, with: '*'}
  - pull: {as: of-b, group: g, topic: bills, queue: 2, offset: 0, with: '*'}
  - observe: before
  - kill: broker-b
  # A client may have a second connection to broker-a, which counts as a member for 120 s.
  - settle: {ownership: g, within: 150s}
  - observe: killed
  - restart: broker-b
  - settle: {ownership: g, within: 60s}
  - settle: {offsets: g, topic: orders, within: 60s}
  - observe: back
  - pause: broker-a
  - observe: paused
  - resume: broker-a
  - stop: nameserver
  - observe: without-name-server
  - restart: nameserver
  - settle: {ownership: g, within: 60s}
  - settle: {route: orders, within: 60s}
  - send: {topic: orders, count: 8, per_queue: 2}
  - settle: {offsets: g, topic: orders, within: 60s}
anomaly:
  - ownership: {group: g, topic: orders, at: before}
  - offsets: {group: g, topic: orders, lag: 0, at: before}
  - pull: {of: of-the-slave, code: FOUND, messages: 2}
  - pull: {of: of-b, code: FOUND, messages: 1}
  - ownership: {of: a, topic: orders, count: 1, at: killed}
  - ownership: {of: b, topic: orders, count: 1, at: killed}
  - ownership: {of: b, topic: orders, count: 2, at: back}
  - log: {node: broker-b, matches: "boot success", at: killed, count: 0}
  - log: {node: broker-b, matches: "boot success", count: 1}
  - delivered: {to: g, topic: orders, count: 16}
  - offsets: {group: g, topic: orders, lag: 0}
healthy:
  - offsets: {group: g, topic: orders, lag: 0, at: killed}
  - offsets: {group: g, topic: orders, lag: 0, at: paused}
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The scenario on both versions, in parallel, because it mostly waits."""
    folders = {version: tmp_path_factory.mktemp(f"nodes-{version}") for version in ("4.9.4", "5.5.0")}
    with ThreadPoolExecutor() as pool:
        found = {
            version: pool.submit(reproduce, NODES, folder, version, limit_s=400)
            for version, folder in folders.items()
        }
    return {version: run.result() for version, run in found.items()}


@pytest.mark.nightly
@pytest.mark.parametrize("version", ["4.9.4", "5.5.0"])
def test_nodes_are_killed_paused_and_restarted(runs: dict[str, dict[str, Any]], version: str) -> None:
    run = runs[version]
    assert held(run) == [True] * 11, run
    # What a server that is gone or stands still holds, nobody can say.
    assert held(run, "healthy") == [None, None], run
    events = events_of(run)
    faults = {
        (event["data"]["fault"], event["data"]["target"]): event["data"]["proof"]
        for event in events
        if event["kind"] in ("fault-effective", "fault-healed")
    }
    assert set(faults) == {
        ("kill", "broker-b"),
        ("restart", "broker-b"),
        ("pause", "broker-a"),
        ("stop", "nameserver"),
        ("restart", "nameserver"),
    }
    assert faults["kill", "broker-b"].endswith("of broker-b ended by SIGKILL")
    assert faults["pause", "broker-a"].endswith("of broker-a goes on")
    pids = [
        event["data"]["pid"]
        for event in events
        if (event["node"], event["kind"]) == ("broker-b", "node-ready")
    ]
    assert len(set(pids)) == 2


def test_a_restarted_broker_keeps_store_port_and_address_and_a_slave_knows_its_master(tmp_path: Path) -> None:
    with Reaper.start() as reaper:
        needs = ClusterNeeds(slaves=("broker-a",))
        cluster = EmbeddedCluster("4.9.4", COMPRESSED, tmp_path / "cluster", owner=reaper.owner, needs=needs)
        cluster.start()
        try:
            assert isinstance(cluster, Killable)
            assert isinstance(cluster, Pausable)
            assert isinstance(cluster, Restartable)
            nameserver, master, slave = cluster.nodes
            assert (master.is_master, slave.slave_of, slave.name) == (True, "broker-a", "broker-a-slave")
            settings = remoting.ask(slave.address, remoting.GET_BROKER_CONFIG).body.decode()
            assert "brokerId=1\n" in settings
            assert "brokerName=broker-a\n" in settings
            (cluster.folder / "broker-a" / "store" / "kept").write_text("kept")
            cluster.kill_node("broker-a")
            cluster.restart_node("broker-a")
            again = cluster.nodes[1]
            assert again.address == master.address
            assert again.pid != master.pid
            assert (cluster.folder / "broker-a" / "store" / "kept").exists()
            assert "boot success" in again.log.read_text()
            assert cluster.deaths() == []
            cluster.pause_node("nameserver")
            assert psutil.Process(nameserver.pid).status() == psutil.STATUS_STOPPED
            with pytest.raises(OSError, match=r"in time|timed out"):
                remoting.ask(cluster.nameserver, remoting.GET_BROKER_CLUSTER_INFO, limit_s=0.5)
            cluster.resume_node("nameserver")
            remoting.ask(cluster.nameserver, remoting.GET_BROKER_CLUSTER_INFO)
        finally:
            cluster.stop()
        assert find_owned(reaper.owner.__eq__) == []


@pytest.mark.extended
@pytest.mark.usefixtures("on_shared_cluster")
def test_a_scenario_about_other_versions_is_left_out_and_named(tmp_path: Path) -> None:
    text = NODES.replace("name: nodes", "name: new\nrocketmq: '>=5.0'")
    (tmp_path / "new.scenario.yaml").write_text(text)
    (tmp_path / "old.scenario.yaml").write_text(
        "name: old\ntitle: t\ntopics: {orders: {queues: 1}}\ngroups: g\nrocketmq: '<5'\nsteps: {wait: 1ms}\n"
        "anomaly: {subscription: {group: g, topic: orders, absent: true}}\n"
        "healthy: {subscription: {group: g, topic: orders, expression: x}}\n"
    )
    ended = rocketchaos("run", tmp_path, "--json", cwd=tmp_path)
    assert ended.code == 0
    assert [run["scenario"] for run in ended.document["runs"]] == ["old"]
    assert ended.document["left_out"] == ["new is about RocketMQ >=5.0, and not about 4.9.4"]
    assert "left out: new is about RocketMQ >=5.0" in ended.err
    ended = rocketchaos("reproduce", tmp_path / "new.scenario.yaml", cwd=tmp_path)
    assert ended.code == 2
    assert "new is about RocketMQ >=5.0, and not about 4.9.4" in ended.err
    assert "starting" not in ended.err


REFUSED = """\
name: refused
title: a broker whose store has files of another size
topics: {orders: {queues: 1}}
groups: [g]
steps:
  - broker-config: {set: {mappedFileSizeConsumeQueue: 20000}}
  - restart: {targets: broker-a, may_be_refused: ALLOWED}
  - observe: refused
  - send: {topic: orders, count: 2, may_fail: true}
anomaly:
  - log: {node: broker-a, matches: length not matched message store config value, at_least: 1}
  - send-refused: {topic: orders, count: 2}
healthy:
  - log: {node: broker-a, matches: boot success, at_least: 1}
"""


@pytest.mark.nightly
@pytest.mark.extended
def test_a_broker_that_does_not_start_is_told_and_the_run_goes_on(tmp_path: Path) -> None:
    runs = {}
    for allowed in ("true", "false"):
        path = tmp_path / f"{allowed}.scenario.yaml"
        path.write_text(REFUSED.replace("ALLOWED", allowed).replace("name: refused", f"name: {allowed}-x"))
        ended = rocketchaos("run", path, "--json", cwd=tmp_path)
        (runs[allowed],) = ended.document["runs"]
    assert runs["true"]["outcome"] == "reproduced", runs["true"]["reason"]
    proofs = [
        (event["data"]["fault"], event["data"]["proof"])
        for event in events_of(runs["true"])
        if event["kind"] == FaultEffective.kind
    ]
    assert [fault for fault, _ in proofs] == ["stop", "restart"]
    assert proofs[-1][1] == "broker-a ended as it started: exit code 253"
    assert runs["false"]["outcome"] == "error"
    assert "broker-a" in runs["false"]["reason"]
