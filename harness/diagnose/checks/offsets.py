"""The group's offset in each queue: by Burrow's rules over the looks, and compared with the queue's ends."""

from collections.abc import Callable, Iterator, Sequence

from rocketchaos.harness.diagnose.checks import broadcasters
from rocketchaos.harness.diagnose.checks.points import STOPPED_S, seen_s
from rocketchaos.harness.diagnose.checks.pulls import is_paused, owners, owners_unknown, without_offset
from rocketchaos.harness.diagnose.checks.queue_states import history, set_back, states
from rocketchaos.harness.diagnose.checks.reasons import (
    UNCOMMITTED,
    explained_by,
    failing,
    heartbeat_s,
    in_hands,
    may_hang_s,
    pulls_fail,
    slow_pulls_s,
    uncommitted,
    unowned_because,
)
from rocketchaos.harness.diagnose.checks.resets import given_up
from rocketchaos.harness.diagnose.fate import carries_its_own, entries_of, owners_of
from rocketchaos.harness.diagnose.finding import (
    SETTLES_S,
    Check,
    Evidence,
    Found,
    Level,
    Result,
    Unknown,
)
from rocketchaos.harness.diagnose.meaning import takes
from rocketchaos.harness.diagnose.model import Subscription
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import counted, joined, queues_text
from rocketchaos.harness.rocketmq.allocation import Queue


def _queues_in(view: GroupView, wanted: str) -> Iterator[tuple[str, list[Queue], int]]:
    """For each topic: its queues in this state, and how many of their messages wait."""
    if not view.online:
        return
    for topic in view.topics:
        if view.has_left(topic):
            continue  # RC0508
        found, lag = [], 0
        for queue in view.queues(topic):
            if states(view)[topic, queue] != wanted or only_filtered(view, topic, queue):
                continue
            # Where all was deleted none waits; that an offset went back is true anyway.
            if (waiting := _waiting(view, topic, queue)) or wanted == "rewind":
                found.append(queue)
                lag += waiting
        if found:
            yield topic, found, lag


def _waiting(view: GroupView, topic: str, queue: Queue) -> int:
    """How far the group is behind, without the messages that retention has deleted: RC0505 reports them."""
    last = history(view, topic, queue)[-1]
    ends = view.ends(topic).get(queue)
    deleted = max(0, ends.min_offset - last.offset) if ends is not None else 0
    return max(0, last.lag - deleted)


def _by_how_much(view: GroupView, topic: str, queues: Sequence[Queue]) -> str:
    """How far the offsets went back, as a phrase: at the end of a watch the group may have caught up."""
    number = 0
    for queue in queues:
        if (looks := set_back(view, topic, queue)) is not None:
            first, second = (look.offset(view.group, topic, queue) or 0 for look in looks)
            number += first - second
    return f"; it went back by {counted(number, 'message')}" if number else ""


def _level(view: GroupView, topic: str, queues: Sequence[Queue]) -> Level | None:
    """An application may pause its consumer on purpose, and gRPC members don't tell whether their listener is only
    slow; all else that stops an offset is an error."""
    if view.by_grpc and not view.answered:
        return Level.WARNING
    if pulls_fail(view, topic, queues):
        return None
    return Level.WARNING if all(is_paused(view, topic, queue) for queue in queues) else None


def _why(view: GroupView, topic: str, queues: Sequence[Queue]) -> str:
    """The reason, as far as members show it, as a phrase."""
    return failing(view, topic, queues) or pulls_fail(view, topic, queues)


def _begins_s(view: GroupView, topic: str, queues: Sequence[Queue]) -> float:
    """How long after the first look an offset of each queue was known: a new group has none yet."""
    first = [history(view, topic, queue)[0].at_ms for queue in queues]
    return (max(first) - view.looks[0].at_ms) / 1000


def _may_move(view: GroupView, topic: str, queue: Queue) -> bool:
    """Whether another look may show that the offset moves: no other check says why it doesn't."""
    # Where members want different messages (RC0101), brokers and owners drop some: such an offset moves up to 27 s
    # late, and that it does would change nothing.
    if explained_by(view, topic, queue) or len(view.meanings(topic)) > 1:
        return False
    if owners_unknown(view):
        # gRPC members never answer: their silence isn't that of a member that hangs.
        return {item.client_id for item in view.silent} <= view.by_grpc
    return len(owners(view.now, view.group, topic, queue)) == 1


def evidence(view: GroupView, topic: str, queues: Sequence[Queue], since_ms: int = 0) -> tuple[Evidence, ...]:
    """The group's offsets in these queues, at the first look (from `since_ms` on) and the last one, or around the
    moment at which they went back, and where the queues end."""
    queues = sorted(queues)
    brokers = sorted({queue[0] for queue in queues})
    said = []
    fell = next((looks for queue in queues if (looks := set_back(view, topic, queue))), None)
    shown = [look for look in view.looks if look.at_ms >= since_ms]
    for look in fell or (shown[0], shown[-1])[-min(2, len(shown)) :]:
        for broker in brokers:
            known = look.offsets.get(broker, {}).get(view.group, {}).get(topic, {})
            text = ", ".join(f"{queue[1]}: {known.get(queue[1])}" for queue in queues if queue[0] == broker)
            if broker in look.offset_tables:
                said.append(Evidence(look.offset_tables[broker], f"offsets of {topic}: {text}"))
    for broker in brokers:
        if (stats := view.now.stats.get(topic, {}).get(broker)) is not None:
            ends = view.ends(topic)
            text = ", ".join(
                f"{queue[1]}: {ends[queue].min_offset} to {ends[queue].max_offset}"
                for queue in queues
                if queue[0] == broker and queue in ends
            )
            said.append(Evidence(stats, f"queues of {topic}: {text}"))
    return tuple(said)


