"""The newest entries of ConsumeQueues, positions and hashes of tags, and the messages themselves.

Of each message the record has its offset, its tag, which SQL92 matches it and when it was stored, neither its
properties nor its body.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from rocketchaos.harness.diagnose import read, requests
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.meaning import ALL, meaning
from rocketchaos.harness.diagnose.model import Look
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.sql_judge import Judge, Unjudged
from rocketchaos.harness.language.tags import SQL
from rocketchaos.harness.rocketmq.allocation import Queue
from rocketchaos.harness.rocketmq.stored_messages import PulledMessage, decode

READ_AT_MOST = 128
"""Messages of each queue that are read, the newest ones."""
SAMPLE = 32
"""Entries of each ConsumeQueue that are looked at, the newest ones."""

_Ask = Callable[..., Awaitable[Exchange]]


async def add_entries(
    look: Look, ask: _Ask, consumed: Mapping[str, Sequence[str]], *, named: bool, messages: bool
) -> None:
    """Read them (321) where they matter: where members disagree, or the group has a lag.

    Args:
        look: gets the answers; has members, offsets and ends of queues.
        ask: asks an address.
        consumed: the topics that are looked at, by group.
        named: whether the user named the groups: then also where they want some tags alone.
        messages: whether the messages are read as well.
    """
    newest = READ_AT_MOST if messages else SAMPLE
    wanted = {
        (topic, queue, max(ends.min_offset, ends.max_offset - newest))
        for group, topics in consumed.items()
        if look.members.get(group)
        for topic in topics
        for queue, ends in look.ends.get(topic, {}).items()
        if ends.max_offset > ends.min_offset
        and (
            (named and _wants_some(look, group, topic))
            or _disagree(look, group, topic)
            or (look.offset(group, topic, queue) or 0) < ends.max_offset
        )
    }
    judges = {topic: _judges(look, topic) for topic, _, _ in wanted} if messages else None
    await asyncio.gather(
        *(_entries(look, ask, *item, judges) for item in sorted(wanted)),
        *(_removed(look, ask, *item) for item in sorted(_without_route(look, consumed))),
    )


def _without_route(look: Look, consumed: Mapping[str, Sequence[str]]) -> set[tuple[str, Queue]]:
    """The queues in which a group has an offset, and which its topic no longer has."""
    found: set[tuple[str, Queue]] = set()
    for group, topics in consumed.items():
        for topic in topics:
            for broker, known in look.offsets.items():
                of_topic = [
                    route.brokers[broker]
                    for route in look.routes.get(topic, {}).values()
                    if broker in route.brokers
                ]
                end = max((max(item.read_queues, item.write_queues) for item in of_topic), default=None)
                if end is not None:
                    offsets = known.get(group, {}).get(topic, {})
                    found.update((topic, (broker, number)) for number in offsets if number >= end)
    return found


async def _removed(look: Look, ask: _Ask, topic: str, queue: Queue) -> None:
    fields = {"topic": topic, "queueId": str(queue[1]), "index": "0", "count": "1"}
    look.removed[topic, queue] = await ask(
        look.brokers[queue[0]].address, requests.QUERY_CONSUME_QUEUE, fields
    )


async def _entries(
    look: Look,
    ask: _Ask,
    topic: str,
    queue: Queue,
    begin: int,
    judges: Mapping[str, Mapping[str, Judge]] | None,
) -> None:
    """`judges`: of each topic's SQL92; None: messages aren't read."""
    if queue[0] not in look.brokers:
        return
    ask_broker = partial(ask, look.brokers[queue[0]].address)
    count = str(SAMPLE if judges is None else READ_AT_MOST)
    fields = {"topic": topic, "queueId": str(queue[1]), "index": str(begin), "count": count}
    answer = look.entries[topic, queue] = await ask_broker(requests.QUERY_CONSUME_QUEUE, fields)
    if judges is not None:
        keep = partial(_keep_messages, judges[topic])
        places = [str(whole(item.get("physicOffset"))) for item in read.queue_data(answer)]
        look.messages[topic, queue] = await asyncio.gather(
            *(
                ask_broker(requests.VIEW_MESSAGE_BY_ID, {"offset": place, "topic": topic}, keep)
                for place in places[:READ_AT_MOST]
            )
        )


def _judges(look: Look, topic: str) -> Mapping[str, Judge]:
    """By SQL92 that a member wants or a broker holds; without what can't be judged."""
    held = [stored.subscriptions for known in look.stored.values() for stored in known.values()]
    own = [member.subscriptions for known in look.members.values() for member in known.values()]
    wanted = [item[topic] for item in (*held, *own) if topic in item]
    found: dict[str, Judge] = {}
    for expression in {item.expression for item in wanted if item.type == SQL}:
        try:
            found[expression] = Judge([expression])
        except Unjudged:
            continue
    return found


def _keep_messages(judges: Mapping[str, Judge], body: bytes) -> bytes:
    """Of the answer to 33: offset and tag of the message, whether SQL92 matches it, and when it was stored."""
    try:
        found = decode(body)
    except ValueError:
        return b""
    kept = [[item.queue_offset, item.tag, _matched(judges, item), item.stored_ms] for item in found]
    return json.dumps(kept).encode()


def _matched(judges: Mapping[str, Judge], message: PulledMessage) -> Mapping[str, bool]:
    found: dict[str, bool] = {}
    for expression, judge in judges.items():
        try:
            (found[expression],) = judge.of_message(message.properties)
        except Unjudged:
            continue
    return found


def _wants_some(look: Look, group: str, topic: str) -> bool:
    own = [member.subscriptions.get(topic) for member in look.members[group].values() if member.subscribes]
    return any(item is not None and meaning(item) != ALL for item in own)


def _disagree(look: Look, group: str, topic: str) -> bool:
    own = [member.subscriptions.get(topic) for member in look.members[group].values() if member.subscribes]
    return len({None if item is None else meaning(item) for item in own}) > 1
