"""Name servers in the plural, as scenarios say them."""

from __future__ import annotations

import pytest

from rocketchaos.harness.cluster.cluster_kinds import CAN_NOT, ClusterKind
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.model import Scenario

TEXT = """\
name: example
title: an example
cluster: {{brokers: [broker-a, broker-b], {cluster}}}
topics: {{orders: {{queues: 2}}}}
producer: {{{producer}}}
consumers:
  a: {{group: g, {a}, subscribe: {{orders: '*'}}}}
  b: {{group: g, {b}, subscribe: {{orders: '*'}}}}
steps:
  - start: [a, b]
  - {step}
anomaly: {{delivered: {{to: a, count: 1}}}}
healthy: {{delivered: {{to: g, count: 8}}}}
"""
APART = "name_servers: 2, registers_with: {broker-a: nameserver, broker-b: [nameserver-2]}"


def scenario(
    cluster: str = APART,
    a: str = "name_servers: nameserver",
    b: str = "name_servers: nameserver-2",
    producer: str = "name_servers: [nameserver-2]",
    step: str = "kill: nameserver-2",
) -> Scenario:
    return parse_scenario(TEXT.format(cluster=cluster, a=a, b=b, producer=producer, step=step), "x.yaml")


def test_each_name_server_is_a_node_and_faults_take_it() -> None:
    made = scenario()
    assert made.cluster.nodes == ("nameserver", "nameserver-2", "broker-a", "broker-b")
    assert made.required_capabilities == {"configure", "kill", "several name servers"}
    assert (
        "several name servers"
        not in scenario("own: true", "process: own", "process: own", "", "wait: 1s").required_capabilities
    )


def test_a_client_can_hear_of_the_brokers_that_register_with_its_name_servers() -> None:
    made = scenario()
    assert made.known_to("a") == {"broker-a"}
    assert made.known_to("b") == made.known_to("producer") == {"broker-b"}
    assert scenario(a="process: own").known_to("a") == {"broker-a", "broker-b"}
    assert scenario("name_servers: 2").known_to("a") == {"broker-a", "broker-b"}


def test_members_of_a_group_that_share_no_broker_share_no_queues() -> None:
    assert scenario().counted_by("a", ["a", "b"]) == ["a"]
    assert scenario(b="process: own").counted_by("a", ["a", "b"]) == ["a", "b"]


def test_clusters_that_differ_in_their_name_servers_are_not_shared() -> None:
    shapes = {
        scenario(text).cluster.shape for text in (APART, "name_servers: 2", "name_servers: 3, own: true")
    }
    assert len(shapes) == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cluster": "name_servers: 5"}, "at most 4"),
        ({"cluster": "name_servers: 0"}, "at least 1"),
        (
            {"cluster": "name_servers: 2, registers_with: {broker-a: nameserver-3}"},
            "`broker-a` can't register with `nameserver-3`: there are nameserver and nameserver-2",
        ),
        (
            {"cluster": "name_servers: 2, registers_with: {broker-x: nameserver}"},
            "there is no broker `broker-x` that could register",
        ),
        ({"b": "name_servers: nameserver-3"}, "there is no name server `nameserver-3`"),
        ({"producer": "name_servers: [nameserver, nameserver-4]"}, "there is no name server `nameserver-4`"),
        ({"b": "name_servers: broker-a"}, "there is no name server `broker-a`"),
        (
            {"b": "client: grpc, name_servers: nameserver-2"},
            "it speaks to the proxy, which asks the name servers",
        ),
        ({"step": "kill: nameserver-3"}, "nameserver-3"),
        ({"cluster": "own: true"}, "there is no name server `nameserver-2`"),
    ],
)
def test_what_there_is_not_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        scenario(**given)
    assert message in str(refused.value) + "".join(getattr(refused.value, "lines", ()))


def test_containers_say_that_they_have_one_name_server() -> None:
    assert "several name servers" in CAN_NOT[ClusterKind.CONTAINERS]
    assert "several name servers" not in CAN_NOT[ClusterKind.EMBEDDED]
