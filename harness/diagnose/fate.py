"""The fate of messages in a group whose members disagree, by the hashes that brokers keep of their tags.

A message is delivered if the subscription that the broker holds for the group lets it pass, and so does the
subscription of its queue's owner. If a member's pulls carry their own expression, only that filters. The fate is
that of now: who consumed an old message under another subscription is not known.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby

from rocketchaos.harness.diagnose import read
from rocketchaos.harness.diagnose.meaning import expression_text, meaning, takes
from rocketchaos.harness.diagnose.model import TAG, Member, Subscription
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.owners import shares
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import counted, queues_text
from rocketchaos.harness.language.tags import SQL, hash_code, tags_of
from rocketchaos.harness.rocketmq.allocation import Queue

_BY_POP = (
    "Members share all queues (POP). If a member pops a message that it doesn't want, the whole group skips it: "
    "which member pops a message first decides whether it is lost."
)
_BY_BOTH = (
    "Some members pop, others pull. Each side filters by its own subscription, and both move the group's offset: "
    "a side that comes late, or starts again, skips what the other one has passed."
)


_SETTLING_MS = 60_000
"""Members send what they want every 30 s (heartbeatBrokerInterval), and 5.x skips one after a rebalance."""

NANOSECONDS = 10**16
"""A subVersion in ms stays below this until the year 318,000; Go clients send nanoseconds."""
_HASH = "hash "
"""In place of a tag that no member names."""
_NAMED_BY_READING = " `--read-messages` names the tags."
_OF_OTHER_TIMES = " Messages that passed while other subscriptions were held may have been delivered."


class Fate(StrEnum):
    """Where a message ends, in the words of scenarios."""

    DELIVERED = "delivered"
    BY_BROKER = "filtered-by-broker"
    BY_CLIENT = "filtered-by-client"
    STRANDED = "stranded"
    UNKNOWN = "undetermined"


@dataclass(frozen=True, slots=True)
class Entry:
    """One message, by its entry in the ConsumeQueue, or read itself."""

    offset: int
    tags_code: int
    tag: str | None = None
    """Its tag; None: it was not read."""
    matched: Mapping[str, bool] = field(default_factory=dict)
    """Whether SQL92 matches it, where that is known."""
    stored_ms: int = 0
    """When it was stored, by the broker's clock; 0: it was not read."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Messages of one tag next to each other in a queue that no listener gets."""

    topic: str
    queue: Queue
    first: int
    last: int
    """Offsets."""
    count: int
    """Of them; others between the two are of other tags."""
    tag: str
    """The tag, or `hash N` where no member wants it; the SQL92 that matches the messages, where that is known."""
    fate: Fate
    passed: bool
    """The group's offset is behind them already; otherwise it will be, or they wait (`stranded`)."""
    certain: bool = True
    """False: they may have passed while a broker held another subscription, and been delivered."""

    @property
    def text(self) -> str:
        """In a few words."""
        span = f"offset {self.first}" if self.first == self.last else f"offsets {self.first} to {self.last}"
        of = "" if self.tag == "*" else f" of `{self.tag}`"
        return (
            f"{queues_text([self.queue])}, {span}: {self.count}{of} {self.fate}, "
            f"{'passed' if self.passed else 'not passed yet'}"
        )


def entries_of(view: GroupView, topic: str, queue: Queue) -> Sequence[Entry] | None:
    """The messages of a queue that are known; None: none are."""
    if (pulled := view.now.messages.get((topic, queue))) is not None:
        known = (read.listed(item) for exchange in pulled for item in read.listed(exchange.document))
        return [
            Entry(
                whole(item[0]),
                hash_code(str(item[1])) if item[1] else 0,
                str(item[1] or ""),
                {str(sql): answer is True for sql, answer in read.mapping(item[2:] and item[2]).items()},
                whole(item[3]) if len(item) > 3 else 0,
            )
            for item in known
            if len(item) > 1
        ]
    exchange = view.now.entries.get((topic, queue))
    if exchange is None or not exchange.succeeded:
        return None
    begin = whole(exchange.fields.get("index"))
    data = read.queue_data(exchange)
    return [Entry(begin + number, whole(item.get("tagsCode"))) for number, item in enumerate(data)]


def is_sent(view: GroupView, topic: str, tag: str) -> bool:
    """Whether one of the newest messages has this tag, by its hash."""
    code = hash_code(tag)
    entries = (entry for queue in view.queues(topic) for entry in entries_of(view, topic, queue) or ())
    return any(entry.tags_code == code for entry in entries)


