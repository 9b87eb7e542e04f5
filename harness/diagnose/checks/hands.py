"""What a member has in its hands: for how long it has finished none of a queue's messages, and why."""

from rocketchaos.harness.diagnose.model import Held, Member
from rocketchaos.harness.diagnose.numbers import whole

STUCK_MS = 30_000
"""A listener that has messages and finishes none for this long is stuck."""
_THREADS = 20
"""consumeThreadMin of a client that doesn't report it (DefaultMQPushConsumer, since 3.0)."""


def stuck_ms(member: Member, held: Held) -> int:
    """For how long the listener has finished none of a queue's messages; 0: it works, or has none."""
    return 0 if waits_for_a_thread(member, held) else _unfinished_ms(member, held)


def waits_for_a_thread(member: Member, held: Held) -> bool:
    """Whether the queue's messages wait while the member's threads finish those of other queues."""
    return _unfinished_ms(member, held) >= STUCK_MS and takes_turns(member)


def takes_turns(member: Member) -> bool:
    """Whether it has more messages than threads, and finishes some: those of a queue wait for their turn."""
    return has_more_than_threads(member) and any(
        _clock_ms(member) - other.last_consume_ms < STUCK_MS
        for queues in member.queues.values()
        for other in queues.values()
        if not other.dropped and other.last_consume_ms
    )


def has_more_than_threads(member: Member) -> bool:
    """Whether it has more messages than threads: the threads take them in turn."""
    count = sum(
        held.cached_count for queues in member.queues.values() for held in queues.values() if not held.dropped
    )
    told = member.properties.get("PROP_THREADPOOL_CORE_SIZE", "")
    return count > (whole(told) if told.isdecimal() else _THREADS)


def _unfinished_ms(member: Member, held: Held) -> int:
    return _clock_ms(member) - held.last_consume_ms if held.cached_count and held.last_consume_ms else 0


def _clock_ms(member: Member) -> int:
    """Now, by the member's own clock as far as it is known."""
    return max(
        [member.exchange.at_ms]
        + [queue.last_pull_ms for queues in member.queues.values() for queue in queues.values()]
    )
