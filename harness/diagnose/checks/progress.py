"""What members do with the queues that they have, retries and dead letters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.model import Held, Member
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import counted, queues_text
from rocketchaos.harness.rocketmq.allocation import Queue

STUCK_MS = 30_000
"""A queue with messages in hand whose listener finished none for so long."""
RECENT_MS = 180_000
"""A retry that came so lately tells of a listener that fails now: the first ones are 10 to 120 s apart."""


def _in_hand(view: GroupView) -> Iterator[tuple[Member, str, Queue, Held]]:
    for member in view.answered:
        for topic in (*view.topics, view.retry_topic):
            for queue, held in member.queues.get(topic, {}).items():
                if not held.dropped:
                    yield member, topic, queue, held


def _stuck_ms(member: Member, held: Held) -> int:
    """How long nothing of a queue in hand was finished, by the member's own clock as far as it is known."""
    clock_ms = max(
        [member.exchange.at_ms]
        + [queue.last_pull_ms for queues in member.queues.values() for queue in queues.values()]
    )
    return clock_ms - held.last_consume_ms if held.cached_count and held.last_consume_ms else 0


def stuck(view: GroupView) -> Iterator[Result]:
    """Queues whose listener finishes nothing."""
    for member, topic, found in _hanging(view):
        least = {
            queue: held
            for queue, held in found.items()
            if _stuck_ms(member, held) < _timeout_ms(member) and not _moves(view, member, topic, queue, held)
        }
        if least:
            for_ms = max(_stuck_ms(member, held) for held in least.values())
            yield Found(
                f"{member.client_id} holds {_held_text(least)}, and has finished none for {for_ms / 1000:.0f} s",
                (_cached(member, least),),
                topic,
            )


def timed_out(view: GroupView) -> Iterator[Result]:
    """Queues whose listener takes longer than consumeTimeout."""
    for member, topic, found in _hanging(view):
        late = {
            queue: held for queue, held in found.items() if _stuck_ms(member, held) >= _timeout_ms(member)
        }
        if late:
            for_ms = max(_stuck_ms(member, held) for held in late.values())
            yield Found(
                f"{member.client_id} holds {_held_text(late)}, and has finished none for "
                f"{for_ms / 60_000:.0f} min; consumeTimeout is {_timeout_ms(member) // 60_000} min",
                (_cached(member, late),),
                topic,
            )


def _hanging(view: GroupView) -> Iterator[tuple[Member, str, dict[Queue, Held]]]:
    """By member and topic: the queues of which nothing was finished for a while."""
    found: dict[tuple[str, str], dict[Queue, Held]] = {}
    for member, topic, queue, held in _in_hand(view):
        if _stuck_ms(member, held) >= STUCK_MS:
            found.setdefault((member.client_id, topic), {})[queue] = held
    for (client_id, topic), queues in found.items():
        yield view.members[client_id], topic, queues


def _held_text(queues: Mapping[Queue, Held]) -> str:
    count = sum(held.cached_count for held in queues.values())
    return f"{counted(count, 'message')} of {queues_text(queues)}"


def _cached(member: Member, queues: Mapping[Queue, Held]) -> Evidence:
    text = "; ".join(
        f"{queues_text([queue])}: cachedMsgCount {held.cached_count}, cachedMsgMinOffset {held.cached_min_offset}"
        for queue, held in sorted(queues.items())
    )
    return Evidence(member.exchange, text)


def _moves(view: GroupView, member: Member, topic: str, queue: Queue, held: Held) -> bool:
    """Whether an earlier look saw another oldest message in hand."""
    for look in view.looks[:-1]:
        before = look.members.get(view.group, {}).get(member.client_id)
        known = before.queues.get(topic, {}).get(queue) if before else None
        if known is not None and known.cached_min_offset != held.cached_min_offset:
            return True
    return False


def _timeout_ms(member: Member) -> int:
    shown = member.properties.get("consumeTimeout", "15")
    return int(shown) * 60_000 if shown.isdigit() and int(shown) else 15 * 60_000


def unlocked(view: GroupView) -> Iterator[Result]:
    """Orderly members that have a queue and not its lock."""
    for member, topic, queue, held in _in_hand(view):
        if not member.orderly or view.broadcasting:
            continue
        if topic != view.retry_topic and not held.locked:
            yield Found(
                f"{member.client_id} has {queues_text([queue])} and not its lock",
                (Evidence(member.exchange, f"locked: false, last locked at {held.last_lock_ms}"),),
                topic,
                settled=False,
                key=f"{member.client_id} {queues_text([queue])}",
            )