def _held(view: GroupView, topic: str, queues: Sequence[Queue]) -> Iterator[Evidence]:
    """How many messages of these queues each owner has: none where its pulls bring none."""
    by_member: dict[str, int] = {}
    for queue in queues:
        for member, held in in_hands(view, topic, queue):
            by_member[member.client_id] = by_member.get(member.client_id, 0) + held.cached_count
    for client_id, count in by_member.items():
        member = view.members[client_id]
        rate = f", consumeFailedTPS {member.failing[topic]:.1f}" if topic in member.failing else ""
        yield Evidence(member.exchange, f"{client_id} owns them, and holds {counted(count, 'message')}{rate}")


def _in_state(wanted: str, sentence: str) -> Callable[[GroupView], Iterator[Result]]:
    def check(view: GroupView) -> Iterator[Result]:
        if view.broadcasting:
            yield from broadcasters.in_state(view, wanted)
            return
        for topic, queues, lag in _queues_in(view, wanted):
            histories = [history(view, topic, queue) for queue in queues]
            seconds = min(map(seen_s, histories))
            since_ms = max(points[0].at_ms for points in histories)
            open_ended = uncommitted(view, topic, queues) if wanted == "stop" else ""
            yield Found(
                sentence.format(
                    queues=queues_text(queues), lag=counted(lag, "message"), seconds=f"{seconds:.0f}"
                )
                + (open_ended or _why(view, topic, queues) if wanted == "stop" else "")
                + (_by_how_much(view, topic, queues) if wanted == "rewind" else ""),
                (
                    *evidence(view, topic, queues, 0 if wanted == "rewind" else since_ms),
                    *(_held(view, topic, queues) if wanted == "stop" else ()),
                ),
                topic,
                level=Level.WARNING
                if open_ended
                else _level(view, topic, queues)
                if wanted == "stop"
                else None,
                effect=UNCOMMITTED if open_ended else "",
            )
        if wanted == "rewind":
            yield from given_up(view, {item[0] for item in _queues_in(view, wanted)})
        if wanted == "stop":
            yield from _without_offset(view)
        if view.online:
            yield from of_static_topics(view)
        if wanted == "warning":
            for topic, queues, lag in _queues_in(view, "growing"):
                yield Unknown(
                    f"{queues_text(queues)}: the lag has grown to {counted(lag, 'message')} so far: `--watch 1m` "
                    "shows whether it goes on",
                    evidence(view, topic, queues),
                    topic,
                    look_again=True,
                )
        if wanted == "stop":
            for topic, queues, lag in _queues_in(view, "unknown"):
                yield Unknown(
                    f"{queues_text(queues)}: {counted(lag, 'message')} behind, and the offset hasn't moved so far"
                    f"{_see(view, topic, queues)}",
                    evidence(view, topic, queues),
                    topic,
                    look_again=any(_may_move(view, topic, queue) for queue in queues),
                    for_s=max(
                        SETTLES_S + _begins_s(view, topic, queues),
                        *(may_hang_s(view, topic, queue) for queue in queues),
                        *(heartbeat_s(view, topic, queue) for queue in queues),
                    ),
                )

    return check


def of_static_topics(view: GroupView) -> Iterator[Unknown]:
    """What no check of offsets can judge: those that brokers answer are of other queues."""
    for topic in filter(view.is_static, view.topics):
        route = view.route(topic)
        yield Unknown(
            "it is a static topic, of whose queues no offsets are known",
            () if route is None else (Evidence(route.exchange, "topicQueueMappingByBroker"),),
            topic,
        )


def _without_offset(view: GroupView) -> Iterator[Unknown]:
    for topic in view.present_topics:
        if view.shares_queues:
            yield from _never_popped(view, topic)
        elif queues := without_offset(view, topic):
            yield Unknown(
                f"{queues_text(queues)}: "
                + (
                    "messages are stored there, no broker knows an offset of the group, and its members don't "
                    "report queues"
                    if owners_unknown(view)
                    else "its owner should have begun, and neither the broker nor the owner knows an offset"
                ),
                (*evidence(view, topic, queues), *_held(view, topic, queues)),
                topic,
                look_again=True,
            )


