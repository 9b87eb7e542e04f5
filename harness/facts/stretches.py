"""When a group changed, and which look at it therefore belongs to which change.

So that no look is counted for the wrong change, the history of a group is cut into stretches: one begins where
something may begin to change the group, which is before it is known to have changed, and ends where the next one
begins.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rocketchaos.harness.core.events.base import Body
from rocketchaos.harness.core.events.clients import (
    ConsumerStarted,
    ConsumerStarting,
    ConsumerStopped,
    HandMadeClosed,
    HeartbeatSent,
    Subscribed,
    Unsubscribed,
)
from rocketchaos.harness.core.events.observed import OwnershipObserved, PullCountsObserved
from rocketchaos.harness.core.events.run import Settled, StepStarted
from rocketchaos.harness.core.events.servers import (
    Fault,
    FaultEffective,
    FaultHealed,
    LogLine,
)
from rocketchaos.harness.facts.story import Entry
from rocketchaos.harness.language.fault_effects import ACTIVE_BEFORE_TOLD, TOLD_BY_CONSUMERS

_JOINS = (ConsumerStarted, HeartbeatSent)
"""Kinds that tell who is a member of what."""
_CAUSES = (*_JOINS, ConsumerStopped, Subscribed, Unsubscribed, HandMadeClosed)
_ACTIVE_STEPS = frozenset(
    ("subscribe", "unsubscribe", "heartbeat", "broker-config", "reset-offset", *ACTIVE_BEFORE_TOLD)
)
"""Steps from whose beginning on a group may change, before an event tells that it has."""
_SETTLED = ("ownership", "subscription")
"""Conditions that hold only where every member has its share of the queues."""
_SETTLED_BEFORE = re.compile(r"(?:ownership|subscription) of (\S+)")
"""Their titles in folders from before conditions had ids. Frozen: the words of that time."""
_MASSES = (PullCountsObserved, LogLine)
"""Kinds of events that change no group; a history may have very many of them, as it has of messages."""


@dataclass(frozen=True, slots=True)
class Change:
    """The events that may have begun to change a group."""

    n: int
    at_ms: float
    cause: str | None
    """The kind of event, or of fault; None: only something has begun that may."""
    member: str


@dataclass(slots=True)
class OfGroup:
    """An event, for a group of which it tells, and what that was going through."""

    entry: Entry
    who: str
    """The member that it is about."""
    owns: bool
    """Whether that has queues of its own, as those don't that share all queues (POP, gRPC)."""
    cause: str | None
    moves: bool
    """Whether it changed the group, or may have begun to."""
    moved_n: int | None = None
    """The last event up to this one that did."""
    stretch: Change | None = None
    """The change whose consequences it may show; None if none is known, or there may have been several."""
    settled_n: int | None = None
    """The last event of the stretch that says that every member has its share of the queues."""


@dataclass(slots=True)
class _Members:
    group: dict[str, str] = field(default_factory=dict)
    shares: set[str] = field(default_factory=set)

    def add(self, node: str, body: Body) -> None:
        if isinstance(body, ConsumerStarted | HeartbeatSent):
            self.group[node] = max(body.group, self.group.get(node, ""))
        if isinstance(body, ConsumerStarted) and "shared" in (body.queues or ""):
            self.shares.add(node)


def groups_of_members(entries: Sequence[Entry]) -> Mapping[str, str]:
    """By member: the group that it has joined."""
    return _members(entries).group


def by_group(entries: Sequence[Entry]) -> Mapping[str, list[OfGroup]]:
    """Each group's events, in their order."""
    few = [entry for entry in entries if not isinstance(entry.body, _MASSES)]
    members = _members(few)
    rows = [
        (entry, who, _in_words(entry.body) or members.group.get(who)) for entry in few for who in _who(entry)
    ]
    everybody = sorted({group for _, _, group in rows if group is not None})
    found: dict[str, list[OfGroup]] = defaultdict(list)
    for entry, who, group in rows:
        moves, owns = _may_move(entry.body), who not in members.shares
        if group is not None:
            found[group].append(OfGroup(entry, who, owns, _cause(entry.body), moves))
        elif moves:
            # What a server suffers, and some steps, may move every group.
            for group in everybody:
                found[group].append(OfGroup(entry, who, owns, None, moves))
    for own in found.values():
        # Of what a fault was done to, a member counts, and a server beside it doesn't.
        own.sort(key=lambda row: (row.entry.n, row.cause is not None))
        _cut(own)
    return found


def settled_group(body: Settled) -> str | None:
    """The group whose members all have their shares; None if it says something else."""
    if body.condition_id:
        return body.subject if body.condition_id in _SETTLED else None
    before = _SETTLED_BEFORE.match(body.condition)
    return before and before[1]


def _members(entries: Sequence[Entry]) -> _Members:
    members = _Members()
    for entry in entries:
        members.add(entry.node, entry.body)
    return members


def _in_words(body: Body) -> str | None:
    if isinstance(body, Settled):
        return settled_group(body)
    group = getattr(body, "group", None)
    return group if isinstance(group, str) else None


def _who(entry: Entry) -> Iterator[str]:
    if isinstance(entry.body, Fault):
        yield from dict.fromkeys((entry.body.target, *entry.body.sides))
    elif isinstance(entry.body, OwnershipObserved):
        yield entry.body.consumer
    else:
        yield entry.node


def _may_move(body: Body) -> bool:
    if isinstance(body, StepStarted):
        return body.step in _ACTIVE_STEPS
    return isinstance(body, (ConsumerStarting, Fault, *_CAUSES)) and not _consumer_reports_it(body)


def _consumer_reports_it(body: Body) -> bool:
    return isinstance(body, FaultEffective) and body.fault in TOLD_BY_CONSUMERS


def _cause(body: Body) -> str | None:
    match body:
        case FaultEffective() if not _consumer_reports_it(body):
            return body.fault
        case FaultHealed():
            return f"end of {body.fault}"
    return body.kind if isinstance(body, _CAUSES) else None


def _cut(own: Sequence[OfGroup]) -> None:
    """Where only something has begun that may change the group, the next change takes it over."""
    moves = [Change(row.entry.n, row.entry.at_ms, row.cause, row.who) if row.moves else None for row in own]
    following: Change | None = None
    after: list[Change | None] = []
    for move in reversed(moves):
        after.append(following)
        following = move or following
    last: Change | None = None
    settled: dict[Change | None, int] = {}
    for row, move, coming in zip(own, moves, reversed(after), strict=True):
        last = move or last
        if last is not None:
            row.moved_n = last.n
            if last.cause is not None:
                row.stretch = last
            elif coming is not None and coming.cause is not None:
                row.stretch = coming
        if isinstance(row.entry.body, Settled):
            settled[row.stretch] = row.entry.n
    for row in own:
        row.settled_n = settled.get(row.stretch)