def carries_its_own(view: GroupView, member: Member) -> bool:
    """Whether each of its pulls brings its own expression, so that what the broker holds doesn't matter."""
    return (
        member.language == "CPP"
        or member.properties.get("postSubscriptionWhenPull") == "true"
        or member.pulls_by_itself
        or view.shares_queues
    )


def tell_no_queues(view: GroupView, topic: str) -> list[str]:
    """Members that want a topic and whose kind leaves its queues out (DefaultLitePullConsumerImpl of 4.9.x)."""
    return [
        item.client_id
        for item in view.answered
        if topic in item.subscriptions and not item.queues and item.pulls_by_itself
    ]


def owners_of(view: GroupView, topic: str, queue: Queue) -> list[str]:
    """The members that own a queue; where they don't tell, all that broadcast, or those of their strategy."""
    silent = tell_no_queues(view, topic)
    everywhere = [
        item for item in silent if view.members[item].properties.get("messageModel") == "BROADCASTING"
    ]
    known = [*view.owners(topic).get(queue, []), *everywhere]
    if known or not silent:
        return known
    return [client_id for client_id, share in shares(view, topic).items() if share and queue in share]


def fate(view: GroupView, topic: str, queue: Queue, entry: Entry) -> Fate:
    """The fate of a message that is stored there now."""
    if view.shares_queues:
        return Fate.UNKNOWN  # whoever pops it first decides
    owners = owners_of(view, topic, queue)
    if not owners:
        return Fate.UNKNOWN if view.silent or tell_no_queues(view, topic) else Fate.STRANDED
    held = view.held(topic).get(queue[0])
    best = Fate.STRANDED
    for owner in owners:
        member = view.members[owner]
        own = member.subscriptions.get(topic)
        if own is None:
            continue
        by_owner = takes(own, entry.tags_code, entry.tag, entry.matched)
        by_broker = (
            by_owner
            if carries_its_own(view, member)
            else (held and takes(held, entry.tags_code, matched=entry.matched))
        )
        if own.type == SQL:
            by_owner = True  # its client hands over whatever the broker lets pass
        if by_owner is None or by_broker is None or (by_owner and _is_ambiguous(view, topic, own, entry)):
            return Fate.UNKNOWN
        if by_broker and by_owner:
            return Fate.DELIVERED
        best = Fate.BY_CLIENT if by_broker else Fate.BY_BROKER
    return best


def _is_ambiguous(view: GroupView, topic: str, own: Subscription, entry: Entry) -> bool:
    """Whether a member that wants one tag may drop the message, as that of another tag with the same hash: clients
    compare the tags themselves (PullAPIWrapper.processPullResult; 4.9.4, 5.5.0)."""
    if entry.tag is not None:
        return False
    return any(not takes(own, entry.tags_code, tag) for tag in _names(view, topic).get(entry.tags_code, ()))


def same_hash(view: GroupView, topic: str) -> list[Sequence[str]]:
    """Tags that members want, and that have the same hash."""
    return [tags for tags in _names(view, topic).values() if len(tags) > 1]


def lost(view: GroupView, topic: str) -> tuple[list[Lost], int, bool]:
    """Messages that a member wants and no listener gets; how many a member wants; whether all are determined."""
    found: list[Lost] = []
    wanted, certain = 0, True
    names = _names(view, topic)
    settled_ms = _settled_ms(view, topic)
    for queue in view.queues(topic):
        offset = view.reached(topic, queue) or 0
        bad: list[tuple[Entry, Fate]] = []
        for entry in entries_of(view, topic, queue) or ():
            wants = [
                takes(item, entry.tags_code, entry.tag, entry.matched) for item in view.own(topic).values()
            ]
            if not any(wants):
                certain = certain and None not in wants
                continue
            wanted += 1
            what = fate(view, topic, queue, entry)
            certain = certain and what is not Fate.UNKNOWN
            if what not in (Fate.DELIVERED, Fate.UNKNOWN):
                bad.append((entry, what))
        found += _ranges(topic, queue, offset, bad, names, settled_ms)
    return found, wanted, certain


