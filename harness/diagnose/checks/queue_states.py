"""The state of the group's offset in each queue: by Burrow's rules, and by what its owner could do."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from weakref import WeakKeyDictionary

from rocketchaos.harness.diagnose.checks.hands import takes_turns
from rocketchaos.harness.diagnose.checks.points import WINDOW_S, Point, seen_s, state, telling_end
from rocketchaos.harness.diagnose.checks.pulls import owners, owners_unknown
from rocketchaos.harness.diagnose.checks.reasons import (
    explained_by,
    heartbeat_s,
    in_hands,
    may_hang_s,
    slow_pulls_s,
)
from rocketchaos.harness.diagnose.model import Look
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.rocketmq.allocation import Queue

_KNOWN: WeakKeyDictionary[GroupView, Mapping[tuple[str, Queue], str]] = WeakKeyDictionary()


def _looks(view: GroupView, topic: str, queue: Queue) -> Sequence[Look]:
    """The looks since the queue's end last fell: its topic was made again, or its broker has lost messages, and
    its offsets mean other messages since then."""
    found: list[Look] = []
    end = 0
    for look in view.looks:
        if (ends := look.ends.get(topic, {}).get(queue)) is not None:
            if ends.max_offset < end:
                found.clear()
            end = ends.max_offset
        found.append(look)
    return found


def history(view: GroupView, topic: str, queue: Queue) -> Sequence[Point]:
    """The group's offset in a queue at each look since its end last fell, or it has stopped, or its lag grows."""
    found = []
    for look in _looks(view, topic, queue):
        offset = look.reached(view.group, topic, queue)
        ends = look.ends.get(topic, {}).get(queue)
        if offset is not None and ends is not None:
            found.append(Point(look.at_ms, offset, max(0, ends.max_offset - offset)))
    return telling_end(found)


def _can_consume(look: Look, group: str, topic: str, queue: Queue) -> bool:
    """Whether the queue had one owner, and an orderly one had its lock: without it, RC0603 tells."""
    found = owners(look, group, topic, queue)
    return len(found) == 1 and all(held.locked or not member.orderly for member, held in found)


def states(view: GroupView) -> Mapping[tuple[str, Queue], str]:
    """The state of each queue. Several checks ask for it, so it is found once for each view."""
    if (known := _KNOWN.get(view)) is None:
        known = _KNOWN[view] = {
            (topic, queue): _state(view, topic, queue)
            for topic in view.topics
            for queue in view.queues(topic)
        }
    return known


def _state(view: GroupView, topic: str, queue: Queue) -> str:
    """As `state`; an offset has stopped only if one owner could consume the queue all the time, and its listener
    doesn't hang; or if owners can't be known."""
    points = history(view, topic, queue)
    found = "rewind" if points and set_back(view, topic, queue) else state(points)
    if found == "stop" and view.by_grpc and not view.answered and _moves_anywhere(view):
        return "unknown"  # a client of gRPC may take its queues in turn
    if found != "stop" or view.silent or owners_unknown(view):
        return found
    past_s = seen_s(points)
    least_s = max(wait(view, topic, queue) for wait in (slow_pulls_s, may_hang_s, heartbeat_s))
    if explained_by(view, topic, queue) or past_s < least_s:
        return "unknown"
    if any(held.cached_count and takes_turns(member) for member, held in in_hands(view, topic, queue)):
        return "warning" if points[-1].lag > points[0].lag and past_s >= WINDOW_S else "unknown"
    # A client of Go answers now and then with nothing: such a look doesn't tell who owned the queue.
    telling = [
        look
        for look in view.looks
        if look.at_ms >= points[0].at_ms and all(item.answered for item in look.members[view.group].values())
    ]
    return "stop" if all(_can_consume(look, view.group, topic, queue) for look in telling) else "unknown"


def _moves_anywhere(view: GroupView) -> bool:
    """Whether the group's offset moves in any queue."""
    offsets = [
        {point.offset for point in history(view, topic, queue)}
        for topic in view.topics
        for queue in view.queues(topic)
    ]
    return any(len(known) > 1 for known in offsets)


def set_back(view: GroupView, topic: str, queue: Queue) -> tuple[Look, Look] | None:
    """The looks between which the broker's offset fell; None: it never did.

    It counts also without a lag before, which Burrow calls OK, and after the group has caught up: its messages
    came again. A member that takes a queue over may store a lower one too, once.
    """
    looks = _looks(view, topic, queue)
    known = [look for look in looks if look.offset(view.group, topic, queue) is not None]
    for before, after in pairwise(known):
        first, second = (look.offset(view.group, topic, queue) for look in (before, after))
        ends = before.ends.get(topic, {}).get(queue)
        if first is None or second is None or ends is None:
            continue
        if second < min(first, ends.max_offset):
            return before, after
    return None
