"""What brokers keep in topics of their own: delayed messages, undecided transactions, and popped messages.

A broker checks half messages one after the other: it stores each undecided one again, with the number of its
checks, and asks a member of its producer group (TransactionalMessageServiceImpl; 4.9.4, 5.5.0).
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from zlib import crc32

from rocketchaos.harness.diagnose import read, requests
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.model import (
    DELAYED,
    HALF,
    REVIVE,
    REVIVING,
    TRANSACTIONS,
    Backlog,
    Broker,
    Look,
)
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.timers import timer_of
from rocketchaos.harness.language.tags import hash_code
from rocketchaos.harness.rocketmq.stored_messages import decode

READ_AT_MOST = 16
"""Half messages of each broker that are read, the oldest ones."""

REVIVED_AT_MOST = 32
"""Entries of each revive queue that are looked at, the oldest ones."""
_CHECKPOINT = hash_code("ck")
"""The tag of an entry that is about popped messages (PopAckConstants.CK_TAG); the others acknowledge some."""

_Ask = Callable[..., Awaitable[Exchange]]


async def add_backlogs(look: Look, ask: _Ask) -> None:
    """Ask every master.

    Args:
        look: gets the answers; has the brokers' offsets.
        ask: asks an address.
    """
    masters = {name: broker.address for name, broker in look.brokers.items() if 0 in broker.addresses}
    answers = await asyncio.gather(
        *(
            _backlog(look, look.brokers[name], partial(ask, look, address))
            for name, address in masters.items()
        )
    )
    look.backlogs.update(zip(masters, answers, strict=True))


async def _backlog(look: Look, broker: Broker, ask: _Ask) -> Backlog:
    (delayed, offsets, following), (half, entries, transactions), popped, timer = await asyncio.gather(
        _delayed(ask),
        _half(ask, _half_offset(look, broker.name)),
        _popped(look, broker, ask),
        timer_of(look, broker, ask),
    )
    groups = sorted(
        {
            group
            for item in transactions
            if (group := str(read.mapping(item.document).get("producerGroup") or ""))
        }
    )
    producers = await asyncio.gather(
        *(ask(requests.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": group}) for group in groups)
    )
    asked = dict(zip(groups, producers, strict=True))
    return Backlog(delayed, offsets, following, half, entries, transactions, asked, *popped, timer)


def _half_offset(look: Look, broker: str) -> int:
    return look.offset(TRANSACTIONS, HALF, (broker, 0)) or 0


async def _delayed(ask: _Ask) -> tuple[Exchange, Exchange | None, Mapping[int, Exchange]]:
    delayed = await ask(requests.GET_TOPIC_STATS_INFO, {"topic": DELAYED})
    ends = {queue[1]: item for queue, item in read.ends(delayed).items() if item.max_offset > 0}
    if not ends:
        return delayed, None, {}
    offsets = await ask(requests.GET_ALL_DELAY_OFFSET, keep=read.keep_delay_offsets)
    reached = read.delay_offsets(offsets)
    # A level that has delivered nothing yet has no offset; its first queue entry is the next one.
    waiting = {
        number + 1: max(item.min_offset, reached.get(number + 1, 0))
        for number, item in ends.items()
        if offsets.succeeded and item.max_offset > reached.get(number + 1, 0)
    }
    entries = await asyncio.gather(
        *(_entries(ask, DELAYED, level - 1, offset, 1) for level, offset in waiting.items())
    )
    return delayed, offsets, dict(zip(waiting, entries, strict=True))


async def _half(ask: _Ask, offset: int) -> tuple[Exchange, Exchange | None, tuple[Exchange, ...]]:
    half = await ask(requests.GET_TOPIC_STATS_INFO, {"topic": HALF})
    end = max((item.max_offset for item in read.ends(half).values()), default=0)
    # A broker of 4.9.x has half messages before it knows their topic.
    if half.answer_code != read.NO_TOPIC and end <= offset:
        return half, None, ()
    entries = await _entries(ask, HALF, 0, offset, READ_AT_MOST)
    places = [str(whole(item.get("physicOffset"))) for item in read.queue_data(entries)][:READ_AT_MOST]
    messages = await asyncio.gather(
        *(
            ask(requests.VIEW_MESSAGE_BY_ID, {"offset": place, "topic": HALF}, _keep_transaction)
            for place in places
        )
    )
    return half, entries, tuple(messages)


async def _popped(
    look: Look, broker: Broker, ask: _Ask
) -> tuple[Exchange | None, Mapping[int, Exchange], Mapping[int, Exchange]]:
    if not broker.is_of_5:
        return None, {}, {}
    topic = f"{REVIVE}{broker.cluster}"
    revive = await ask(requests.GET_TOPIC_STATS_INFO, {"topic": topic})
    begins = {
        queue[1]: begin
        for queue, item in read.ends(revive).items()
        if item.max_offset > (begin := max(item.min_offset, last_handled(look, topic, queue) + 1))
    }
    answers = await asyncio.gather(
        *(_entries(ask, topic, queue, begin, REVIVED_AT_MOST) for queue, begin in begins.items())
    )
    entries = dict(zip(begins, answers, strict=True))
    places = {
        queue: str(whole(item.get("physicOffset")))
        for queue, answer in entries.items()
        for item in reversed(read.queue_data(answer))
        if whole(item.get("tagsCode")) == _CHECKPOINT
    }
    messages = await asyncio.gather(
        *(
            ask(requests.VIEW_MESSAGE_BY_ID, {"offset": place, "topic": topic}, _keep_time)
            for place in places.values()
        )
    )
    return revive, entries, dict(zip(places, messages, strict=True))


def last_handled(look: Look, topic: str, queue: tuple[str, int]) -> int:
    """The last entry of a revive queue that its broker has handled; -1: none.

    The broker stores the place of that entry, not of the next one, and none for acknowledgements behind it
    (PopReviveService.mergeAndRevive, 5.0 to 5.5.0).
    """
    offset = look.offset(REVIVING, topic, queue)
    return -1 if offset is None else offset


def _keep_time(body: bytes) -> bytes:
    try:
        (message,) = decode(body)
    except ValueError:
        return b""
    return json.dumps({"storedAt": message.stored_ms}).encode()


def _entries(ask: _Ask, topic: str, queue: int, begin: int, count: int) -> Awaitable[Exchange]:
    fields = {"topic": topic, "queueId": str(queue), "index": str(begin), "count": str(count)}
    return ask(requests.QUERY_CONSUME_QUEUE, fields)


def _keep_transaction(body: bytes) -> bytes:
    """Of a half message: whose it is, where it goes, since when it waits, and how often it was checked.

    Each check stores it again (TransactionalMessageServiceImpl). A hash of its id shows that it is the same: the
    id itself has its producer's address.
    """
    try:
        (message,) = decode(body)
    except ValueError:
        return b""
    own = message.properties
    kept = {
        "topic": own.get("REAL_TOPIC", ""),
        "producerGroup": own.get("PGROUP", ""),
        "idHash": crc32(own.get("UNIQ_KEY", "").encode()),
        "checked": whole(own.get("TRANSACTION_CHECK_TIMES")),
        "bornAt": message.born_ms,
        "storedAt": message.stored_ms,
    }
    return json.dumps(kept, ensure_ascii=False).encode()