def _settled_ms(view: GroupView, topic: str) -> int:
    """From when on brokers have certainly held the subscriptions of now, by the members' clocks."""
    known = (*view.own(topic).values(), *view.held(topic).values())
    versions = (item.version // 10**6 if item.version > NANOSECONDS else item.version for item in known)
    return max(versions, default=0) + _SETTLING_MS


def _ranges(
    topic: str,
    queue: Queue,
    offset: int,
    bad: Sequence[tuple[Entry, Fate]],
    names: Mapping[int, Sequence[str]],
    settled_ms: int,
) -> Iterator[Lost]:
    def kind(item: tuple[Entry, Fate]) -> tuple[str, Fate, bool, bool]:
        entry, what = item
        by_sql = " or ".join(sorted(sql for sql, matches in entry.matched.items() if matches))
        tag = by_sql or entry.tag or "/".join(names.get(entry.tags_code, [f"{_HASH}{entry.tags_code}"]))
        passed = entry.offset < offset
        return tag, what, passed, not passed or entry.stored_ms > settled_ms

    for (tag, what, passed, certain), group in groupby(
        sorted(bad, key=lambda item: (kind(item), item[0].offset)), key=kind
    ):
        offsets = [entry.offset for entry, _ in group]
        yield Lost(topic, queue, offsets[0], offsets[-1], len(offsets), tag, what, passed, certain)


def differ_by_side(view: GroupView, topic: str) -> bool:
    """Whether the members that pop want one thing of a topic, and those that pull another."""
    pulling = view.pulling(topic)
    sides = [
        {meaning(item) for client_id, item in view.own(topic).items() if (client_id in pulling) is pulls}
        for pulls in (True, False)
    ]
    return all(len(side) == 1 for side in sides)


def share_text(view: GroupView, topic: str) -> str:
    """How many of the newest messages no listener gets; if none are stored, which will be lost. Empty: unknown."""
    if view.shares_queues:
        return _BY_BOTH if differ_by_side(view, topic) else _BY_POP
    found, wanted, certain = lost(view, topic)
    if not wanted:
        return _by_rule(view, topic)
    if not certain:
        return _by_hash(view, topic)
    number = sum(entry.count for entry in found)
    if not number:
        return f"Of the {counted(wanted, 'newest message')} that a member wants, none is lost so far."
    by_tag: dict[str, set[Queue]] = {}
    for item in found:
        by_tag.setdefault(item.tag, set()).add(item.queue)
    details = "; ".join(f"`{tag}` in {queues_text(queues)}" for tag, queues in sorted(by_tag.items()))
    return (
        f"Of the {counted(wanted, 'newest message')} that a member wants, {number} ({100 * number // wanted} %) "
        f"{'reaches' if number == 1 else 'reach'} no listener, and further messages like "
        f"{'it' if number == 1 else 'them'} won't either: {details}."
        f"{_NAMED_BY_READING if any(tag.startswith(_HASH) for tag in by_tag) else ''}"
        f"{'' if all(item.certain for item in found) else _OF_OTHER_TIMES}"
    )


def _by_rule(view: GroupView, topic: str) -> str:
    """If no message that a member wants is stored yet: which will be lost, by tag and queue."""
    parts = []
    for tag in sorted(tag for tags in _names(view, topic).values() for tag in tags):
        entry = Entry(0, hash_code(tag), tag)
        queues = [
            queue
            for queue in view.queues(topic)
            if fate(view, topic, queue, entry) not in (Fate.DELIVERED, Fate.UNKNOWN)
        ]
        if queues:
            parts.append(f"`{tag}` in {queues_text(queues)}")
    return (
        f"No message that a member wants is stored; these will be lost: {'; '.join(parts)}." if parts else ""
    )


def stranded(view: GroupView, topic: str, queues: Sequence[Queue]) -> list[Lost]:
    """The messages that wait in queues without an owner; none where the offsets are unknown, as of members that
    broadcast."""
    found: list[Lost] = []
    if view.broadcasting:
        return found
    for queue in sorted(queues):
        ends = view.ends(topic).get(queue)
        begin = max(ends.min_offset, view.offset(topic, queue) or 0) if ends else 0
        if ends and ends.max_offset > begin:
            count = ends.max_offset - begin
            found.append(
                Lost(topic, queue, begin, ends.max_offset - 1, count, "*", Fate.STRANDED, passed=False)
            )
    return found


def _by_hash(view: GroupView, topic: str) -> str:
    """If it isn't certain which messages are lost, because tags have the same hash."""
    return "".join(
        f"{' and '.join(f'`{tag}`' for tag in tags)} have the same hash, which is all that brokers compare: a "
        "message that passes there is lost if its queue's owner wants the other tag. `--read-messages` shows "
        "which ones are."
        for tags in same_hash(view, topic)[:1]
    )


def _names(view: GroupView, topic: str) -> Mapping[int, Sequence[str]]:
    """The tags that members want, by hash: `Aa` and `BB` have the same one."""
    wanted = [item for item in view.own(topic).values() if item.type == TAG]
    found: dict[int, list[str]] = {}
    for tag in sorted({tag for item in wanted for tag in tags_of(expression_text(item))}):
        found.setdefault(hash_code(tag), []).append(tag)
    return found