def _never_popped(view: GroupView, topic: str) -> Iterator[Unknown]:
    """A topic with messages of which a group that shares its queues has no offset at all: a broker sets one when a
    member first pops (PopMessageProcessor, 5.x)."""
    queues = view.ends(topic)  # name servers learn of a retry topic up to 30 s after the first retry
    full = [queue for queue, ends in queues.items() if ends.max_offset > ends.min_offset]
    if full and all(view.offset(topic, queue) is None for queue in queues):
        yield Unknown(
            f"{queues_text(full)}: messages are stored there, and no broker knows an offset of the group",
            evidence(view, topic, full),
            topic,
        )


def _see(view: GroupView, topic: str, queues: Sequence[Queue]) -> str:
    """Where the reason is, or how to find out, as a phrase."""
    slow_s = max(slow_pulls_s(view, topic, queue) for queue in queues)
    if slow_s >= STOPPED_S:
        return f": its owner pulls every {slow_s:.0f} s (pullInterval)"
    if reason := pulls_fail(view, topic, queues):
        return reason
    codes = {explained_by(view, topic, queue) for queue in queues if queue in view.owners(topic)}
    if not owners_unknown(view) and any(queue not in view.owners(topic) for queue in queues):
        codes.add(unowned_because(view, topic))
    if codes and "" not in codes:
        return f": see {joined(sorted(codes))}"
    return ": `--watch 1m` shows whether it does"


def _filters(view: GroupView, topic: str, queue: Queue) -> list[Subscription]:
    """By what the broker may filter a queue's pulls: what it holds, or what its owner's pulls carry."""
    owners = [view.members[item] for item in owners_of(view, topic, queue)]
    carried = [
        owner.subscriptions[topic]
        for owner in owners
        if topic in owner.subscriptions and carries_its_own(view, owner)
    ]
    held = view.held(topic).get(queue[0])
    return carried if carried and len(owners) == 1 else [] if held is None else [held]


def only_filtered(view: GroupView, topic: str, queue: Queue) -> bool:
    """Whether the broker drops every message that the group hasn't reached yet in a queue."""
    offset, ends = view.offset(topic, queue), view.ends(topic).get(queue)
    entries = entries_of(view, topic, queue)
    if offset is None or ends is None or not entries or offset >= ends.max_offset:
        return False
    ahead = [entry for entry in entries if entry.offset >= offset]
    if len(ahead) < ends.max_offset - offset:
        return False  # more than was looked at
    return any(
        all(takes(item, entry.tags_code, matched=entry.matched) is False for entry in ahead)
        for item in _filters(view, topic, queue)
    )


def filtered_lag(view: GroupView) -> Iterator[Result]:
    """Lag of filtered messages alone: the broker will skip them."""
    for topic in view.topics:
        queues = [queue for queue in view.queues(topic) if only_filtered(view, topic, queue)]
        if queues and len(view.meanings(topic)) <= 1:
            lag = sum(view.ends(topic)[item].max_offset - (view.offset(topic, item) or 0) for item in queues)
            yield Found(
                f"{queues_text(queues)}: the {counted(lag, 'message')} that the group hasn't reached yet "
                f"{'has a tag' if lag == 1 else 'all have tags'} that it doesn't want",
                evidence(view, topic, queues),
                topic,
            )


CHECKS = (
    Check(
        "RC0501",
        "the group's offset doesn't move",
        Level.ERROR,
        "every offset moves while messages wait",
        "The messages in these queues wait.",
        (
            "If its owner holds no message of it, the member is paused (`suspend()`, `pause()`), its application "
            "doesn't poll, or its pulls fail: resume it, or read its client's log.",
            "If it holds some, its listener hangs, or is an orderly one that keeps failing, which blocks its "
            "queue: read its log, and take a thread dump, `mqadmin consumerStatus -s`.",
            "If its autoCommit is false, let its application commit what it has handled.",
            "If a broker holds an older subscription, heartbeats don't reach it: look for refusals in its log, "
            "and for another broker that hangs.",
        ),
        ("G04", "A21"),
        by_brokers=True,
        of_group=_in_state("stop", "{queues}: the offset hasn't moved for {seconds} s, {lag} behind"),
    ),
    Check(
        "RC0503",
        "the group's offset was set back",
        Level.WARNING,
        "no offset was set back",
        "Messages that were consumed already come again.",
        (
            "Find out who resets offsets, or which member stores an older one: a second owner (RC0302), or a "
            "restart.",
        ),
        ("G05", "G10", "G15"),
        by_brokers=True,
        of_group=_in_state("rewind", "{queues}: the offset went back, and is {lag} behind"),
    ),
    Check(
        "RC0504",
        "the group falls behind",
        Level.WARNING,
        "the lag doesn't grow",
        "Messages arrive later and later. In the end retention deletes some before the group reads them.",
        ("Add members up to the number of queues, or make the listener faster.",),
        by_brokers=True,
        of_group=_in_state("warning", "{queues}: the lag never fell in {seconds} s; it is {lag} now"),
    ),
    Check(
        "RC0507",
        "the lag consists of filtered messages only",
        Level.INFO,
        "",
        "None: no member wants these messages. The next pull that finds nothing moves the offset past them.",
        ("Nothing. Don't set alarms on lag alone for this group.",),
        ("B06", "F07"),
        of_group=filtered_lag,
    ),
)
