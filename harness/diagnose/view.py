"""What checks look at: one group, or the cluster, over all looks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.meaning import Meaning, meaning
from rocketchaos.harness.diagnose.model import (
    DEAD_LETTERS,
    RETRY,
    Look,
    Member,
    QueueEnds,
    Route,
    Stored,
    Subscription,
    TopicOnBroker,
)
from rocketchaos.harness.diagnose.read import NO_TOPIC, modes
from rocketchaos.harness.rocketmq.allocation import Queue

PULL = "PULL"
"""A request mode: defaultMessageRequestMode, where a broker doesn't tell."""
READ, WRITE = 4, 2
"""Bits of a permission (PermName)."""
PROXY = "proxy "
"""What stands before a proxy's address where brokers have their names."""
BY_BROKERS, BY_GRPC, BY_REMOTING = "the brokers themselves", "a proxy by gRPC", "a proxy by remoting"
"""The ways by which members connect, as a phrase."""
_OF_GRPC = re.compile(r"[^@]+@\d+@\d+@[0-9a-z]+")
"""`host@pid@index@time`: ids of gRPC clients (rocketmq-clients, ClientId; 5.x)."""


@dataclass(frozen=True)
class ClusterView:
    """The cluster, in the last look and those before."""

    looks: Sequence[Look]
    named: bool = False
    """The user asked for groups by their names."""

    @property
    def now(self) -> Look:
        """The last look."""
        return self.looks[-1]

    @property
    def silent_brokers(self) -> Mapping[str, Exchange]:
        """What is missing of brokers that didn't tell their settings or their state, by name."""
        lacking = {
            name: [item for item in broker.asked if not item.succeeded]
            for name, broker in self.now.brokers.items()
        }
        return {name: items[0] for name, items in lacking.items() if items}


