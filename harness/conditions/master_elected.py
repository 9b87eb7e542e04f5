"""A node is the master of its broker, as the name servers know it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.fastjson import loads

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext

_MASTER_ID = "0"


def master_elected(context: ProbeContext, name: str) -> Seen:
    """Whether each name server that runs, and knows the broker, has the node as its master."""
    servers = context.servers
    node = servers.node(name)
    broker = node.slave_of or name
    if name in servers.down:
        return Seen(False, f"{name} is {servers.down[name]}")
    nodes = {at.address: at.name for at in servers.cluster.nodes if at.role == "broker"}
    running = [
        asked for asked in context.scenario.cluster.name_servers_of(broker) if asked not in servers.down
    ]
    if not running:
        return Seen(False, "no name server runs")
    for asked in running:
        try:
            master = _master(servers.node(asked).address, broker)
        except OSError as error:
            return Seen(False, f"{asked} doesn't answer: {error}")
        if master != node.address:
            known = nodes.get(master, master) if master else "no master"
            return Seen(False, f"{asked} knows {known} of {broker}")
    return Seen(True, f"{name} is the master of {broker}")


def _master(nameserver: str, broker: str) -> str | None:
    """The address that a name server has for the master of a broker; None: it has none.

    Raises:
        OSError: it doesn't answer, or answers something else.
    """
    answer = remoting.ask(nameserver, remoting.GET_BROKER_CLUSTER_INFO)
    try:
        nodes = loads(answer.body)["brokerAddrTable"].get(broker, {})
        return nodes["brokerAddrs"].get(_MASTER_ID) if nodes else None
    except (ValueError, KeyError, TypeError):
        raise OSError(f"code {answer.code}, {answer.remark}") from None
