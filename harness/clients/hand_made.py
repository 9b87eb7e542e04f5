"""Members of groups that are made by hand: a connection to each broker, and heartbeats of any content.

A broker knows a consumer by its connection and what its heartbeats (HEART_BEAT, 34) say of it
(`ClientManageProcessor.heartBeat`, `ConsumerManager.registerConsumer`; 4.9.4 and 5.3.3). Such a member pulls
nothing, owns nothing, and sends only what a step asks for; brokers drop it 120 s after its last heartbeat.
"""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rocketchaos.harness.clients.connection import Connection
from rocketchaos.harness.core.errors import HarnessDefect, PreconditionNotMet
from rocketchaos.harness.core.events.clients import (
    ClaimedSubscription,
    HandMadeClosed,
    HeartbeatSent,
    Notified,
)
from rocketchaos.harness.core.history import History
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.language.tags import hash_code, tags_of
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.remoting import Answer

HEART_BEAT = 34
GET_CONSUMER_LIST_BY_GROUP = 38
NOTIFY_CONSUMER_IDS_CHANGED = 40
RETRY_TOPIC_PREFIX = "%RETRY%"


@dataclass(frozen=True, slots=True)
class Subscription:
    """The part of a heartbeat about one topic."""

    topic: str
    expression: str
    version: int
    """SubscriptionData.subVersion."""


@dataclass(frozen=True, slots=True)
class Membership:
    """The part of a heartbeat about its sender's membership of one group. Names are the scenario's."""

    group: str
    subscriptions: tuple[Subscription, ...]
    consume_from: str
    """A ConsumeFromWhere."""
    model: str
    """A MessageModel."""


@dataclass(slots=True)
class HandMade:
    """One such member."""

    name: str
    client_id: str
    groups: set[str] = field(default_factory=set)
    connections: dict[str, Connection] = field(default_factory=dict)
    """By broker."""

    def close(self) -> None:
        """Break all connections."""
        for connection in self.connections.values():
            connection.close()


class HandMadeClients:
    """All of a run, by name. Every heartbeat and every notification is written into the history."""

    def __init__(self, history: History, names: Names) -> None:
        self._history = history
        self._names = names
        self._clients: dict[str, HandMade] = {}

    def heartbeat(self, name: str, membership: Membership, brokers: Mapping[str, str]) -> None:
        """Send one heartbeat to each of these brokers (name to address), and wait for the answers.

        Raises:
            PreconditionNotMet: a broker can't be reached, or refuses it.
        """
        client = self._clients.setdefault(name, HandMade(name, f"{name}@{self._names.token}"))
        body = self._body(client.client_id, membership)
        for broker, address in brokers.items():
            answer = self._ask(client, broker, address, HEART_BEAT, body)
            if answer.code != remoting.SUCCESS:
                raise PreconditionNotMet(
                    f"heartbeat: {broker} refuses that of {name}: code {answer.code}, {answer.remark}"
                )
        client.groups.add(membership.group)
        self._history.append(
            name,
            HeartbeatSent(
                client_id=client.client_id,
                group=membership.group,
                brokers=tuple(brokers),
                subscriptions={
                    subscription.topic: ClaimedSubscription(
                        expression=subscription.expression, sub_version=subscription.version
                    )
                    for subscription in membership.subscriptions
                },
                consume_from_where=membership.consume_from,
                message_model=membership.model,
            ),
        )

    def ids(self, group: str) -> tuple[str, ...]:
        """The client ids of those that brokers have in a group."""
        return tuple(client.client_id for client in self._clients.values() if group in client.groups)

    def flush(self) -> None:
        """Return when every notification that a broker sent before now is in the history.

        Brokers write to a connection in order, so that what they sent before an answer has come by then. One
        that is gone, as its broker may be, has handed on all that it will.
        """
        for client in self._clients.values():
            for connection in client.connections.values():
                with contextlib.suppress(OSError):
                    # Any request would do; this one asks for a group that nobody is in.
                    connection.ask(GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": client.client_id})

    def close(self, name: str) -> None:
        """Close a client's connections without unregistering; brokers drop it. No effect if there is none."""
        client = self._clients.pop(name, None)
        if client is not None:
            client.close()
            self._history.append(name, HandMadeClosed(client_id=client.client_id))

    def close_all(self) -> None:
        """Close all, for the tear-down: the history has ended."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            client.close()

    def _ask(self, client: HandMade, broker: str, address: str, code: int, body: bytes) -> Answer:
        try:
            connection = client.connections.get(broker)
            if connection is None or connection.closed:
                connection = Connection(address, lambda asked: self._asked(client.name, broker, asked))
                client.connections[broker] = connection
            return connection.ask(code, body=body)
        except OSError as error:  # a TimeoutError is one
            raise PreconditionNotMet(
                f"{client.name} can't reach {broker}: {str(error) or type(error).__name__}"
            ) from error

    def _asked(self, name: str, broker: str, request: Answer) -> None:
        """A broker sent a request of its own."""
        if request.code != NOTIFY_CONSUMER_IDS_CHANGED:
            return
        group = self._names.scenario(str(request.fields.get("consumerGroup")))
        self._history.append(name, Notified(broker=broker, group=group))

    def _body(self, client_id: str, membership: Membership) -> bytes:
        group = self._names.real(membership.group)
        subscriptions = [
            _subscription_data(
                self._names.real(subscription.topic), subscription.expression, subscription.version
            )
            for subscription in membership.subscriptions
        ]
        if membership.model == "CLUSTERING":
            # As DefaultMQPushConsumerImpl.copySubscription does (4.9.4): without it, members of RocketMQ's own
            # clients would take turns with this one at adding and removing the retry topic.
            subscriptions.append(_subscription_data(f"{RETRY_TOPIC_PREFIX}{group}", "*", 0))
        consumer = {
            "groupName": group,
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": membership.model,
            "consumeFromWhere": membership.consume_from,
            "subscriptionDataSet": subscriptions,
            "unitMode": False,
        }
        return json.dumps(
            {"clientID": client_id, "producerDataSet": [], "consumerDataSet": [consumer]}
        ).encode()


def _subscription_data(topic: str, expression: str, version: int) -> dict[str, Any]:
    """As `FilterAPI.buildSubscriptionData` makes it of a tag expression (4.9.4)."""
    tags = sorted(tags_of(expression))
    if not expression.strip():
        raise HarnessDefect("an empty expression got past validation")
    return {
        "topic": topic,
        "subString": expression,
        "tagsSet": tags,
        "codeSet": [hash_code(tag) for tag in tags],
        "subVersion": version,
        "expressionType": "TAG",
        "classFilterMode": False,
    }
