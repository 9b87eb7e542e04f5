"""What a member has in its hands: for how long it has finished none of a queue's messages, and why."""

from collections.abc import Iterator, Sequence

from rocketchaos.harness.diagnose.finding import SETTLES_S
from rocketchaos.harness.diagnose.model import Held, Look, Member
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import joined
from rocketchaos.harness.rocketmq.allocation import Queue

STUCK_MS = 30_000
"""A listener that has messages and finishes none for this long is stuck."""
CERTAIN_MS = int(1000 * SETTLES_S)
"""A message that has been in a member's hands for this long is no moment of a change."""
_IN_ORDER = (
    "Later messages of these queues wait: an orderly listener takes one after the other. After a restart they "
    "come from the oldest one on."
)
_TO_IT_ALONE = (
    "Only this member lacks them: it broadcasts, and its own offset stays at the oldest of these messages. After "
    "its restart all messages from there on come to it again."
)
SENT_BACK_BY_BROADCASTING = (
    "Its client sends the message back as a retry, which no member that broadcasts reads, and its own offset "
    "passes it: after a restart the member doesn't get it again."
)
_UNPOLLED = (
    "These messages wait until the application polls: it may do so too rarely, or its thread may hang."
)
_THREADS = 20
"""consumeThreadMin of a client that doesn't report it (DefaultMQPushConsumer, since 3.0)."""


def stuck_ms(member: Member, held: Held) -> int:
    """For how long the listener has finished none of a queue's messages; 0: it has none.

    If it has more messages than threads, those of other queues count: a queue's own may wait for their turn.
    """
    if not held.cached_count or not held.last_consume_ms:
        return 0
    own_ms = _clock_ms(member) - held.last_consume_ms
    return min(own_ms, _idle_ms(member)) if has_more_than_threads(member) else own_ms


def seen_ms(looks: Sequence[Look], group: str, member: Member, topic: str, queue: Queue) -> int:
    """For how long looks have seen the same oldest message of a queue in a member's hands, and none finished."""
    now = member.queues[topic][queue]
    since_ms = looks[-1].at_ms
    for look in reversed(looks):
        known = look.members.get(group, {}).get(member.client_id)
        held = known.queues.get(topic, {}).get(queue) if known is not None else None
        if held is None or not held.cached_count:
            break
        if (held.cached_min_offset, held.last_consume_ms) != (now.cached_min_offset, now.last_consume_ms):
            break
        since_ms = look.at_ms
    return looks[-1].at_ms - since_ms


def moves(looks: Sequence[Look], group: str, member: Member, topic: str, queue: Queue) -> bool:
    """Whether a look of the last half minute saw another oldest message of a queue in the member's hands."""
    now = member.queues[topic][queue]
    recent = [look for look in looks[:-1] if look.at_ms >= looks[-1].at_ms - STUCK_MS]
    before = [
        known for look in recent if (known := look.members.get(group, {}).get(member.client_id)) is not None
    ]
    held = [item for known in before if (item := known.queues.get(topic, {}).get(queue)) is not None]
    return any(item.cached_count and item.cached_min_offset != now.cached_min_offset for item in held)


def takes_turns(member: Member) -> bool:
    """Whether it has more messages than threads, and finishes some: those of a queue wait for their turn."""
    return has_more_than_threads(member) and _idle_ms(member) < STUCK_MS


def has_more_than_threads(member: Member) -> bool:
    """Whether it has more messages than threads: the threads take them in turn.

    Of an orderly member's queue one thread takes one message after the other.
    """
    held = [item for queues in member.queues.values() for item in queues.values() if not item.dropped]
    count = sum(min(item.cached_count, 1) if member.orderly else item.cached_count for item in held)
    threads = member.properties.get("PROP_THREADPOOL_CORE_SIZE", "")
    return count > (whole(threads) if threads.isdecimal() else _THREADS)


def timeout_ms(member: Member) -> int:
    """Its consumeTimeout."""
    return (whole(member.properties.get("consumeTimeout", "15")) or 15) * 60_000


def while_it_holds(view: GroupView, member: Member) -> str:
    """What follows while a member finishes none of its messages; empty: as the check has it."""
    if member.pulls_by_itself:
        return _UNPOLLED
    return _IN_ORDER if member.orderly else _TO_IT_ALONE if view.broadcasting else ""


def invisible_time(member: Member) -> str:
    """How long other members don't get the messages that a member has popped, as a phrase."""
    shown = member.properties.get("popInvisibleTime", "")
    return f"{whole(shown) / 1000:g} s" if shown.isdecimal() else "default 60 s"


def invisible_times(view: GroupView) -> Iterator[str]:
    """How long members that pop have until their messages come again, as a phrase."""
    times: dict[str, list[str]] = {}
    for member in view.answered:
        popping = any(held.popped for queues in member.queues.values() for held in queues.values())
        if popping and (shown := member.properties.get("popInvisibleTime", "")).isdecimal():
            times.setdefault(shown, []).append(member.client_id)
    for shown, ids in sorted(times.items()):
        pops = "pops" if len(ids) == 1 else "pop"
        yield f"messages that {joined(ids)} {pops} come again after {whole(shown) / 1000:g} s (popInvisibleTime)"


def _idle_ms(member: Member) -> int:
    """For how long it has finished no message at all."""
    last_ms = max(
        (
            held.last_consume_ms
            for queues in member.queues.values()
            for held in queues.values()
            if not held.dropped
        ),
        default=0,
    )
    return _clock_ms(member) - last_ms


def _clock_ms(member: Member) -> int:
    """Now, by the member's own clock as far as it is known."""
    return max(
        [member.exchange.at_ms]
        + [queue.last_pull_ms for queues in member.queues.values() for queue in queues.values()]
    )
