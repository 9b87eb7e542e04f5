"""How far each member of a group that broadcasts is: it keeps its own offsets (LocalFileOffsetStore), and tells
them with its queues (commitOffset of 307; 4.9.4, 5.5.0)."""

from collections.abc import Iterator, Sequence

from rocketchaos.harness.diagnose.checks.points import Point, seen_s, state, telling_end
from rocketchaos.harness.diagnose.finding import Evidence, Found, Inapplicable, Level, Result, Unknown
from rocketchaos.harness.diagnose.model import Held, Member
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import counted, queues_text
from rocketchaos.harness.rocketmq.allocation import Queue

_WAIT = "These messages wait for this member. The other members have their own."
_LATE = (
    "Messages arrive later and later at this member. In the end retention deletes some before it reads them."
)


def in_state(view: GroupView, wanted: str) -> Iterator[Result]:
    """What offsets' checks have to say of members that broadcast: `stop` and `warning`, as `state` has them."""
    if wanted == "rewind":
        yield Inapplicable()  # each member's own file says where it begins
        return
    for member in view.answered:
        broadcasts = member.properties.get("messageModel") == "BROADCASTING"
        for topic in view.topics if broadcasts else ():
            if queues := _queues_in(view, member, topic, wanted):
                yield _found(view, member, topic, queues, wanted)
            if queues := _queues_in(view, member, topic, "unknown" if wanted == "stop" else "growing"):
                yield Unknown(
                    f"{member.client_id} broadcasts; {queues_text(queues)}: its own offset is "
                    f"{counted(_lag(view, member, topic, queues), 'message')} behind, and "
                    f"{'has not moved' if wanted == 'stop' else 'its lag has grown'} so far",
                    (_at(view, member, topic, queues),),
                    topic,
                    look_again=True,
                )


def _found(view: GroupView, member: Member, topic: str, queues: Sequence[Queue], wanted: str) -> Found:
    histories = [_history(view, member.client_id, topic, queue) for queue in queues]
    seconds = min(seen_s(points) for points in histories)
    lag = counted(_lag(view, member, topic, queues), "message")
    fails = any(member.queues[topic][queue].cached_count for queue in queues)
    why = "its orderly listener keeps failing" if fails else "it holds none of them"
    said = (
        f"its own offset hasn't moved for {seconds:.0f} s, {lag} behind, and {why}"
        if wanted == "stop"
        else f"its own lag never fell in {seconds:.0f} s; it is {lag} now"
    )
    return Found(
        f"{member.client_id} broadcasts; {queues_text(queues)}: {said}",
        (_at(view, member, topic, queues),),
        topic,
        # An application may pause its consumer on purpose.
        level=None if fails and wanted == "stop" else Level.WARNING,
        effect=_WAIT if wanted == "stop" else _LATE,
    )


def _queues_in(view: GroupView, member: Member, topic: str, wanted: str) -> list[Queue]:
    found = []
    for queue in sorted(member.queues.get(topic, {})):
        points = _history(view, member.client_id, topic, queue)
        fails = member.orderly and topic in member.failing
        # What a member holds, and doesn't finish, is a matter of its listener (RC0601); an orderly one may fail.
        elsewhere = member.queues[topic][queue].cached_count and not fails
        if state(points) == wanted and not (elsewhere and wanted in ("stop", "unknown")):
            found.append(queue)
    return found


def _history(view: GroupView, client_id: str, topic: str, queue: Queue) -> Sequence[Point]:
    """The member's own offset at each look since it has had one."""
    found: list[Point] = []
    for look in view.looks:
        known = look.members.get(view.group, {}).get(client_id)
        held = known.queues.get(topic, {}).get(queue) if known is not None else None
        ends = look.ends.get(topic, {}).get(queue)
        offset = None if held is None or held.dropped else _offset(held, found)
        if ends is None or offset is None:
            found.clear()
            continue
        found.append(Point(look.at_ms, offset, max(0, ends.max_offset - offset)))
    return telling_end(found)


def _offset(held: Held, before: Sequence[Point]) -> int | None:
    """Its own offset; before it has finished a message, the oldest one that it has had; None: neither is known."""
    if held.commit_offset >= 0:
        return held.commit_offset
    # While an orderly listener has a message, that is no cached one (consumingMsgOrderlyTreeMap).
    return min([held.cached_min_offset, *(item.offset for item in before)]) if held.cached_count else None


def _lag(view: GroupView, member: Member, topic: str, queues: Sequence[Queue]) -> int:
    return sum(_history(view, member.client_id, topic, queue)[-1].lag for queue in queues)


def _at(view: GroupView, member: Member, topic: str, queues: Sequence[Queue]) -> Evidence:
    ends = view.ends(topic)
    text = "; ".join(
        f"{queues_text([queue])}: commitOffset {member.queues[topic][queue].commit_offset}, cachedMsgCount "
        f"{member.queues[topic][queue].cached_count}, end {ends[queue].max_offset}"
        for queue in queues
    )
    return Evidence(member.exchange, text)