def retries(view: GroupView) -> Iterator[Result]:
    """Retries that wait, or come."""
    topic = view.retry_topic
    ends = view.ends(topic)
    waiting = sum(
        max(0, end.max_offset - (view.reached(topic, queue) or end.min_offset)) for queue, end in ends.items()
    )
    grown = _grown(view, topic)
    last_ms = max((end.updated_ms for end in ends.values()), default=0)
    recent = last_ms > 0 and view.now.at_ms - last_ms < RECENT_MS
    if grown or waiting or recent:
        ago_s = max(0, view.now.at_ms - last_ms) / 1000
        yield Found(
            f"{counted(waiting, 'retry', 'retries')} wait{'s' if waiting == 1 else ''}"
            + (f", {grown} more than at the first look" if grown else "")
            + (f"; the last one came {ago_s:.0f} s ago, by its broker's clock" if last_ms else ""),
            _stats(view, topic),
            settled=bool(grown) or recent or len(view.looks) > 2,
        )


def dead_letters(view: GroupView) -> Iterator[Result]:
    """Messages that nobody will get any more."""
    topic = view.dead_letter_topic
    stored = sum(end.max_offset - end.min_offset for end in view.ends(topic).values())
    if stored:
        grown = _grown(view, topic)
        yield Found(
            f"{counted(stored, 'dead letter')}" + (f", {grown} more than at the first look" if grown else ""),
            _stats(view, topic),
            level=Level.ERROR if grown else None,
        )
    for exchange in view.now.stats.get(topic, {}).values():
        if not exchange.succeeded:
            yield Unknown(f"the dead letters aren't known: {exchange.why_not}", (Evidence(exchange, ""),))


def _grown(view: GroupView, topic: str) -> int:
    first = view.looks[0].ends.get(topic, {})
    return sum(
        end.max_offset - first[queue].max_offset for queue, end in view.ends(topic).items() if queue in first
    )


def _stats(view: GroupView, topic: str) -> tuple[Evidence, ...]:
    ends = view.ends(topic)
    return tuple(
        Evidence(
            exchange,
            "; ".join(
                f"{topic} {queue[1]}: {ends[queue].min_offset} to {ends[queue].max_offset}"
                f"{_group_at(view.offset(topic, queue))}"
                for queue in sorted(ends)
                if queue[0] == broker
            ),
        )
        for broker, exchange in view.now.stats.get(topic, {}).items()
    )


def _group_at(offset: int | None) -> str:
    return "" if offset is None else f", group at {offset}"


CHECKS = (
    Check(
        "RC0601",
        "a listener that finishes nothing",
        Level.WARNING,
        "every listener with messages in hand finishes some",
        "The group's offset stays at the oldest of them; a restart brings all behind it again.",
        (
            "Take a stack of that member: `mqadmin consumerStatus -s`.",
            "Free what it waits for; restart it if it can't be freed.",
        ),
        ("F13", "G04", "G05"),
        of_group=stuck,
    ),
    Check(
        "RC0602",
        "a listener that takes longer than consumeTimeout",
        Level.ERROR,
        "no listener takes longer than consumeTimeout",
        "A concurrent member sends the message back as a retry while it is still being handled: it comes twice.",
        ("Make the listener faster, or raise consumeTimeout on all members.",),
        ("G04",),
        of_group=timed_out,
    ),
    Check(
        "RC0603",
        "an orderly member without the lock of its queue",
        Level.WARNING,
        "every orderly member has its locks",
        "It waits for the lock, which another member or a dead connection holds for up to 60 s.",
        ("See who has the queue besides (RC0302), and whether the broker knows a dead connection (RC0209).",),
        (),
        of_group=unlocked,
    ),
    Check(
        "RC0701",
        "retries wait or come",
        Level.WARNING,
        "no retries wait",
        "They come again after a delay that grows, and are dead letters after the last.",
        ("Read the listener's log: it fails, or returns RECONSUME_LATER.",),
        ("G06", "G07", "B17"),
        of_group=retries,
    ),
    Check(
        "RC0702",
        "dead letters",
        Level.WARNING,
        "there are no dead letters",
        "Nobody gets them until somebody consumes the dead-letter topic or sends them again.",
        (
            "Read why the listener failed.",
            "Send them again once it is put right.",
        ),
        ("G08",),
        of_group=dead_letters,
    ),
)
