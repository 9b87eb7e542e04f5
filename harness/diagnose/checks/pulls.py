"""How the owner of a queue pulls from it: as one that is paused, or as one whose pulls a broker refuses."""

from collections.abc import Sequence
from itertools import pairwise

from rocketchaos.harness.diagnose.fate import entries_of
from rocketchaos.harness.diagnose.meaning import takes
from rocketchaos.harness.diagnose.model import Held, Look, Member
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import joined
from rocketchaos.harness.rocketmq.allocation import Queue

_LEAST_LOOKS = 3
_OFTEN_MS = 100
"""Of one that pulls again at once, the time from its last try to the question differs by less than this from look
to look (measured: 47 ms; it pulls again after 20 ms, claim F15). By differences, its clock doesn't matter."""
_LATE_IN = 6
"""One look of each six may differ more: a busy host delays a member's pulls, and its answer, which then has a try
after the question."""
_UNEVEN_MS = 150
"""A paused client tries each second: between two looks whole seconds pass, and a little more (measured: at most
94 ms on a busy host)."""
_LEAST_UNEVEN = 2
_STARTS_MS = 30_000
"""A member owns its queues this long after its start: from then on it takes what comes, wherever it began."""
_PULLED_MS = 1_000
"""A queue that was pulled later than this after its owner got it was pulled by its client."""
_OF_GO_MS, _LATE_MS = 30_000, 1_000
"""A client of Go that is suspended tries again after this time (_PullDelayTimeWhenSuspend; 2.1.0 to 2.1.2)."""


def owners(look: Look, group: str, topic: str, queue: Queue) -> list[tuple[Member, Held]]:
    """The members that own a queue, with what they hold of it."""
    return [
        (member, held)
        for member in look.members.get(group, {}).values()
        if (held := member.queues.get(topic, {}).get(queue)) is not None and not held.dropped
    ]


def owners_unknown(view: GroupView) -> bool:
    """Its members share all queues (POP), or don't report theirs (lite pull of 4.9.x)."""
    return view.shares_queues or not any(member.queues for member in view.answered)


def is_paused(view: GroupView, topic: str, queue: Queue) -> bool:
    """Whether the queue's owner does what a paused one does: it tries to pull, again and again (each second,
    DefaultMQPushConsumerImpl.pullMessage of 4.9.4 and 5.5.0), and holds nothing.

    One whose pulls fail comes after a second too (pullTimeDelayMillsWhenException).
    """
    seen = _in_vain(view, topic, queue)
    if any(member.language == "GO" for member, _ in seen):
        every = [last[1].last_pull_ms - first[1].last_pull_ms for first, last in pairwise(seen)]
        steps = [step for step in every if step]
        return bool(steps) and all(0 <= step - _OF_GO_MS < _LATE_MS for step in steps)
    tries = [held.last_pull_ms for _, held in seen[-_LEAST_LOOKS:]]
    if seen and all(member.pulls_by_itself for member, _ in seen):
        # Its task leaves a paused queue out (DefaultLitePullConsumerImpl.PullTaskImpl, 5.5.0), also one that was
        # never pulled; only that consumer has autoCommit. Where the application pulls (DefaultMQPullConsumer), the
        # time stays that at which the member got the queue, as that of its lock.
        pulled = all(
            "autoCommit" in member.properties or held.last_pull_ms - held.last_lock_ms > _PULLED_MS
            for member, held in seen
        )
        return pulled and len(seen) >= _LEAST_LOOKS and len(set(tries)) == 1
    return (
        bool(seen)
        and all(first < second for first, second in pairwise(tries))
        and not _pulls_at_once(view, topic, queue)
    )


def refused(view: GroupView, topic: str, queues: Sequence[Queue]) -> str:
    """The owners that pull again at once, and get nothing, as a phrase.

    A broker's refusal looks the same from here as an exception in a client that tries again soon
    (pullTimeDelayMillsWhenException).
    """
    ids = {
        member.client_id
        for queue in queues
        if _pulls_at_once(view, topic, queue)
        for member, _ in owners(view.now, view.group, topic, queue)
    }
    if not ids:
        return ""
    pull, get, whose = ("pulls", "gets", "its") if len(ids) == 1 else ("pull", "get", "their")
    return (
        f"; {joined(sorted(ids))} {pull} many times a second, and {get} nothing: {whose} pulls fail, as by the "
        f"broker's flow control; {whose} log has the reason"
    )


def without_offset(view: GroupView, topic: str) -> list[Queue]:
    """Queues with messages of which no offset is known, neither by the broker nor by a member that may take them,
    though the newest message came while that one ran, or it begins with the first, and it wants some.

    It may have taken none, or it may have begun behind what is stored: a client of Go stores -1 until it has
    handled a message.
    """
    found = []
    # When members took queues that they don't report isn't known, and so what they pass over at a start neither.
    starts_ms = 0 if owners_unknown(view) else _STARTS_MS
    for queue in view.queues(topic):
        ends, stored = view.ends(topic).get(queue), view.stored.get(queue[0])
        if ends is None or ends.max_offset <= ends.min_offset or view.reached(topic, queue) is not None:
            continue
        entries = entries_of(view, topic, queue) or ()
        begins = stored is not None and stored.consume_from == "CONSUME_FROM_FIRST_OFFSET"
        for member in _takers(view, topic, queue):
            own = member.subscriptions.get(topic)
            came_later = 0 < member.started_ms < ends.updated_ms - starts_ms
            if own is None or not (begins or came_later):
                continue
            if any(takes(own, item.tags_code, matched=item.matched) is not False for item in entries):
                found.append(queue)
                break
    return found


def _takers(view: GroupView, topic: str, queue: Queue) -> Sequence[Member]:
    """Who may take the queue's messages, and holds none: its only owner; all, if members don't report queues."""
    if owners_unknown(view):
        return view.answered
    known = owners(view.now, view.group, topic, queue)
    return [known[0][0]] if len(known) == 1 and not known[0][1].cached_count else []


def _in_vain(view: GroupView, topic: str, queue: Queue) -> Sequence[tuple[Member, Held]]:
    """The queue in the hands of its owner at each look; none if the owner had messages, or there were several."""
    found = []
    for look in view.looks:
        known = owners(look, view.group, topic, queue)
        if len(known) != 1 or known[0][1].cached_count:
            return ()
        found.append(known[0])
    return found


def _pulls_at_once(view: GroupView, topic: str, queue: Queue) -> bool:
    """Whether looks found a try just before them, however much time had passed between them; few may be late."""
    seen = _in_vain(view, topic, queue)
    ago = sorted(member.exchange.at_ms - held.last_pull_ms for member, held in seen)
    late = len(ago) // _LATE_IN
    differ_ms = (last - first for first, last in zip(ago, ago[len(ago) - late - 1 :], strict=False))
    passed = [second.last_pull_ms - first.last_pull_ms for (_, first), (_, second) in pairwise(seen)]
    uneven = sum(past % 1000 > _UNEVEN_MS for past in passed)
    return len(ago) >= _LEAST_LOOKS and min(differ_ms) < _OFTEN_MS and uneven >= _LEAST_UNEVEN
