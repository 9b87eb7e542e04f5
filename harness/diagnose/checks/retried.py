"""Messages that listeners failed: retries and dead letters."""

from collections.abc import Iterator, Mapping

from rocketchaos.harness.diagnose import clocks
from rocketchaos.harness.diagnose.checks.hands import invisible_times
from rocketchaos.harness.diagnose.checks.next_retries import next_retries
from rocketchaos.harness.diagnose.checks.progress import popped_hang
from rocketchaos.harness.diagnose.checks.retry_settings import (
    no_retries,
    no_retry_queues,
    unread_retry_queues,
)
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.model import is_of_rocketmq
from rocketchaos.harness.diagnose.view import WRITE, GroupView
from rocketchaos.harness.diagnose.words import clock, counted, joined
from rocketchaos.harness.rocketmq.allocation import Queue

OLD_MS = 24 * 3_600_000
"""Dead letters without a newer one for this long are of a failure that is over."""
RECENT_MS = 180_000
"""A retry within this time shows that a listener fails now: the first retries are 10 to 120 s apart."""

COUNTED_MS = 12_000
"""Clients count every 10 s what their listeners did (StatsItemSet; 4.9.4, 5.5.0): before, both rates are 0."""

_AGAIN_BY_POP = (
    "They come again whenever their invisible time has passed. After the last retry they are dead letters."
)


_UNREAD = (
    "They come to nobody: members that broadcast don't subscribe to the retry topic. The own offset of the member "
    "that sent them back has passed them: after a restart it doesn't get them either."
)

_IN_SHARE = (
    "{waiting} to nobody: a member that broadcasts has their queue in its share, and doesn't subscribe to the "
    "retry topic (RC0206). Others come again after a delay, which grows each time if the "
    "listener sets none."
)


def retries(view: GroupView) -> Iterator[Result]:
    """Retries that wait, or came recently."""
    if view.broadcasting and _all_broadcast(view):
        yield from _sent_back(view)
        yield from _not_counted(view)
        return
    found = [
        item for topic in (view.retry_topic, *view.pop_retry_topics) for item in _retries_in(view, topic)
    ]
    yield from found or (*_first_retry(view), *_not_counted(view))


def _not_counted(view: GroupView) -> Iterator[Unknown]:
    """Members that haven't counted yet what their listeners did with the newest messages, where nothing else shows
    at once that they fail: they broadcast or pop, or brokers have just delayed messages, which may be retries."""
    if view.silent or view.now.at_ms - view.looks[0].at_ms >= COUNTED_MS:
        return
    delayed = any(
        view.now.at_ms - end.updated_ms < COUNTED_MS
        for name, backlog in view.now.backlogs.items()
        for end in clocks.ends({name: backlog.delayed}, view.now.brokers).values()
    )
    for topic in view.present_topics:
        newest_ms = max((end.updated_ms for end in view.ends(topic).values()), default=0)
        takers = [
            item
            for item in view.answered
            if item.language == "JAVA"
            and (
                view.broadcasting
                or any(held.popped for held in item.queues.get(topic, {}).values())
                or (delayed and not item.orderly and item.queues.get(topic))
            )
        ]
        uncounted = [item for item in takers if not (item.failing.get(topic) or item.succeeding.get(topic))]
        all_counted = not uncounted if view.broadcasting else len(uncounted) < len(takers)
        if takers and not all_counted and view.now.at_ms - newest_ms < COUNTED_MS:
            yield Unknown(
                f"messages of {topic} have just come, and {joined([item.client_id for item in uncounted])} "
                f"{'counts' if len(uncounted) == 1 else 'count'} only every 10 s whether a listener fails",
                tuple(Evidence(item.exchange, f"{topic}: consumeFailedTPS 0") for item in uncounted),
                topic,
                look_again=True,
                for_s=COUNTED_MS / 1000,
            )


def _first_retry(view: GroupView) -> Iterator[Unknown]:
    """Members that fail, and no retry has come yet: the first one takes 10 s by default."""
    failing = [item for item in view.answered if any(item.failing.values()) and not item.orderly]
    if not failing or view.broadcasting or view.stored_in(view.dead_letter_topic) or _rarely_fails(view, 0):
        return
    retry_topics = view.on_brokers(view.retry_topic).values()
    unwritten = bool(retry_topics) and not any(item.permission & WRITE for item in retry_topics)
    others = [*no_retries(view), *no_retry_queues(view), *unread_retry_queues(view)]
    if not unwritten and all(item.level is Level.INFO for item in others):
        yield Unknown(
            f"the listener of {joined([item.client_id for item in failing])} fails, and no retry has come so far",
            tuple(
                Evidence(
                    item.exchange,
                    "; ".join(
                        f"{topic}: consumeFailedTPS {rate:.1f}" for topic, rate in item.failing.items()
                    ),
                )
                for item in failing
            ),
            look_again=True,
        )


