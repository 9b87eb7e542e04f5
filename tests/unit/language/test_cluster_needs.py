"""What a scenario needs of its cluster, and of RocketMQ's version."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from rocketchaos.harness.cluster.base import CAPABILITIES, lacking
from rocketchaos.harness.cluster.cluster_kinds import CAN_NOT, ClusterKind, cluster_class
from rocketchaos.harness.cluster.container_cluster import ContainersCluster
from rocketchaos.harness.cluster.embedded import EmbeddedCluster
from rocketchaos.harness.cluster.running import AttachedCluster
from rocketchaos.harness.cluster.server_settings import portable_jvm_arguments
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.engine.placement import own_processes
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.plan.matrix import Matrix, plan
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.rocketmq.version_range import why_not_in
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.scenario.model import Scenario

TEXT = """\
name: example
title: an example
{head}
topics: {{orders: {{queues: 4}}, bills: {{queues: 2, on: [broker-a]}}}}
consumers:
  a: {{group: g, subscribe: {{orders: tagA}}}}
  b: {{group: g, subscribe: {{orders: tagB}}}}
steps:
  - start: [a, b]
  - {step}
anomaly: {{{check}}}
healthy: {{delivered: {{to: g, count: 8}}}}
"""


def scenario(
    step: str = "wait: 1s", head: str = "timing: compressed", check: str = "delivered: {to: a, count: 1}"
) -> Scenario:
    return parse_scenario(TEXT.format(step=step, head=head, check=check), "x.yaml")


def test_nodes_and_queues_follow_from_the_cluster() -> None:
    two = scenario(head="cluster: {brokers: [broker-a, broker-b], slaves: broker-b}")
    assert two.cluster.nodes == ("nameserver", "broker-a", "broker-b", "broker-b-slave")
    assert (two.queue_count("orders"), two.queue_count("bills")) == (8, 2)
    assert (scenario().queue_count("orders"), scenario().cluster.nodes) == (4, ("nameserver", "broker-a"))


@pytest.mark.parametrize(
    ("brokers", "slaves"),
    [
        ((), ()),
        (("a", "a"), ()),
        (("nameserver",), ()),
        (("a",), ("b",)),
        (("a", "a-slave"), ("a",)),
        (("a",), ("a", "a")),
        (("room@a", "-"), ()),
    ],
)
def test_impossible_topologies(brokers: tuple[str, ...], slaves: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError):
        ClusterNeeds(brokers=brokers, slaves=slaves)


NEEDS = {
    "wait: 1s": set(),
    "kill: a": set(),
    "kill: broker-a": {"kill"},
    "pause: [a, nameserver]": {"pause"},
    "restart: broker-a": {"restart"},
    "broker-config: {set: {maxMessageSize: 1000}}": {"configure"},
    "mqadmin: {as: wipe, command: wipeWritePerm -b broker-a}": {"configure"},
    "mqadmin: {as: progress, command: consumerProgress -g <g>}": set(),
    "ask: {as: wipe, node: nameserver, code: 205, fields: {brokerName: broker-a}}": {"configure"},
    "ask: {as: ids, node: broker-a, code: 38, fields: {consumerGroup: <g>}}": set(),
    "repeat: {times: 2, steps: [restart: broker-a]}": {"restart"},
    "parallel: [[kill: broker-a], [pause: nameserver]]": {"kill", "pause"},
}


@pytest.mark.parametrize(("step", "needed"), NEEDS.items(), ids=list(NEEDS))
def test_what_steps_do_to_nodes_needs_a_cluster_of_its_own(step: str, needed: set[str]) -> None:
    made = scenario(step)
    assert made.required_capabilities == needed
    assert made.needs_own_cluster is bool(needed)


def test_whoever_says_so_gets_a_cluster_and_whoever_needs_the_same_shares_one() -> None:
    assert scenario(head="cluster: {own: true}").needs_own_cluster
    two = scenario(head="cluster: {brokers: [broker-a, broker-b]}")
    assert not two.needs_own_cluster
    assert two.required_capabilities == {"configure"}
    assert two.cluster.shape != scenario().cluster.shape == scenario(head="cluster: {}").cluster.shape
    settings = [
        scenario(head=f"cluster: {{broker: {{{lines}}}}}").cluster.shape
        for lines in ("a: true, b: 1", "b: '1', a: 'true'", "a: true")
    ]
    assert settings[0] == settings[1] != settings[2]


def test_servers_speak_tls_where_a_client_does() -> None:
    assert not scenario().cluster_needs.tls
    assert scenario(head="cluster: {tls: true}").cluster_needs.tls
    assert scenario(head="producer: {settings: {useTLS: true}}").cluster_needs.tls
    assert not scenario(head="producer: {settings: {useTLS: false}}").cluster_needs.tls
    assert "-Dtls.server.mode=permissive" in portable_jvm_arguments(Path("a.log"), tls=True)
    assert "-Dtls.server.mode=disabled" in portable_jvm_arguments(Path("a.log"), tls=False)


ONE = "cluster: {brokers: [broker-a, broker-b], broker: {a: 1, b: 1}, one_broker: {broker-b: {b: 2}}}"


def test_lines_of_one_broker_win_over_those_of_all() -> None:
    cluster = scenario(head=ONE).cluster
    assert cluster.lines_of("broker-a") == {"a": "1", "b": "1"}
    assert cluster.lines_of("broker-b") == {"a": "1", "b": "2"}
    assert cluster.shape != scenario(head=ONE.replace("b: 2", "b: 3")).cluster.shape
    assert cluster.leaves_permissions
    assert not scenario(head=ONE.replace("b: 2", "brokerPermission: 4")).cluster.leaves_permissions


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("{broker-b: {", "{broker-c: {"), "there is no broker `broker-c`"),
        (("b: 2", "brokerName: x"), "brokerName: the harness itself decides"),
        (("b: 2", "tls.server.mode: enforcing"), "tls.server.mode: servers read that from system properties"),
        (("b: 2", "brokerRole: SLAVE"), "a master, ASYNC_MASTER or SYNC_MASTER; `slaves` gives it a slave"),
    ],
)
def test_one_broker_is_one_of_the_cluster_and_takes_lines_as_all_do(
    change: tuple[str, str], message: str
) -> None:
    with pytest.raises(InvalidScenario, match=message):
        scenario(head=ONE.replace(*change))


def test_lines_of_name_servers_make_another_cluster() -> None:
    head = "cluster: {namesrv: {orderMessageEnable: true}}"
    assert scenario(head=head).cluster_needs.shape != scenario().cluster_needs.shape
    with pytest.raises(InvalidScenario, match="listenPort: the harness itself decides"):
        scenario(head=head.replace("orderMessageEnable: true", "listenPort: 1"))
    with pytest.raises(InvalidScenario, match=r"`tls: true` of `cluster` makes them speak TLS"):
        scenario(head=head.replace("orderMessageEnable: true", "tls.enable: true"))


def test_a_running_broker_takes_no_lines_for_tls() -> None:
    with pytest.raises(InvalidScenario, match="tlsMode: servers read that from system properties"):
        scenario("broker-config: {set: {tlsMode: enforcing}}")


def test_a_master_may_wait_for_its_slave() -> None:
    assert scenario(head=ONE.replace("b: 2", "brokerRole: SYNC_MASTER")).cluster.lines_of("broker-b") == {
        "a": "1",
        "b": "1",
        "brokerRole": "SYNC_MASTER",
    }


def test_containers_can_do_nearly_all_and_a_cluster_that_others_keep_up_nothing() -> None:
    assert lacking(ContainersCluster, CAPABILITIES) == (
        "access control",
        "controller",
        "fill a disk",
        "flow control",
        "lose files",
        "proxy: local",
        "several name servers",
        "stall",
        "upgrade",
    )
    of_nodes = ("configure", "kill", "pause", "restart", "stall", "stop")
    of_containers = ("container workers", "dashboard", "delay", "hostnames", "partition")
    assert lacking(EmbeddedCluster, CAPABILITIES) == of_containers
    of_all = (
        *of_nodes,
        *of_containers,
        "access control",
        "controller",
        "fill a disk",
        "flow control",
        "lose files",
        "proxy: local",
        "several name servers",
        "upgrade",
    )
    assert lacking(AttachedCluster, CAPABILITIES) == tuple(sorted(of_all))
    assert lacking(AttachedCluster, {"kill"}) == ("kill",)
    assert lacking(AttachedCluster, ()) == ()


@pytest.mark.parametrize("kind", ClusterKind)
def test_what_a_kind_of_cluster_is_said_to_lack_is_what_its_class_lacks(kind: ClusterKind) -> None:
    assert tuple(sorted(CAN_NOT[kind])) == lacking(cluster_class(kind), CAPABILITIES)


def test_what_no_cluster_can_do_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "rocketchaos.harness.plan.feasibility.CAN_NOT", dict.fromkeys(ClusterKind, frozenset(CAPABILITIES))
    )
    with pytest.raises(UsageProblem, match="can't do: kill; no kind of cluster can"):
        Runner(Options(runs=tmp_path)).run(Job(scenario("kill: broker-a"), "4.9.4"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("wanted", "version", "fits"),
    [
        ("", "4.9.4", True),
        (">=5.0", "4.9.4", False),
        (">=5.0", "5.0.0", True),
        ("<5", "4.9.8", True),
        (">=4.9.4,<5.2", "5.1.4", True),
        (">=4.9.4,<5.2", "5.2.0", False),
        (">=4.9.4", "4.9.3", False),
        ("==4.9.4", "4.9.4", True),
    ],
)
def test_versions_in_and_out_of_a_range(wanted: str, version: str, fits: bool) -> None:
    assert (why_not_in(wanted, version) is None) is fits


def test_scenarios_about_other_versions_are_left_out_by_name() -> None:
    old, new = scenario(head="rocketmq: '<5'"), scenario(head="rocketmq: '>=5.0'")
    planned = plan([old, new], Matrix().cells("5.5.0"), ClusterKind.EMBEDDED)
    assert planned.jobs == (Job(new, "5.5.0"),)
    assert [item.reason for item in planned.left_out] == ["example is about RocketMQ <5, and not about 5.5.0"]
    with pytest.raises(UsageProblem, match=r"no scenario is left for RocketMQ 5\.5\.0"):
        plan([old], Matrix().cells("5.5.0"), ClusterKind.EMBEDDED)
    with pytest.raises(UsageProblem, match=r"RocketMQ <5, and not about 5\.5\.0"):
        Runner(Options()).run(Job(old, "5.5.0"))


def test_a_consumer_whose_log_is_asked_for_gets_a_process_of_its_own() -> None:
    assert own_processes(scenario()) == frozenset()
    assert own_processes(scenario(check="log: {consumer: b, matches: x, count: 1}")) == {"b"}
    assert own_processes(scenario(check="log: {node: broker-a, matches: x, count: 1}")) == frozenset()


def test_where_arrivals_must_wake_somebody_brokers_poll_long() -> None:
    pops = TEXT.replace("a: {{group: g,", "a: {{group: g, api: pop,")

    def lines(head: str, text: str) -> dict[str, str]:
        wanted = text.format(step="wait: 1s", head=head, check="delivered: {to: a, count: 1}")
        return parse_scenario(wanted, "x.yaml").cluster_needs.broker_configuration

    assert lines("timing: compressed", TEXT) == {}
    assert lines("timing: compressed", pops) == {"longPollingEnable": "true"}
    assert lines("cluster: {broker: {longPollingEnable: false}}", pops) == {"longPollingEnable": "false"}
