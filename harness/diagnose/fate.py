"""What becomes of messages in a group whose members disagree: by the hashes that brokers keep of their tags.

A message is delivered if the broker lets it pass by what it holds for the group, and the member that owns its
queue by what that wants. Members whose pulls carry their own expression are filtered by that alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocketchaos.harness.diagnose import read
from rocketchaos.harness.diagnose.meaning import takes, told
from rocketchaos.harness.diagnose.model import Member
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import counted, queues_told
from rocketchaos.harness.language.tags import hash_code, tags_of
from rocketchaos.harness.rocketmq.allocation import Queue


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a ConsumeQueue."""

    offset: int
    tags_code: int


@dataclass(frozen=True, slots=True)
class Lost:
    """Of the entries that were looked at."""

    looked_at: int
    wanted: int
    """By some member."""
    lost: int
    """Wanted by somebody, and handed to nobody."""
    sentence: str


def entries_of(view: GroupView, topic: str, queue: Queue) -> Sequence[Entry] | None:
    """The entries of a queue that were read; None: none were."""
    exchange = view.now.entries.get((topic, queue))
    if exchange is None or not exchange.succeeded:
        return None
    begin = read.whole(exchange.fields.get("index"))
    data = read.listed(read.mapping(exchange.document).get("queueData"))
    return [
        Entry(begin + number, read.whole(read.mapping(one).get("tagsCode")))
        for number, one in enumerate(data)
    ]


def carries_its_own(view: GroupView, member: Member) -> bool:
    """Whether each of its pulls brings its own expression, so that what the broker holds doesn't matter."""
    return (
        member.language == "CPP"
        or member.properties.get("postSubscriptionWhenPull") == "true"
        or member.properties.get("PROP_CONSUME_TYPE") == "CONSUME_ACTIVELY"
        or view.shares_queues
    )


def delivered(view: GroupView, topic: str, queue: Queue, tags_code: int) -> bool | None:
    """Whether a listener gets a message that is stored there now; None: that can't be told."""
    owners = view.owners(topic).get(queue, [])
    if not owners:
        return None if view.silent else False
    held = view.held(topic).get(queue[0])
    for owner in owners:
        member = view.members[owner]
        own = member.subscriptions.get(topic)
        if own is None:
            continue
        by_owner = takes(own, tags_code)
        by_broker = True if carries_its_own(view, member) else held and takes(held, tags_code)
        if by_owner is None or by_broker is None:
            return None
        if by_owner and by_broker:
            return True
    return False


def share_lost(view: GroupView, topic: str) -> Lost | None:
    """Of the newest messages, those that somebody wants and nobody gets; None: it can't be told."""
    wanted = lost = looked_at = 0
    bad: dict[int, set[Queue]] = {}
    for queue in view.queues(topic):
        for entry in entries_of(view, topic, queue) or ():
            looked_at += 1
            wants = [takes(one, entry.tags_code) for one in view.own(topic).values()]
            if None in wants:
                return None
            if not any(wants):
                continue
            wanted += 1
            fate = delivered(view, topic, queue, entry.tags_code)
            if fate is None:
                return None
            if not fate:
                lost += 1
                bad.setdefault(entry.tags_code, set()).add(queue)
    if not wanted:
        return _by_rule(view, topic)
    names = _names(view, topic)
    details = [
        f"`{names.get(code, f'tags with hash {code}')}` in {queues_told(queues)}"
        for code, queues in sorted(bad.items())
    ]
    sentence = (
        f"Of the {counted(wanted, 'newest message')} that a member wants, {lost} ({100 * lost // wanted} %) "
        f"{'reaches' if lost == 1 else 'reach'} nobody, and so will others like {'it' if lost == 1 else 'them'}: "
        f"{'; '.join(details)}."
        if lost
        else f"Of the {counted(wanted, 'newest message')} that a member wants, none is lost so far."
    )
    return Lost(looked_at, wanted, lost, sentence)


def _by_rule(view: GroupView, topic: str) -> Lost | None:
    """Where nothing that anybody wants is stored yet: what will be lost, by tag and queue."""
    names = _names(view, topic)
    parts = []
    for code, tag in sorted(names.items(), key=lambda one: one[1]):
        queues = [queue for queue in view.queues(topic) if delivered(view, topic, queue, code) is False]
        if queues:
            parts.append(f"`{tag}` in {queues_told(queues)}")
    if not parts:
        return None
    return Lost(0, 0, 0, f"No message is stored that a member wants; lost will be {'; '.join(parts)}.")


def _names(view: GroupView, topic: str) -> dict[int, str]:
    """The tags that members want, by hash."""
    return {
        hash_code(tag): tag
        for one in view.own(topic).values()
        for tag in tags_of(told(one))
        if one.type == "TAG"
    }
