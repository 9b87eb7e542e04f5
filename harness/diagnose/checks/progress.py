"""How members handle the messages of their queues; retries and dead letters."""

from collections.abc import Iterator, Mapping

from rocketchaos.harness.diagnose.checks.hands import (
    CERTAIN_MS,
    STUCK_MS,
    has_more_than_threads,
    invisible_time,
    invisible_times,
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
    Unknown,
)
from rocketchaos.harness.diagnose.model import Held, Member
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import clock, counted, queues_text
from rocketchaos.harness.rocketmq.allocation import Queue

LATER = 16
"""If the member doesn't hold at least this many later messages that are stored, another look shows whether
it keeps the oldest one."""
OLD_MS = 24 * 3_600_000
"""Dead letters without a newer one for this long are of a failure that is over."""
RECENT_MS = 180_000
"""A retry within this time shows that a listener fails now: the first retries are 10 to 120 s apart."""

_AGAIN_BY_POP = (
    "They come again whenever their invisible time has passed. After the last retry they are dead letters."
)
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
                effect=while_it_holds(member),
                settled=any(_certain_ms(view, member, topic, queue) >= CERTAIN_MS for queue in least),
                key=f"{member.client_id} {queues_text(least)}",
            )
    yield from _one_hangs(view)
    yield from _popped_hang(view)


def _popped_hang(view: GroupView) -> Iterator[Found]:
    """Members by POP whose listener finishes none of the messages that they have popped."""
    for member in view.answered:
        for topic in view.topics:
            waiting = sum(held.unacknowledged for held in member.queues.get(topic, {}).values())
            if waiting and topic not in member.finishing:
                yield Found(
                    f"{member.client_id} finishes none of the {counted(waiting, 'message')} that it has popped",
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


def retries(view: GroupView) -> Iterator[Result]:
    """Retries that wait, or came recently."""
    for topic in (view.retry_topic, *view.pop_retry_topics):
        yield from _retries_in(view, topic)


def _retries_in(view: GroupView, topic: str) -> Iterator[Found]:
    ends = view.ends(topic)
    came = view.stored_in(topic)
    waiting = 0
    for queue, end in ends.items():
        reached = view.reached(topic, queue)
        waiting += max(0, end.max_offset - max(end.min_offset, reached if reached is not None else 0))
    grown = _grown(view, topic)
    last_ms = max((end.updated_ms for end in ends.values()), default=0)
    recent = last_ms > 0 and view.now.at_ms - last_ms < RECENT_MS
    # Without members nobody fails now: that the last one failed a moment ago is over.
    if not (waiting or (view.online and (grown or recent))):
        return
    ago_s = max(0, view.now.at_ms - last_ms) / 1000
    last = f"the last one came {ago_s:.0f} s ago, by its broker's clock"
    if waiting:
        unknown = ", and no broker that was asked knows a member"
        nobody = "" if view.online else unknown if view.may_be_online else " for a member to come online"
        parts = [f"{counted(waiting, 'retry', 'retries')} {'waits' if waiting == 1 else 'wait'}{nobody}"]
    else:
        parts = [
            f"{counted(came, 'retry', 'retries')} {'has' if came == 1 else 'have'} come, and none is ready now"
        ]
    if grown:
        parts.append(f"{grown} {'has' if grown == 1 else 'have'} come since the first look")
    by_pop = topic != view.retry_topic
    if by_pop:
        parts += invisible_times(view)
    if not view.may_be_online:
        effect = "They wait until a member is online, or retention deletes them."
    elif not view.online:
        effect = (
            "If no member is online, also behind a proxy (`--proxy`), they wait, or retention deletes them."
        )
    else:
        effect = _AGAIN_BY_POP if by_pop else ""
    yield Found(
        "; ".join([*parts, *([last] if last_ms else [])]),
        _stats(view, topic),
        topic if by_pop else "",
        level=None if waiting or grown or by_pop or not _rarely_fails(view, came) else Level.INFO,
        effect=effect,
        settled=bool(grown) or recent or len(view.looks) > 2,
    )


def _rarely_fails(view: GroupView, came: int) -> bool:
    """Whether fewer than a tenth of all calls of listeners have failed in the last minute, by their own count."""
    if view.silent or any(item.language != "JAVA" for item in view.answered):
        return False
    failed = sum(sum(item.failing.values()) for item in view.answered)
    succeeded = sum(sum(item.succeeding.values()) for item in view.answered)
    # Of an idle group, fewer retries than a tenth of all messages that are stored.
    return failed * 9 < succeeded if failed or succeeded else came * 9 < sum(map(view.stored_in, view.topics))


def dead_letters(view: GroupView) -> Iterator[Result]:
    """Messages in the dead-letter topic."""
    topic = view.dead_letter_topic
    stored = view.stored_in(topic)
    if stored:
        grown = _grown(view, topic)
        last_ms = max((end.updated_ms for end in view.ends(topic).values()), default=0)
        since = f"; the newest is of {clock(last_ms)}, by its broker's clock" if last_ms else ""
        yield Found(
            counted(stored, "dead letter")
            + (f", {grown} more than at the first look" if grown else "")
            + since,
            _stats(view, topic),
            level=Level.ERROR if grown else Level.INFO if 0 < last_ms < view.now.at_ms - OLD_MS else None,
        )
    for exchange in view.now.stats.get(topic, {}).values():
        if not exchange.succeeded:
            yield Unknown(
                f"the number of dead letters is unknown: {exchange.why_not}", (Evidence(exchange, ""),)
            )


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
        "a listener finishes no message",
        Level.WARNING,
        "every listener that has messages finishes some",
        "The group's offset stays at the oldest of these messages. After a restart all messages from there on "
        "come again.",
        (
            "Take a thread dump of that member: `mqadmin consumerStatus -s`.",
            "If it takes this long on purpose, leave it; consumeTimeout (RC0602) limits one that isn't orderly.",
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
    Check(
        "RC0701",
        "messages are retried",
        Level.WARNING,
        "no retries wait",
        "They come again after a delay that grows each time. After the last retry they are dead letters.",
        (
            "Read the listener's log: it throws an exception, returns RECONSUME_LATER, or takes longer than "
            "consumeTimeout (RC0602).",
            "If members pop and the log has none of these, the listener takes longer than popInvisibleTime, or "
            "than the invisibleDuration of a SimpleConsumer: make it faster, or raise that time.",
        ),
        ("G06", "G07", "B17"),
        by_brokers=True,
        of_group=retries,
    ),
    Check(
        "RC0702",
        "the group has dead letters",
        Level.WARNING,
        "there are no dead letters",
        "This group gets them no more. Only a group that consumes the dead-letter topic does.",
        (
            "Find out why the listener failed.",
            "When that is corrected, send the messages again.",
        ),
        ("G08",),
        of_group=dead_letters,
    ),
)
