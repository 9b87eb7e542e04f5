"""Several name servers, on a real RocketMQ: who registers with which, and what clients of some of them get."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.cluster.embedded import EmbeddedCluster
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.reaper.reaper import Reaper
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from tests.embedded.small_scenario import events_of, held, reproduce

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

APART = """\
name: name-servers-apart
title: a group on two clusters, and a name server that goes and comes back
cluster:
  brokers: [broker-a, broker-b]
  name_servers: 2
  registers_with: {broker-a: nameserver, broker-b: nameserver-2}
topics: {orders: {queues: 2}}
producer: {name_servers: nameserver-2}
consumers:
  a: {group: g, name_servers: nameserver, subscribe: {orders: tagA}}
  b: {group: g, name_servers: nameserver-2, subscribe: {orders: tagB}}
steps:
  - start: [a, b]
  - settle: {ownership: g, within: 60s}
  - settle: {subscription: g, topic: orders, within: 60s}
  - send: {topic: orders, tag: tagB, count: 4}
  - settle: {delivered: b, count: 4, within: 40s}
  - kill: nameserver-2
  - send: {topic: orders, tag: tagB, count: 4}
  - settle: {delivered: b, count: 8, within: 40s}
  - restart: nameserver-2
  - settle: {route: orders, within: 60s}
  - pause: nameserver
  - send: {topic: orders, tag: tagB, count: 4}
  - settle: {delivered: b, count: 12, within: 40s}
  - resume: nameserver
  - settle: {offsets: g, topic: orders, lag: 0, within: 60s}
anomaly:
  - ownership: {of: a, topic: orders, count: 2}
  - ownership: {of: b, topic: orders, count: 2}
  - ownership: {group: g, topic: orders}
  - subscription: {group: g, topic: orders, broker: broker-a, expression: tagA, clients: 1}
  - subscription: {group: g, topic: orders, broker: broker-b, expression: tagB, clients: 1}
  - delivered: {to: b, topic: orders, count: 12}
healthy:
  - delivered: {to: a, topic: orders, count: 1}
"""


@pytest.mark.parametrize("version", ["4.9.4", pytest.param("5.5.0", marks=pytest.mark.nightly)])
@pytest.mark.nightly
def test_a_group_is_on_two_clusters_and_a_name_server_is_killed_and_comes_back(
    tmp_path: Path, version: str
) -> None:
    run = reproduce(APART, tmp_path, version)
    assert held(run) == [True] * 6, run["checks"]
    assert held(run, "healthy") == [False], run["checks"]
    ready = {event["node"]: event["data"] for event in events_of(run) if event["kind"] == "node-ready"}
    assert [name for name, data in ready.items() if data["role"] == "nameserver"] == [
        "nameserver",
        "nameserver-2",
    ]
    lost = {
        (event["data"]["fault"], event["data"]["target"])
        for event in events_of(run)
        if event["kind"] == "fault-effective"
    }
    assert lost == {("kill", "nameserver-2"), ("pause", "nameserver"), ("restart", "nameserver-2")}


def test_brokers_are_registered_where_they_are_said_to_be_and_nowhere_else(tmp_path: Path) -> None:
    with Reaper.start() as reaper:
        cluster = EmbeddedCluster(
            "4.9.4",
            COMPRESSED,
            tmp_path / "cluster",
            owner=reaper.owner,
            needs=ClusterNeeds(
                brokers=("broker-a", "broker-b"),
                name_servers=3,
                registers_with={"broker-b": ("nameserver-2", "nameserver-3")},
            ),
        )
        cluster.start()
        try:
            assert [node.name for node in cluster.nodes][:3] == ["nameserver", "nameserver-2", "nameserver-3"]
            assert cluster.nameserver.split(";") == [node.address for node in cluster.nodes[:3]]
            assert [_registered(address) for address in cluster.nameserver.split(";")] == [
                {"broker-a"},
                {"broker-a", "broker-b"},
                {"broker-a", "broker-b"},
            ]
            cluster.kill_node("nameserver-3")
            cluster.restart_node("broker-b")
            assert _registered(cluster.nodes[1].address) == {"broker-a", "broker-b"}
            cluster.restart_node("nameserver-3")
            assert _registered(cluster.nodes[2].address) == {"broker-a", "broker-b"}
        finally:
            cluster.stop()


def _registered(name_server: str) -> set[str]:
    body = remoting.ask(name_server, remoting.GET_BROKER_CLUSTER_INFO).body
    return {name for name in ("broker-a", "broker-b") if f'"{name}"'.encode() in body}
