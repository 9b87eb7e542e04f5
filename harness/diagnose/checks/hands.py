"""What a member has in its hands: for how long it has finished none of a queue's messages, and why."""

from rocketchaos.harness.diagnose.model import Held, Member
from rocketchaos.harness.diagnose.numbers import whole

STUCK_MS = 30_000
"""A listener that has messages and finishes none for this long is stuck."""
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
