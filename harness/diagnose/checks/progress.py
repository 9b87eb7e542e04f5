"""How members handle the messages of their queues."""

from collections.abc import Iterator, Mapping

from rocketchaos.harness.diagnose.checks.hands import (
    CERTAIN_MS,
    SENT_BACK_BY_BROADCASTING,
    STUCK_MS,
    has_more_than_threads,
    invisible_time,
    moves,
    seen_ms,
    stuck_ms,
    timeout_ms,
    while_it_holds,
)
from rocketchaos.harness.diagnose.finding import (
    KILLED_LOCK_S,
    Check,
    Evidence,
    Found,
    Level,
    Result,
)
from rocketchaos.harness.diagnose.model import Held, Member
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import counted, queues_text
from rocketchaos.harness.rocketmq.allocation import Queue

LATER = 16
"""If the member doesn't hold at least this many later messages that are stored, another look shows whether
it keeps the oldest one."""

_POPPED = (
    "Once popInvisibleTime has passed ({time}), these messages go to any member again, as retries. The group's "
    "offset has passed them, so a lag doesn't show them."
)


def _in_hand(view: GroupView) -> Iterator[tuple[Member, str, Queue, Held]]:
    for member in view.answered:
        for topic in (*view.topics, view.retry_topic):
            for queue, held in member.queues.get(topic, {}).items():
                if not held.dropped:
                    yield member, topic, queue, held


def stuck(view: GroupView) -> Iterator[Result]:
    """Queues whose listener finishes no message."""
    for member, topic, found in _hanging(view):
        least = {
            queue: held
            for queue, held in found.items()
            if not _is_late(view, member, topic, queue)
            and not moves(view.looks, view.group, member, topic, queue)
        }
        if least:
            for_ms = min(stuck_ms(member, held) for held in least.values())
            long = for_ms >= timeout_ms(member)
            yield Found(
                f"{member.client_id} holds {_held_text(least)}, and "
                f"{'its application has polled' if member.pulls_by_itself else 'has finished'} none for "
                f"{for_ms / 1000:.0f} s",
                (_cached(member, least),),
                topic,
                level=Level.ERROR if member.orderly and long else None,
                effect=while_it_holds(view, member),
                settled=any(_certain_ms(view, member, topic, queue) >= CERTAIN_MS for queue in least),
                key=f"{member.client_id} {queues_text(least)}",
            )
    yield from _one_hangs(view)
    yield from popped_hang(view)


def popped_hang(view: GroupView) -> Iterator[Found]:
    """Members by POP whose listener finishes none of the messages that they have popped.

    A client acknowledges and counts nothing that its listener finishes after popInvisibleTime
    (ConsumeMessagePopConcurrentlyService; 5.1.4, 5.5.0).
    """
    for member in view.answered:
        for topic in view.topics:
            waiting = sum(held.unacknowledged for held in member.queues.get(topic, {}).values())
            if waiting and topic not in member.finishing:
                yield Found(
                    f"{member.client_id} finishes none of the {counted(waiting, 'message')} that it has popped: "
                    f"its listener hangs, or takes longer than popInvisibleTime ({invisible_time(member)})",
                    (
                        Evidence(
                            member.exchange, f"waitAckCount {waiting}, consumeOKTPS 0 and consumeFailedTPS 0"
                        ),
                    ),
                    topic,
                    effect=_POPPED.format(time=invisible_time(member)),
                    settled=False,
                    key=member.client_id,
                )


def _one_hangs(view: GroupView) -> Iterator[Found]:
    """Queues whose oldest message stays in a member's hands, while its other threads finish later ones."""
    for member, topic, queue, held in _in_hand(view):
        if _keeps_its_oldest(view, member, topic, queue, held):
            later = view.ends(topic)[queue].max_offset - held.cached_min_offset - 1
            yield Found(
                f"{member.client_id} keeps offset {held.cached_min_offset} of {queues_text([queue])}; "
                f"{counted(later, 'later message')} {'is' if later == 1 else 'are'} stored",
                (_cached(member, {queue: held}),),
                topic,
                effect=while_it_holds(view, member),
                settled=False,
                key=f"{member.client_id} {queues_text([queue])} {held.cached_min_offset}",
            )


def _keeps_its_oldest(view: GroupView, member: Member, topic: str, queue: Queue, held: Held) -> bool:
    ends = view.ends(topic).get(queue)
    if ends is None or not held.cached_count or stuck_ms(member, held) >= STUCK_MS:
        return False
    # Of a queue with many messages, the later ones may not have been pulled yet.
    last = held.cached_max_offset + 1 if has_more_than_threads(member) else ends.max_offset
    later = last - held.cached_min_offset - held.cached_count
    return later >= LATER and not moves(view.looks, view.group, member, topic, queue)