def _retries_in(view: GroupView, topic: str) -> Iterator[Found]:
    ends = view.ends(topic)
    stored = view.stored_in(topic)
    waits: dict[Queue, int] = {}
    for queue, end in ends.items():
        reached = view.reached(topic, queue)
        waits[queue] = max(0, end.max_offset - max(end.min_offset, reached if reached is not None else 0))
    waiting = sum(waits.values())
    grown = _grown(view, topic)
    last_ms = max((end.updated_ms for end in ends.values()), default=0)
    recent = last_ms > 0 and view.now.at_ms - last_ms < RECENT_MS
    following = list(next_retries(view, topic)) if view.online else []
    # Without members nobody fails now: that the last one failed a moment ago is over.
    if not (waiting or (view.online and (grown or recent or following))):
        return
    ago_s = max(0, view.now.at_ms - last_ms) / 1000
    last = f"the last one came {ago_s:.0f} s ago"
    if waiting:
        unknown = ", and no broker that was asked knows a member"
        nobody = "" if view.online else unknown if view.may_be_online else " for a member to come online"
        parts = [f"{counted(waiting, 'retry', 'retries')} {'waits' if waiting == 1 else 'wait'}{nobody}"]
    else:
        parts = [
            f"{counted(stored, 'retry', 'retries')} {'is' if stored == 1 else 'are'} stored, and none is ready now"
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
        effect = _AGAIN_BY_POP if by_pop else _in_share_of_broadcasting(view, waits)
    unimportant = not (waiting or grown or by_pop) and _rarely_fails(view, stored)
    if following and not (waiting or grown or recent):
        last += f", and {joined(sorted({item.broker for item in following}))} may keep the next one"
        unimportant = unimportant or not any(item.usual for item in following)
    yield Found(
        "; ".join([*parts, *([last] if last_ms else [])]),
        (*_stats(view, topic), *(item.evidence for item in following)),
        topic if by_pop else "",
        level=Level.INFO if _is_told(view, topic) or unimportant else None,
        effect=effect,
        settled=bool(grown) or recent or bool(following) or len(view.looks) > 2,
    )


def _in_share_of_broadcasting(view: GroupView, waits: Mapping[Queue, int]) -> str:
    """What becomes of retries in the share of a member that broadcasts next to others: it doesn't subscribe to the
    retry topic, and the others leave it its share (DefaultMQPushConsumerImpl.copySubscription; 4.9.4, 5.5.0)."""
    owned = view.owners(view.retry_topic)
    count = sum(number for queue, number in waits.items() if queue not in owned)
    if not count or not view.broadcasting or view.silent:
        return ""
    return _IN_SHARE.format(
        waiting=f"{counted(count, 'waiting retry', 'waiting retries')} come{'s' if count == 1 else ''}"
    )


def _all_broadcast(view: GroupView) -> bool:
    known = [item.properties.get("messageModel") for item in view.answered]
    return not view.silent and all(item == "BROADCASTING" for item in known)


def _sent_back(view: GroupView) -> Iterator[Found]:
    """Messages that members which broadcast have sent back: they do so after consumeTimeout, as all do
    (ProcessQueue.cleanExpiredMsg; 4.9.4, 5.5.0). Old ones may be of times in which the group clustered."""
    stored, grown = view.stored_in(view.retry_topic), _grown(view, view.retry_topic)
    last_ms = max((end.updated_ms for end in view.ends(view.retry_topic).values()), default=0)
    recent = 0 < view.now.at_ms - last_ms < RECENT_MS
    if stored:
        yield Found(
            f"{counted(stored, 'retry', 'retries')} {'is' if stored == 1 else 'are'} stored, and no member reads "
            f"them; the last one is of {clock(last_ms)}",
            _stats(view, view.retry_topic),
            level=None if recent or grown else Level.INFO,
            effect=_UNREAD,
        )


def _is_told(view: GroupView, topic: str) -> bool:
    """Whether retries by POP are those of a listener that hangs (RC0601), and none fails."""
    by_pop = topic != view.retry_topic
    return by_pop and not any(item.failing for item in view.answered) and any(popped_hang(view))


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
        since = f"; the newest is of {clock(last_ms)}" if last_ms else ""
        yield Found(
            counted(stored, "dead letter")
            + (f", {grown} more than at the first look" if grown else "")
            + since
            + "".join(_read_by(view, topic)),
            _stats(view, topic),
            level=Level.ERROR if grown else Level.INFO if 0 < last_ms < view.now.at_ms - OLD_MS else None,
        )
    for exchange in view.now.stats.get(topic, {}).values():
        if not exchange.succeeded:
            yield Unknown(
                f"the number of dead letters is unknown: {exchange.why_not}", (Evidence(exchange, ""),)
            )


def _read_by(view: GroupView, topic: str) -> Iterator[str]:
    """How far each group that consumes the dead-letter topic is, as a phrase."""
    ends = view.ends(topic)
    known = [table for name, table in view.now.offsets.items() if name in {queue[0] for queue in ends}]
    for group in sorted({group for table in known for group in table if topic in table[group]}):
        read = sum(
            max(0, min(end.max_offset, view.now.offset(group, topic, queue) or 0) - end.min_offset)
            for queue, end in ends.items()
        )
        if read and not is_of_rocketmq(group):
            yield f"; group {group} has read {'all' if read == view.stored_in(topic) else read} of them"


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
                f"{_group_at(view, topic, queue)}"
                for queue in sorted(ends)
                if queue[0] == broker
            ),
        )
        for broker, exchange in view.now.stats.get(topic, {}).items()
    )


def _group_at(view: GroupView, topic: str, queue: Queue) -> str:
    """How far the group is, and its owner where that hasn't committed yet: fewer retries wait then."""
    offset, reached = view.offset(topic, queue), view.reached(topic, queue)
    if offset is None:
        return ""
    return f", group at {offset}" + (f", its owner at {reached}" if reached != offset else "")


CHECKS = (
    Check(
        "RC0701",
        "messages are retried",
        Level.WARNING,
        "no retries wait",
        "They come again after a delay, which grows each time if the listener sets none. After the last retry "
        "they are dead letters.",
        (
            "Read the listener's log: it throws an exception, returns RECONSUME_LATER, or takes longer than "
            "consumeTimeout (RC0602).",
            "If members pop and the log has none of these, the listener takes longer than popInvisibleTime, or "
            "a SimpleConsumer doesn't ack within its invisibleDuration: let it ack each message, make it faster, "
            "or raise that time.",
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
