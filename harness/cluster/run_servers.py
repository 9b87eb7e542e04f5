"""The servers of a run as its steps have left them, and which of them can be asked what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.clients.members import Members
from rocketchaos.harness.cluster.base import Cluster, Node
from rocketchaos.harness.core.errors import HarnessDefect
from rocketchaos.harness.core.events.servers import NodeReady
from rocketchaos.harness.core.history import History
from rocketchaos.harness.language.cluster_needs import PROXY
from rocketchaos.harness.language.topic import Group, Settings, Topic
from rocketchaos.harness.rocketmq.allocation import Queue

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


class Servers:
    """Name servers, brokers and proxy of the run's cluster."""

    def __init__(self, scenario: Scenario, cluster: Cluster, members: Members, history: History) -> None:
        self._scenario = scenario
        self.cluster = cluster
        self._members = members
        self._history = history
        self.down: dict[str, str] = {}
        """Nodes that a step has taken away, and how: `killed`, `stopped`, `paused`, `restarting`."""
        self._topics: dict[str, Topic] = {}
        """Those that steps have changed."""
        self._group_settings: dict[str, Settings] = {}
        self._deleted: set[str] = set()
        """Topics that a step has deleted, and no other has made again."""
        self._routes_lost = False
        """Whether a step has taken a name server away: it keeps no route over its end."""
        self._masters: dict[str, str] = {}
        """Broker name to the node that is its master, where that is another than the one of its name."""

    def node(self, name: str) -> Node:
        """A node of the cluster.

        Raises:
            HarnessDefect: there is none (validation should have found it).
        """
        for node in self.cluster.nodes:
            if node.name == name:
                return node
        raise HarnessDefect(f"the cluster has no node {name}")

    def remoting_address(self, name: str) -> str:
        """Where a node answers raw requests and RocketMQ's tools: a proxy at another port than gRPC clients."""
        proxy = self.cluster.proxy
        return proxy.remoting_address if name == PROXY and proxy is not None else self.node(name).address

    def is_node(self, name: str) -> bool:
        """Whether the scenario means a node of its cluster by this name."""
        return name in self._scenario.cluster.nodes

    def note_down(self, name: str, how: str) -> None:
        """From here on nobody asks this node: a step does something to it."""
        self.down[name] = how
        self._routes_lost |= name in self._scenario.cluster.name_server_nodes

    def note_up(self, name: str) -> None:
        """The node can be asked again."""
        self.down.pop(name, None)

    def record(self, node: Node) -> None:
        """Write down that a node is ready."""
        slave = {} if node.slave_of is None else {"slave_of": node.slave_of}
        data = {"role": node.role, "address": node.address, "pid": node.pid, **slave}
        self._history.append(node.name, NodeReady.kind, data)

    @property
    def broker_addresses(self) -> dict[str, str]:
        """Broker name to `host:port`, of the masters that can be asked: none that a step has killed or paused."""
        return {
            node.slave_of or node.name: node.address
            for node in self.cluster.nodes
            if node.role == "broker" and self.master_of(node.name) == node.name and node.name not in self.down
        }

    @property
    def node_addresses(self) -> dict[str, str]:
        """The same of masters and slaves, by the nodes' names."""
        return {
            node.name: node.address
            for node in self.cluster.nodes
            if node.role == "broker" and node.name not in self.down
        }

    def master_of(self, name: str) -> str:
        """The node that is the master of a node's broker, as far as steps have waited for it."""
        broker = self.node(name).slave_of or name
        return self._masters.get(broker, broker)

    def note_master(self, name: str) -> None:
        """A node is the master of its broker: who asks about the broker asks this node from here on."""
        self._masters[self.node(name).slave_of or name] = name

    def brokers_of_group(self, group: str) -> dict[str, str]:
        """Of the masters that can be asked, those to which the group's members connect: those of its topics.

        A client heartbeats to the brokers in the routes of its topics, and the group's retry topic is on those too
        (`MQClientInstance.sendHeartbeatToAllBroker`, `ClientManageProcessor.heartBeat`; 4.9.4). Of 4.9.x it does
        so to others as well, those in the route of TBW102: they hold nothing that matters to its topics.
        """
        topics = self._members.topics_of(group)
        wanted = {broker for topic in topics for broker in self._scenario.brokers_of(topic)}
        return {name: address for name, address in self.broker_addresses.items() if name in wanted}

    def keepers_of_group(self, group: str) -> dict[str, str]:
        """Name to address of those that hold the group's members and its subscription, and can be asked (203).

        Brokers do, of clients that speak to them, or to a proxy in their process. A proxy that is a server of its
        own holds those who speak to it, and tells no broker of them (`ClusterConsumerManager`, 5.3.3).
        """
        keepers = self.brokers_of_group(group) if self._speaking_to(group, brokers=True) else {}
        proxy = self.cluster.proxy
        if proxy is not None and PROXY not in self.down and self._speaking_to(group, brokers=False):
            keepers[PROXY] = proxy.remoting_address
        return keepers

    def members_at(self, group: str, keeper: str) -> tuple[str, ...]:
        """The online members of the group that a keeper of it knows."""
        known = self._speaking_to(group, brokers=keeper != PROXY)
        return tuple(
            name
            for name in self._members.online(group)
            if name in known and (keeper == PROXY or keeper in self._scenario.known_to(name))
        )

    def _speaking_to(self, group: str, *, brokers: bool) -> tuple[str, ...]:
        proxy = self.cluster.proxy
        if proxy is None or proxy.mode == "local":
            return (self._scenario.members(group) or (group,)) if brokers else ()
        return self._members.held_by(group, brokers=brokers)

    def why_not_asked(self, topic: str) -> str | None:
        """Why a topic's queues can't be read now: a paused broker doesn't answer, and the caller would wait."""
        paused = [broker for broker in self._scenario.brokers_of(topic) if self.down.get(broker) == "paused"]
        return f"{', '.join(paused)} is paused" if paused else None

    def queues(self, topic: str) -> tuple[Queue, ...]:
        """All queues of a topic, in RocketMQ's order."""
        return self._queues(topic, self.topic(topic).all_queues)

    def written_queues(self, topic: str) -> tuple[Queue, ...]:
        """Those to which producers send."""
        return self._queues(topic, self.topic(topic).write_queues)

    def _queues(self, topic: str, number: int) -> tuple[Queue, ...]:
        brokers = sorted(self._scenario.brokers_of(topic))
        return tuple((broker, index) for broker in brokers for index in range(number))

    def topic(self, topic: str) -> Topic:
        """A topic with the settings that it has now, a group's own included, `%DLQ%g`."""
        return self._topics.get(topic) or self._scenario.topic(topic)

    def topic_changed(self, name: str, topic: Topic) -> None:
        """A step has given a topic other settings."""
        self._topics[name] = topic
        self._deleted.discard(name)

    def topic_deleted(self, name: str) -> None:
        """A step has deleted a topic; a broker may make it again by itself."""
        self._topics.pop(name, None)
        self._deleted.add(name)

    def may_lack(self, topic: str) -> bool:
        """Whether there may be no such topic, or no route to it: a step has deleted it, or its first message makes
        it; or a name server came back, to which brokers need not name it again (apache/rocketmq#4522).
        """
        return topic in self._deleted or self._scenario.topic(topic).by_sending or self._routes_lost

    def group_deleted(self, name: str) -> None:
        """A step has deleted a group with its settings."""
        self._group_settings[name] = {}

    def group_changed(self, name: str, settings: Settings) -> Settings:
        """A step gives a group further settings; all that were given."""
        declared = self._scenario.bare_groups.get(name, Group()).settings
        self._group_settings[name] = {**self._group_settings.get(name, declared), **settings}
        return self._group_settings[name]

    def routed_queues(self, topic: str) -> tuple[Queue, ...]:
        """Those that the name server routes consumers to: not of a broker of which no node is left.

        It drops a broker with the connection of its last node (`RouteInfoManager.onChannelDestroy`, 4.9.4); a
        node that stands still keeps its connection.
        """
        left = {
            node.slave_of or node.name
            for node in self.cluster.nodes
            if node.role == "broker" and self.down.get(node.name) not in ("killed", "stopped")
        }
        readable = self._queues(topic, self.topic(topic).read_queues)
        return tuple(queue for queue in readable if queue[0] in left)