@dataclass(frozen=True, eq=False)
class GroupView:
    """One group, in the last look and those before."""

    group: str
    looks: Sequence[Look]
    topics: tuple[str, ...]
    """That are looked at; the group's retry topic is none of them."""
    named: bool = False
    """The user asked for this group by its name."""
    pseudonyms: bool = False
    """Names are a bundle's pseudonyms."""

    @property
    def now(self) -> Look:
        """The last look."""
        return self.looks[-1]

    @property
    def retry_topic(self) -> str:
        return f"{RETRY}{self.group}"

    @property
    def pop_retry_topics(self) -> tuple[str, ...]:
        """The retry topics of members by POP, one for each topic: nobody subscribes to them."""
        return tuple(
            topic
            for topic in self.topics
            if topic.startswith(RETRY) and not self.held(topic) and not self.own(topic)
        )

    def has_left(self, topic: str) -> bool:
        """Whether the group has offsets in a topic that no member subscribes to; those that pull by themselves may
        read it without (DefaultMQPullConsumer)."""
        if self.own(topic) or self.held(topic) or self.unclear or not self.online or self.shares_queues:
            return False
        pulling = any(item.pulls_by_itself for item in self.answered)
        return not pulling and not self.broadcasting and topic not in self.pop_retry_topics

    @cached_property
    def present_topics(self) -> tuple[str, ...]:
        """Without those that the group has left (RC0508): how they are now is no concern of the group."""
        return tuple(topic for topic in self.topics if not self.has_left(topic))

    @property
    def dead_letter_topic(self) -> str:
        return f"{DEAD_LETTERS}{self.group}"

    @cached_property
    def before(self) -> GroupView | None:
        """The group as it was a look before; None: there was none."""
        return replace(self, looks=self.looks[:-1]) if len(self.looks) > 1 else None

    @property
    def stored(self) -> Mapping[str, Stored]:
        """By broker, of those that know the group's members."""
        return {name: item for name, item in self.now.stored.get(self.group, {}).items() if item.online}

    @property
    def unclear_brokers(self) -> tuple[Stored, ...]:
        """Brokers that didn't say who is online."""
        return tuple(item for item in self.now.stored.get(self.group, {}).values() if item.unknown)

    @property
    def silent_brokers(self) -> Mapping[str, Exchange]:
        """What is missing of brokers that have the group's topics: its offsets, or where queues end; by name."""
        found: dict[str, Exchange] = {}
        for topic in self.topics:
            for name in self.on_brokers(topic):
                answers = (self.now.offset_tables.get(name), self.now.stats.get(topic, {}).get(name))
                lacking = [
                    item for item in answers if item and not item.succeeded and item.answer_code != NO_TOPIC
                ]
                found.update({name: lacking[0]} if lacking else {})
        return found

    @property
    def members(self) -> Mapping[str, Member]:
        """By client id; all that any broker knows."""
        return self.now.members.get(self.group, {})

    @property
    def answered(self) -> tuple[Member, ...]:
        """The members that reported themselves."""
        return tuple(member for member in self.members.values() if member.answered)

    @property
    def silent(self) -> tuple[Member, ...]:
        """The members that didn't."""
        return tuple(member for member in self.members.values() if not member.answered)

    @property
    def unclear(self) -> tuple[Member, ...]:
        """The members whose subscriptions are unknown: neither they nor a proxy's messages have them."""
        return tuple(member for member in self.members.values() if not member.subscribes)

    @property
    def online(self) -> bool:
        return bool(self.members)

    @property
    def may_be_online(self) -> bool:
        """Whether brokers know a member, or a proxy that wasn't asked may know one."""
        return self.online or self.proxy_may_know

    @property
    def proxy_may_know(self) -> bool:
        """Whether a proxy of 5.x that wasn't asked may know members that brokers don't know."""
        asked = any(name.startswith(PROXY) for name in self.now.stored.get(self.group, {}))
        of_5 = any(broker.is_of_5 for broker in self.now.brokers.values())
        return of_5 and not asked and not self.without_proxies

    @property
    def without_proxies(self) -> bool:
        """Whether all brokers answered, and no proxy in cluster mode has been here.

        Such a proxy makes its topic when it starts (AbstractSystemMessageSyncer, 5.1.0 to 5.5.0); 5.0 has none.
        """
        versions = [item.runtime.get("brokerVersionDesc", "") for item in self.now.brokers.values()]
        return (
            not any(item.unknown for item in self.now.stored.get(self.group, {}).values())
            and all(version and not version.startswith("V5_0_") for version in versions)
            and bool(self.now.proxies)
            and all(item.exchange.answer_code == NO_TOPIC for item in self.now.proxies.values())
        )

    @property
    def abandoned(self) -> bool:
        """Whether nobody may use the group any more: it has no member, and the user didn't name it."""
        return not self.online and not self.named

    @property
    def broadcasting(self) -> bool:
        """By what the members say, otherwise the brokers."""
        own = {item.properties.get("messageModel", "") for item in self.answered} - {""}
        return "BROADCASTING" in (own or {item.model for item in self.stored.values()})

    @property
    def by_grpc(self) -> frozenset[str]:
        """The client ids of gRPC members."""
        return frozenset(filter(_OF_GRPC.fullmatch, self.members))

    @property
    def behind_proxies(self) -> frozenset[str]:
        """The client ids that a proxy knows, and no broker."""
        known: dict[bool, set[str]] = {True: set(), False: set()}
        for name, stored in self.stored.items():
            known[name.startswith(PROXY)].update(item.client_id for item in stored.connections)
        return frozenset(known[True] - known[False])

    def way(self, client_id: str) -> str:
        """How a member connects."""
        if client_id in self.by_grpc:
            return BY_GRPC
        return BY_REMOTING if client_id in self.behind_proxies else BY_BROKERS

    @property
    def shares_queues(self) -> bool:
        """Whether its members share all queues (POP), or no client of its kind reports its queues.

        Members that ask brokers for their queues divide them as others do, where all brokers say that they pull.
        """
        return (
            bool(self.by_grpc)
            or any(
                queue[1] < 0 or held.popped
                for member in self.answered
                for queues in member.queues.values()
                for queue, held in queues.items()
            )
            or (any(item.asks_brokers for item in self.answered) and not self._only_pulled)
        )

    def pulling(self, topic: str) -> frozenset[str]:
        """The client ids of members that hold queues of a topic and pull; others may pop."""
        return frozenset(
            member.client_id
            for member in self.answered
            if any(
                queue[1] >= 0 and not held.popped and not held.dropped
                for queue, held in member.queues.get(topic, {}).items()
            )
        )

    @property
    def _only_pulled(self) -> bool:
        modes = [self.request_modes(topic) for topic in self.topics if self.on_brokers(topic)]
        return bool(modes) and all({*known.values()} == {PULL} for known in modes)

    def request_modes(self, topic: str) -> Mapping[str, str]:
        """How each broker hands a topic's queues to members that ask it; empty where it doesn't tell."""
        found = {}
        for name in sorted(self.on_brokers(topic)):
            answer, broker = self.now.modes.get(name), self.now.brokers.get(name)
            known = answer is not None and answer.succeeded and broker is not None
            default = broker.config.get("defaultMessageRequestMode") or PULL if broker is not None else ""
            found[name] = modes(answer).get((topic, self.group), default) if answer and known else ""
        return found

    @property
    def divided_topics(self) -> tuple[str, ...]:
        """The topics whose queues members divide among themselves."""
        if self.broadcasting or self.shares_queues:
            return ()
        return tuple(topic for topic in self.topics if self.own(topic) and self.queues(topic))

    def own(self, topic: str) -> Mapping[str, Subscription]:
        """What each member wants of a topic, by client id; without those of which it is unknown."""
        return {
            client_id: item.subscriptions[topic]
            for client_id, item in self.members.items()
            if item.subscribes and topic in item.subscriptions
        }

    def meanings(self, topic: str) -> Mapping[Meaning, list[str]]:
        """The client ids by what they want of a topic."""
        found: dict[Meaning, list[str]] = {}
        for client_id, subscription in self.own(topic).items():
            found.setdefault(meaning(subscription), []).append(client_id)
        return found

    def held(self, topic: str) -> Mapping[str, Subscription]:
        """The group's subscription of a topic, as each broker holds it."""
        return {
            name: item.subscriptions[topic]
            for name, item in self.stored.items()
            if topic in item.subscriptions
        }

    def owners(self, topic: str) -> Mapping[Queue, list[str]]:
        """The members that own each queue, by their own report."""
        found: dict[Queue, list[str]] = {}
        for member in self.answered:
            for queue, held in member.queues.get(topic, {}).items():
                if not held.dropped:
                    found.setdefault(queue, []).append(member.client_id)
        return found

    def route(self, topic: str) -> Route | None:
        """The answer of the name server that knows most brokers of the topic; None: none knows it."""
        routes = [item for item in self.now.routes.get(topic, {}).values() if item.brokers]
        return max(routes, key=lambda item: len(item.brokers), default=None)

    def on_brokers(self, topic: str) -> Mapping[str, TopicOnBroker]:
        """Where the topic is."""
        found = self.route(topic)
        return {} if found is None else found.brokers

    def message_type(self, topic: str) -> str:
        """`NORMAL`, `FIFO`, `DELAY`, `TRANSACTION`; empty where no broker says."""
        answer = self.now.topic_configs.get(topic)
        document = answer.document if answer is not None and answer.succeeded else {}
        return str(document.get("messageType", "")) if isinstance(document, dict) else ""

    def is_static(self, topic: str) -> bool:
        """Whether brokers map its queues to others (static topics of 5.x): offsets and ends are of those."""
        found = self.route(topic)
        return found is not None and bool(found.logical)

    def queues(self, topic: str) -> tuple[Queue, ...]:
        """The queues from which clients read, as `MQClientInstance.topicRouteData2TopicSubscribeInfo` has it."""
        if self.is_static(topic):
            found = self.route(topic)
            return () if found is None else found.logical
        return tuple(
            (name, number)
            for name, item in sorted(self.on_brokers(topic).items())
            if item.permission & READ
            for number in range(item.read_queues)
        )

    def ends(self, topic: str) -> Mapping[Queue, QueueEnds]:
        """Where each queue begins and ends."""
        return self.now.ends.get(topic, {})

    def stored_in(self, topic: str) -> int:
        """How many messages the queues of a topic have."""
        return sum(end.max_offset - end.min_offset for end in self.ends(topic).values())

    def offset(self, topic: str, queue: Queue) -> int | None:
        """The group's offset at the broker; None: none is stored, the broker didn't answer, or the members
        broadcast and keep their own offsets."""
        return None if self.broadcasting else self.now.offset(self.group, topic, queue)

    def reached(self, topic: str, queue: Queue) -> int | None:
        """How far the group is: by the queue's owner, where that is further than it has committed."""
        return self.now.reached(self.group, topic, queue)
