"""A topic without a route at a name server that came back: RocketMQ's doing, and no trouble of the run."""

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
