"""`settle: {master: broker-a-slave}`: whom the name servers know as the master, and who is asked from then on."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from rocketchaos.harness.cluster.base import Cluster, Node
from rocketchaos.harness.cluster.run_servers import Servers
from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.conditions.master_elected import master_elected
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.probes.context import ProbeContext
from rocketchaos.harness.rocketmq import remoting

MASTER, SLAVE = "10.0.0.1:1", "10.0.0.2:1"
LOG = Path("x.log")
NODES = [
    Node("nameserver", "nameserver", "n:1", 1, LOG),
    Node("nameserver-2", "nameserver", "n:2", 2, LOG),
    Node("broker-a", "broker", MASTER, 3, LOG),
    Node("broker-a-slave", "broker", SLAVE, 4, LOG, "broker-a"),
]


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Of two name servers; `known` is what each has as the addresses of broker-a."""
    scenario = SimpleNamespace(cluster=ClusterNeeds(slaves=("broker-a",), name_servers=2))
    cluster = cast(Cluster, SimpleNamespace(nodes=NODES))
    servers = Servers(scenario, cluster, None, None)  # type: ignore[arg-type]
    made = SimpleNamespace(
        scenario=scenario, servers=servers, known={"n:1": f'{{0:"{MASTER}"}}', "n:2": f'{{0:"{MASTER}"}}'}
    )

    def ask(address: str, code: int) -> remoting.Answer:
        assert code == remoting.GET_BROKER_CLUSTER_INFO
        if made.known[address] is None:
            raise OSError("connection refused")
        body = f'{{"brokerAddrTable":{{"broker-a":{{"brokerAddrs":{made.known[address]}}}}}}}'
        return remoting.Answer(0, "", {}, body.encode())

    monkeypatch.setattr(remoting, "ask", ask)
    return made


def seen(context: SimpleNamespace, node: str = "broker-a-slave") -> Seen:
    return master_elected(cast(ProbeContext, context), node)


def test_every_name_server_must_know_it(context: SimpleNamespace) -> None:
    assert seen(context, "broker-a") == Seen(True, "broker-a is the master of broker-a")
    assert seen(context) == Seen(False, "nameserver knows broker-a of broker-a")
    context.known["n:1"] = f'{{0:"{SLAVE}",1:"{MASTER}"}}'
    assert seen(context) == Seen(False, "nameserver-2 knows broker-a of broker-a")
    context.known["n:2"] = f'{{1:"{SLAVE}"}}'
    assert seen(context) == Seen(False, "nameserver-2 knows no master of broker-a")
    context.known["n:2"] = f'{{0:"{SLAVE}"}}'
    assert seen(context).holds


def test_a_name_server_that_a_step_has_taken_away_is_not_asked(context: SimpleNamespace) -> None:
    context.known.update({"n:1": f'{{0:"{SLAVE}"}}', "n:2": None})
    assert seen(context) == Seen(False, "nameserver-2 doesn't answer: connection refused")
    context.servers.note_down("nameserver-2", "killed")
    assert seen(context).holds
    context.servers.note_down("nameserver", "killed")
    assert seen(context) == Seen(False, "no name server runs")


def test_a_node_that_is_away_is_no_master(context: SimpleNamespace) -> None:
    context.servers.note_down("broker-a", "killed")
    assert seen(context, "broker-a") == Seen(False, "broker-a is killed")


def test_whoever_asks_the_broker_asks_its_new_master(context: SimpleNamespace) -> None:
    servers = context.servers
    assert servers.broker_addresses == {"broker-a": MASTER}
    servers.note_down("broker-a", "killed")
    assert servers.broker_addresses == {}
    servers.note_master("broker-a-slave")
    assert servers.broker_addresses == {"broker-a": SLAVE}
    assert servers.node_addresses == {"broker-a-slave": SLAVE}
    servers.note_up("broker-a")
    assert servers.broker_addresses == {"broker-a": SLAVE}
    assert servers.node_addresses == {"broker-a": MASTER, "broker-a-slave": SLAVE}
    assert servers.master_of("broker-a") == servers.master_of("broker-a-slave") == "broker-a-slave"
    servers.note_master("broker-a")
    assert servers.broker_addresses == {"broker-a": MASTER}
