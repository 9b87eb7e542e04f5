"""Servers of a run: routes that a name server has lost, which is RocketMQ's doing; and where each is asked."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.cluster.run_servers import Servers
from rocketchaos.harness.language.cluster_needs import ClusterNeeds


@pytest.mark.parametrize(("node", "lacks"), [("nameserver-2", True), ("broker-a", False)])
def test_a_name_server_that_a_step_took_away_may_have_lost_routes(node: str, lacks: bool) -> None:
    scenario = SimpleNamespace(
        cluster=ClusterNeeds(name_servers=2), topic=lambda _name: SimpleNamespace(by_sending=False)
    )
    servers = Servers(*cast(Any, (scenario, None, None, None)))
    assert not servers.may_lack("orders")
    servers.note_down(node, "stopped")
    servers.note_up(node)
    assert servers.may_lack("orders") is lacks


def test_a_proxy_answers_requests_at_another_port_than_grpc_clients() -> None:
    cluster = SimpleNamespace(
        proxy=SimpleNamespace(grpc_endpoint="h:8081", remoting_address="h:8080"),
        nodes=[SimpleNamespace(name=name, address=f"h:{name}") for name in ("broker-a", "proxy")],
    )
    servers = Servers(*cast(Any, (SimpleNamespace(), cluster, None, None)))
    assert [servers.remoting_address(name) for name in ("proxy", "broker-a")] == ["h:8080", "h:broker-a"]
    cluster.proxy = None
    assert servers.remoting_address("broker-a") == "h:broker-a"
