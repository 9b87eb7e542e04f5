"""What proxies tell each other of their members, in messages: the subscriptions that no request gets.

A proxy in cluster mode stores each heartbeat of its members as a message, for the other proxies: a
HeartbeatSyncerData (HeartbeatSyncer and ClusterConsumerManager, 5.0 to 5.5.0). gRPC clients send a heartbeat every
10 s, remoting clients every 30 s. A proxy inside a broker (local mode) stores none.
"""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Protocol

from rocketchaos.harness.diagnose import read, requests
from rocketchaos.harness.diagnose.exchange import Exchange, Keep
from rocketchaos.harness.diagnose.model import HEARTBEATS, Look
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.rocketmq.fastjson import loads
from rocketchaos.harness.rocketmq.stored_messages import decode

MOST_READ = 128
"""Of each queue, the newest messages."""
AT_ONCE = 16
"""Of each queue: they are read until every member is found."""


class Ask(Protocol):
    """Asks a server within a look."""

    async def __call__(
        self, address: str, code: int, fields: dict[str, str], keep: Keep | None = None
    ) -> Exchange:
        """Whatever goes wrong is in the exchange."""
        ...


async def add_subscriptions(look: Look, ask: Ask, groups: Iterable[str]) -> None:
    """Give the members that didn't report themselves the subscriptions of their newest heartbeats."""
    silent = {
        (group, client_id)
        for group in groups
        for client_id, member in look.members.get(group, {}).items()
        if not member.answered
    }
    if not silent:
        return
    keep = partial(_keep, groups=frozenset(group for group, _ in silent))
    places = await _places(look, ask)
    for begin in range(0, MOST_READ, AT_ONCE):
        asked = [
            ask(address, requests.VIEW_MESSAGE_BY_ID, {"offset": place, "topic": HEARTBEATS}, keep)
            for address, of_queue in places
            for place in of_queue[begin : begin + AT_ONCE]
        ]
        for exchange in sorted(await asyncio.gather(*asked), key=_stored_ms, reverse=True):
            _take(look, exchange, silent)
        if not silent:
            return


def _take(look: Look, exchange: Exchange, silent: set[tuple[str, str]]) -> None:
    document = read.mapping(exchange.document)
    group, client_id = str(document.get("consumerGroup", "")), str(document.get("clientId", ""))
    if (group, client_id) not in silent:
        return
    silent.remove((group, client_id))  # older ones don't matter
    if subscriptions := read.subscriptions(document):
        member = look.members[group][client_id]
        look.members[group][client_id] = replace(member, subscriptions=subscriptions, heartbeat=exchange)


async def _places(look: Look, ask: Ask) -> list[tuple[str, list[str]]]:
    """For each queue: its broker's address, and where its messages are in the commit log, the newest first."""
    routes = [
        read.route(await ask(address, requests.GET_ROUTEINFO_BY_TOPIC, {"topic": HEARTBEATS}))
        for address in look.registered
    ]
    found = []
    for name in sorted({name for route in routes for name in route.brokers} & set(look.brokers)):
        address = look.brokers[name].address
        stats = await ask(address, requests.GET_TOPIC_STATS_INFO, {"topic": HEARTBEATS})
        for queue, ends in read.ends(stats).items():
            fields = {
                "topic": HEARTBEATS,
                "queueId": str(queue[1]),
                "index": str(max(ends.min_offset, ends.max_offset - MOST_READ)),
                "count": str(MOST_READ),
            }
            entries = read.queue_data(await ask(address, requests.QUERY_CONSUME_QUEUE, fields))
            found.append((address, [str(whole(item.get("physicOffset"))) for item in reversed(entries)]))
    return found


def _stored_ms(exchange: Exchange) -> int:
    return whole(read.mapping(exchange.document).get("storedAt"))


def _keep(body: bytes, groups: frozenset[str]) -> bytes:
    """Of a heartbeat: whose it is, and the subscriptions; nothing of other groups."""
    try:
        (message,) = decode(body)
        heartbeat = read.mapping(loads(message.body))
    except ValueError:
        return b""
    if heartbeat.get("group") not in groups:
        return b""
    kept = {
        "storedAt": message.stored_ms,
        "consumerGroup": heartbeat["group"],
        "clientId": heartbeat.get("clientId"),
        "subscriptionSet": heartbeat.get("subscriptionDataSet"),
    }
    return json.dumps(kept, ensure_ascii=False).encode()