def hangs(view: GroupView, topic: str, queue: Queue) -> str:
    """The code of the finding that a listener may hang on a message of the queue; empty: none does."""
    for member in view.answered:
        held = member.queues.get(topic, {}).get(queue)
        if held is None or held.dropped:
            continue
        if stuck_ms(member, held) >= STUCK_MS:
            return "RC0602" if _is_late(view, member, topic, queue) else "RC0601"
        if _keeps_its_oldest(view, member, topic, queue, held):
            return "RC0601"
    return ""


def timed_out(view: GroupView) -> Iterator[Result]:
    """Queues whose listener takes longer than consumeTimeout."""
    for member, topic, found in _hanging(view):
        late = {queue: held for queue, held in found.items() if _is_late(view, member, topic, queue)}
        if late:
            for_ms = min(stuck_ms(member, held) for held in late.values())
            yield Found(
                f"{member.client_id} holds {_held_text(late)}, and has finished none for "
                f"{for_ms / 60_000:.0f} min; consumeTimeout is {timeout_ms(member) // 60_000} min",
                (_cached(member, late),),
                topic,
                effect=SENT_BACK_BY_BROADCASTING if view.broadcasting else "",
            )


def _is_late(view: GroupView, member: Member, topic: str, queue: Queue) -> bool:
    """Whether a listener has had a message for consumeTimeout, and is no orderly one: those have no such limit
    (ProcessQueue.cleanExpiredMsg; 4.9.4, 5.5.0)."""
    return not member.orderly and _certain_ms(view, member, topic, queue) >= timeout_ms(member)


def _certain_ms(view: GroupView, member: Member, topic: str, queue: Queue) -> int:
    """For how long the member has certainly held a message: since the newest was stored, or looks have seen it.

    Before that it may have been idle: a member tells when it last finished a message, not since when it has one.
    """
    ends = view.ends(topic).get(queue)
    held = member.queues[topic][queue]
    stored_ms = view.now.at_ms - ends.updated_ms if ends is not None and ends.updated_ms else 0
    return min(stuck_ms(member, held), max(stored_ms, seen_ms(view.looks, view.group, member, topic, queue)))


def _hanging(view: GroupView) -> Iterator[tuple[Member, str, dict[Queue, Held]]]:
    """By member and topic: the queues whose listener finished no message for a while."""
    found: dict[tuple[str, str], dict[Queue, Held]] = {}
    for member, topic, queue, held in _in_hand(view):
        if stuck_ms(member, held) >= STUCK_MS:
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


def unlocked(view: GroupView) -> Iterator[Result]:
    """Orderly members that own a queue without its lock."""
    for member, topic, queue, held in _in_hand(view):
        if not member.orderly or view.broadcasting:
            continue
        if topic != view.retry_topic and not held.locked:
            yield Found(
                f"{member.client_id} owns {queues_text([queue])}, but doesn't hold its lock",
                (Evidence(member.exchange, f"locked: false, last locked at {held.last_lock_ms}"),),
                topic,
                settled=False,
                key=f"{member.client_id} {queues_text([queue])}",
                lasts_s=KILLED_LOCK_S,
            )


CHECKS = (
    Check(
        "RC0601",
        "a listener finishes no message",
        Level.WARNING,
        "every listener that has messages finishes some",
        "The group's offset stays at the oldest of these messages. After a restart all messages from there on "
        "come again that are still stored.",
        (
            "Take a thread dump of that member: `mqadmin consumerStatus -s`.",
            "If it takes this long on purpose, leave it; consumeTimeout (RC0602) limits one that isn't orderly, "
            "and popInvisibleTime one that pops: raise that, or its messages come again and again.",
            "Otherwise remove what the listener waits for; if you can't, restart the member.",
        ),
        ("F13", "G04", "G05"),
        by_members=True,
        of_group=stuck,
    ),
    Check(
        "RC0602",
        "a listener takes longer than consumeTimeout",
        Level.ERROR,
        "no listener takes longer than consumeTimeout",
        "A concurrent consumer sends the message back as a retry while its listener still handles it: it comes "
        "twice.",
        ("Make the listener faster, or raise consumeTimeout on all members.",),
        ("G04",),
        by_members=True,
        of_group=timed_out,
    ),
    Check(
        "RC0603",
        "an orderly member doesn't hold the lock of its queue",
        Level.WARNING,
        "every orderly member holds its locks",
        "It consumes nothing from that queue until it gets the lock; another member or a dead connection holds "
        "it for up to 60 s.",
        (
            "Check whether another member owns the queue too (RC0302), or the broker keeps a dead connection "
            "(RC0209).",
        ),
        by_members=True,
        of_group=unlocked,
    ),
)
