"""How far a broker's timer is (5.x): it holds messages with a delay of their own, and the entries of popped ones.

The broker stores such a message in `rmq_sys_wheel_timer`, takes it from there into its timer wheel at once, and
puts it into its topic when it is due (TimerMessageStore, 5.0 to 5.5.0).
"""

import asyncio
import json
from collections.abc import Awaitable, Callable

from rocketchaos.harness.diagnose import read, requests
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.model import TIMED, Broker, Look, Timer
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.language.tags import hash_code
from rocketchaos.harness.rocketmq.stored_messages import decode

LOOKED_AT = 256
"""At most this many messages that the timer hasn't taken, the oldest ones; two of them are read."""
_OF_POPPED = {hash_code("ck"), hash_code("ack"), hash_code("bAck")}
"""The tags of entries that are about popped messages (PopAckConstants, 5.x)."""

_Ask = Callable[..., Awaitable[Exchange]]


async def timer_of(look: Look, broker: Broker, ask: _Ask) -> Timer | None:
    """Ask a broker for its timer; None: it has none, or doesn't tell."""
    if read.TIMER_BEHIND not in broker.runtime:
        return None
    known = [
        item
        for item in broker.asked
        if item.look == look.number and item.code == requests.GET_BROKER_RUNTIME_INFO
    ]
    state = known[0] if known else await ask(requests.GET_BROKER_RUNTIME_INFO, keep=read.keep_runtime)
    behind = read.runtime_number(state, read.TIMER_BEHIND)
    if behind <= 0:
        return Timer(state)
    ends = await ask(requests.GET_TOPIC_STATS_INFO, {"topic": TIMED})
    end = max((item.max_offset for item in read.ends(ends).values()), default=0)
    fields = {"topic": TIMED, "queueId": "0", "index": str(max(0, end - behind)), "count": str(LOOKED_AT)}
    entries = await ask(requests.QUERY_CONSUME_QUEUE, fields)
    first: dict[bool, str] = {}
    for item in read.queue_data(entries):
        first.setdefault(whole(item.get("tagsCode")) in _OF_POPPED, str(whole(item.get("physicOffset"))))
    messages = await asyncio.gather(
        *(
            ask(requests.VIEW_MESSAGE_BY_ID, {"offset": place, "topic": TIMED}, _keep_topic)
            for place in first.values()
        )
    )
    return Timer(state, ends, entries, tuple(messages))


def _keep_topic(body: bytes) -> bytes:
    """Of a message in the timer's topic: where it goes, and when it was stored."""
    try:
        (message,) = decode(body)
    except ValueError:
        return b""
    own = message.properties
    kept = {"topic": own.get("REAL_TOPIC", ""), "storedAt": message.stored_ms}
    return json.dumps(kept, ensure_ascii=False).encode()
