"""A broker's subscriptions and members of a group: GET_CONSUMER_CONNECTION_LIST (203)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.core.events.observed import SubscriptionObserved
from rocketchaos.harness.probes.observations import one_at_a_time

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext

CONSUMER_NOT_ONLINE = 206


@dataclass(frozen=True, slots=True)
class StoredSubscription:
    """A broker's entry of a group, with the scenario's names."""

    clients: tuple[str, ...]
    """Client ids of the connected consumers."""
    subscriptions: Mapping[str, Mapping[str, Any]]
    """By topic: `expression`, `tags`, `codes`, `sub_version`."""

    def expression_of(self, topic: str) -> str | None:
        """The stored expression for a topic; None: not in the table."""
        stored = self.subscriptions.get(topic)
        return None if stored is None else str(stored["expression"])

    def version_of(self, topic: str) -> int | None:
        """The stored subVersion for a topic; None: not in the table."""
        stored = self.subscriptions.get(topic)
        return None if stored is None else int(stored["sub_version"])


@one_at_a_time
def read_subscription(
    context: ProbeContext, group: str, broker: str, moment: str | None = None
) -> StoredSubscription:
    """Ask one keeper of the group, and write down the answer; a group without consumers is an empty entry."""
    began_ns = context.now_ns()
    try:
        answer = context.admin.connection(
            context.names.real(group), context.servers.keepers_of_group(group)[broker]
        )
    except RequestFailed as failure:
        if failure.code != CONSUMER_NOT_ONLINE:
            raise
        answer = {"connections": [], "subscriptions": {}}
    connections = sorted(answer["connections"], key=lambda item: (item["client_id"], item["address"]))
    for name in context.members.online(group):
        context.consumers[name].recognize(connections)
    clients = tuple(connection["client_id"] for connection in connections)
    subscriptions = {
        context.names.scenario(topic): stored for topic, stored in answer["subscriptions"].items()
    }
    context.observations.write(
        f"subscription {group} {broker}",
        SubscriptionObserved.kind,
        {
            "group": group,
            "broker": broker,
            "online": bool(clients),
            "clients": list(clients),
            "addresses": [connection["address"] for connection in connections],
            "subscriptions": subscriptions,
            "consume_from_where": answer.get("consume_from_where"),
            "message_model": answer.get("message_model"),
        },
        moment,
        began_ns,
    )
    return StoredSubscription(clients, subscriptions)
