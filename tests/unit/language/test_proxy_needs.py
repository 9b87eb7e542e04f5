"""Which scenarios need a proxy, and what is refused before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.cluster.embedded import EmbeddedCluster
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.plan.feasibility import why_not, why_on_no_version
from rocketchaos.harness.rocketmq.client_kinds import client_choice
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from rocketchaos.harness.rocketmq.versions import has_proxy
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.model import Scenario

TEXT = """\
name: example
title: an example
{head}
topics: {{orders: {{queues: 4}}}}
consumers:
  a: {{group: g, subscribe: {{orders: tagA}}{consumer}}}
steps: [start: a, send: {{topic: orders, tag: tagA, count: 4{send}}}]
anomaly: [delivered: {{to: a, count: 0}}]
healthy: [delivered: {{to: a, count: 4}}]
"""


def scenario(head: str = "", consumer: str = "", send: str = "") -> Scenario:
    consumer, send = (f", {item}" if item else "" for item in (consumer, send))
    return parse_scenario(TEXT.format(head=head, consumer=consumer, send=send), "example.scenario.yaml")


@pytest.mark.parametrize(
    ("head", "consumer", "proxy"),
    [
        ("", "", None),
        ("", "client: grpc", "local"),
        ("", "through: proxy", "cluster"),
        ("producer: {client: grpc}", "", "local"),
        ("producer: {through: proxy}", "", "cluster"),
        ("producers: {other: {through: proxy}}", "", "cluster"),
        ("cluster: {brokers: [broker-a, broker-b]}", "client: grpc", "cluster"),
        ("cluster: {slaves: broker-a}", "client: grpc", "cluster"),
        ("cluster: {proxy: cluster}", "client: grpc", "cluster"),
        ("cluster: {proxy: cluster}", "", "cluster"),
    ],
)
def test_who_needs_a_proxy_gets_one(head: str, consumer: str, proxy: str | None) -> None:
    assert scenario(head, consumer).cluster_needs.proxy == proxy


def test_clusters_with_and_without_a_proxy_are_not_shared() -> None:
    shapes = {
        scenario(f"cluster: {{{item}}}").cluster.shape for item in ("", "proxy: local", "proxy: cluster")
    }
    assert len(shapes) == 3


def test_a_proxy_of_its_own_is_a_node() -> None:
    assert scenario("cluster: {proxy: cluster}").cluster.nodes == ("nameserver", "broker-a", "proxy")
    assert "proxy" not in scenario("cluster: {proxy: local}").cluster.nodes


@pytest.mark.parametrize(
    "needs",
    [
        {"proxy": "local", "brokers": ["broker-a", "broker-b"]},
        {"proxy": "local", "slaves": ["broker-a"]},
        {"proxy": "cluster", "brokers": ["proxy"]},
    ],
)
def test_a_proxy_that_can_t_be_is_refused(needs: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=r"in one process with its broker|is the name of two nodes"):
        ClusterNeeds.model_validate(needs)


@pytest.mark.parametrize(
    ("head", "consumer", "reason"),
    [
        ("cluster: {proxy: local}", "", "needs a proxy, which RocketMQ 4.9.4 lacks"),
        ("", "client: grpc", "can't have grpc for a: it needs the proxy of RocketMQ 5, which 4.9.4 lacks"),
        ("", "through: proxy", "can't have java for a: it needs the proxy of RocketMQ 5, which 4.9.4 lacks"),
        (
            "",
            "app: {command: [./a, $proxy], sees: {log: '(?P<key>a)'}}",
            "can't run the program of a: it needs the proxy of RocketMQ 5, which 4.9.4 lacks",
        ),
        ("producer: {client: grpc}", "", "can't have grpc for its producer: it needs the proxy"),
        ("producer: {through: proxy}", "", "can't have java for its producer: it needs the proxy"),
    ],
)
def test_a_version_without_a_proxy_is_refused(head: str, consumer: str, reason: str) -> None:
    shown = scenario(head, consumer)
    assert reason in (why_not(shown, "4.9.4", ClusterKind.EMBEDDED) or "")
    assert why_not(shown, "5.1.0", ClusterKind.EMBEDDED) is None


@pytest.mark.parametrize("consumer", ["client: grpc", "through: proxy"])
def test_a_proxy_that_speaks_tls_alone_serves_no_client_here(consumer: str) -> None:
    reason = why_not(scenario("", consumer), "5.0.0", ClusterKind.EMBEDDED)
    assert "speaks to the proxy without TLS, which 5.0.0 refuses: >=5.1 takes it" in (reason or "")
    assert why_not(scenario("cluster: {proxy: local}"), "5.0.0", ClusterKind.EMBEDDED) is None


@pytest.mark.parametrize(("head", "consumer"), [("", "through: proxy"), ("producer: {through: proxy}", "")])
def test_a_local_proxy_is_no_way_for_clients_that_speak_remoting(head: str, consumer: str) -> None:
    shown = scenario(f"cluster: {{proxy: local}}\n{head}", consumer)
    reason = why_not(shown, "5.5.0", ClusterKind.EMBEDDED)
    assert "goes `through: proxy`, which a proxy in mode LOCAL can't serve" in (reason or "")


@pytest.mark.parametrize(
    ("producer", "message"),
    [
        ("client: grpc", "grpc speaks gRPC to the proxy anyway: leave out `through`"),
        ("client: go", "go sends it no broker's name: leave out `through`"),
        ("name_servers: [nameserver]", "it speaks to the proxy, which asks the name servers for it"),
    ],
)
def test_what_a_producer_through_the_proxy_can_t_say(producer: str, message: str) -> None:
    with pytest.raises(UsageProblem, match=message):
        scenario(f"producer: {{through: proxy, {producer}}}")


def test_containers_have_their_proxy_in_a_container_alone() -> None:
    reason = why_not(scenario("cluster: {proxy: local}"), "5.5.0", ClusterKind.CONTAINERS)
    assert "can't do: proxy: local; `--on embedded` can" in (reason or "")
    assert why_not(scenario("", "client: grpc"), "5.5.0", ClusterKind.CONTAINERS) is None


def test_a_grpc_producer_can_t_choose_queues() -> None:
    reason = why_not(scenario("producer: {client: grpc}", send="per_queue: 1"), "5.5.0", ClusterKind.EMBEDDED)
    assert "it can't choose a queue, as `send` asks" in (reason or "")


@pytest.mark.parametrize(
    "field", ["listener: orderly", "model: broadcasting", "consume_from: last-offset", "through: proxy"]
)
def test_what_a_grpc_consumer_knows_nothing_of_is_refused(field: str) -> None:
    shown = scenario("", field).with_client(client_choice("grpc"))
    name = field.partition(":")[0]
    reason = why_not(shown, "5.5.0", ClusterKind.EMBEDDED)
    assert f"rocketmq-python-client, over gRPC can't do this: leave out `{name}`" in (reason or "")


def test_versions_say_whether_they_have_one() -> None:
    assert [has_proxy(version) for version in ("4.9.7", "5.0.0", "5.5.0")] == [False, True, True]


def test_a_cluster_of_4_9_refuses_a_proxy(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"RocketMQ 4\.9\.4 has no proxy"):
        EmbeddedCluster("4.9.4", COMPRESSED, tmp_path, owner="tests", needs=ClusterNeeds(proxy="local"))


@pytest.mark.parametrize(
    ("head", "consumer", "send", "reason"),
    [
        ("producer: {client: python}", "", "transaction: {state: commit}", "can't send with `transaction`"),
        ("producer: {client: go}", "", "delay: 5s", "can't send with `delay`"),
        ("producer: {client: grpc}", "", "hash_key: k", "orders has no `message.type: FIFO`"),
        ("producer: {client: grpc}", "", "queue: 0", "it can't choose a queue"),
        ("rocketmq: '<5.0'", "client: grpc", "", "it needs the proxy of RocketMQ 5, which 4.9.8 lacks"),
        (
            "",
            "heartbeat_v2: true, client: java@4.9.4",
            "",
            "`heartbeat_v2` is what the client 4.9.4 can't do",
        ),
    ],
)
def test_what_no_version_can_run_is_known_without_one(
    head: str, consumer: str, send: str, reason: str
) -> None:
    found = why_on_no_version(scenario(head, consumer, send))
    assert found is not None
    text, _place = found
    assert text.startswith("no version in its range can run it: with RocketMQ ")
    assert reason in text


@pytest.mark.parametrize(
    ("head", "consumer", "send"),
    [
        ("", "", ""),
        ("rocketmq: '>=5.9'", "client: grpc", ""),
        ("", "heartbeat_v2: true", ""),
        ("producer: {client: java@5.5.0}", "", "delay: 5s"),
        ("rocketmq: '==4.9.2'", "client: java@4.9.4", "oneway: true"),
    ],
)
def test_what_one_version_can_run_is_fine(head: str, consumer: str, send: str) -> None:
    assert why_on_no_version(scenario(head, consumer, send)) is None


def test_a_python_consumer_goes_through_no_proxy() -> None:
    with pytest.raises(UsageProblem, match="can't do this: leave out `through`"):
        scenario(consumer="through: proxy, client: python")
