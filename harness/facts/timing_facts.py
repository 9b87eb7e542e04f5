"""How long rebalances, subscription flips and corrections of offsets took: `TimingFact`.

An interval ends with the first look that shows what came of its beginning; how exact that is, is in the fact.
Where the history doesn't tell when it began, or what it began with, there is no fact.

rebalance            from a change of the membership to the first look at a member after which its queues of the
                     scenario's topics stayed as they were until the next change; only where they had changed, or
                     the member is the one that started
subscription-flip    from a change of the membership, or a hand-made heartbeat, to the first look at a broker that
                     shows another expression of the group for a topic than before the change
offset-correction    from the acknowledgement of the last message of a queue, where no listener of the group got
                     it, to the first look that shows the group's offset behind it; only where nothing changed the
                     group in between
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocketchaos.harness.core.events.clients import ConsumerStarted
from rocketchaos.harness.core.events.observed import (
    Observation,
    OffsetsObserved,
    OwnershipObserved,
    SubscriptionObserved,
)
from rocketchaos.harness.facts.kinds import TimingFact
from rocketchaos.harness.facts.story import LastOfQueue, Story
from rocketchaos.harness.facts.stretches import Change, OfGroup, by_group, groups_of_members


@dataclass(frozen=True, slots=True)
class _Look:
    """A look at a stream of what is seen, as a member's queues, and what the one before it saw."""

    row: OfGroup
    seen: object
    known_ms: float | None
    """When the one before it was that was written down; None: there was none."""
    known: object


def timing_facts(story: Story) -> Iterator[TimingFact]:
    """All of a history."""
    members = groups_of_members(story.entries)
    for group, rows in by_group(story.entries).items():
        yield from _rebalances(group, rows)
        yield from _flips(group, rows)
        yield from _corrections(group, rows, story, {node for node, of in members.items() if of == group})


def _fact(
    group: str, what: str, began: Change | LastOfQueue, look: _Look, cause: str, subject: str, seen_by: str
) -> TimingFact:
    """One that ends with a look.

    The state in the look before was so at some time after that look began. Older folders tell, or show, only when
    it was answered: so long as an answer took, their `at_least_ms` may be too much.
    """
    entry = look.row.entry
    assert isinstance(entry.body, Observation)
    look_ms = entry.body.look_began_before_ms
    if look_ms is None:
        look_ms = entry.body.look_before_ms
    if look_ms is not None:
        before_ms = entry.at_ms - look_ms
    else:
        before_ms = began.at_ms if look.known_ms is None else look.known_ms
    # 0 where it was over before the event that tells of the beginning.
    ms = max(0.0, entry.at_ms - began.at_ms)
    return TimingFact(
        what=what,
        cause=cause,
        consumer_group=group,
        subject=subject,
        ms=ms,
        at_least_ms=min(max(0.0, before_ms - began.at_ms), ms),
        seen_by=seen_by,
        from_n=began.n,
        to_n=entry.n,
    )


def _looks(rows: Sequence[tuple[OfGroup, object]]) -> Iterator[_Look]:
    """Of one stream, in its order."""
    before: tuple[OfGroup, object] | None = None
    for row, seen in rows:
        yield (_Look(row, seen, before[0].entry.at_ms, before[1]) if before else _Look(row, seen, None, None))
        before = row, seen


def _by_stretch(looks: Iterator[_Look]) -> Iterator[tuple[Change, list[_Look]]]:
    found: dict[Change, list[_Look]] = defaultdict(list)
    for look in looks:
        if look.row.stretch is not None:
            found[look.row.stretch].append(look)
    yield from found.items()


def _rebalances(group: str, rows: Sequence[OfGroup]) -> Iterator[TimingFact]:
    by_member: dict[str, list[tuple[OfGroup, object]]] = defaultdict(list)
    for row in rows:
        if isinstance(row.entry.body, OwnershipObserved) and row.owns:
            queues = [
                f"{item.topic} {item.name}" for item in row.entry.body.queues if _of_a_scenario(item.topic)
            ]
            by_member[row.who].append((row, sorted(queues)))
    for member, stream in by_member.items():
        for change, looks in _by_stretch(_looks(stream)):
            final = looks[-1].seen
            # A member that starts, starts with nothing, whatever it had in an earlier life.
            starts = change.cause == ConsumerStarted.kind and change.member == member
            was = [] if starts else looks[0].known
            others = [place for place, look in enumerate(looks) if look.seen != final]
            if others or (was is not None and was != final):
                ended = looks[others[-1] + 1 if others else 0]
                settled = (ended.row.settled_n or 0) > ended.row.entry.n
                seen_by = "settled" if settled else "look"
                yield _fact(group, "rebalance", change, ended, change.cause or "", member, seen_by)


def _flips(group: str, rows: Sequence[OfGroup]) -> Iterator[TimingFact]:
    seen = [
        (row, row.entry.body)
        for row in rows
        if isinstance(row.entry.body, SubscriptionObserved) and row.entry.body.online
    ]
    topics = sorted({topic for _, body in seen for topic in body.subscriptions if _of_a_scenario(topic)})
    for broker in sorted({body.broker for _, body in seen}):
        for topic in topics:
            stream: list[tuple[OfGroup, object]] = [
                (row, held.expression if (held := body.subscriptions.get(topic)) else "")
                for row, body in seen
                if body.broker == broker
            ]
            for change, looks in _by_stretch(_looks(stream)):
                was = looks[0].known
                ended = next((look for look in looks if look.seen != was), None)
                if was and ended:
                    subject = f"{broker} {topic}"
                    yield _fact(
                        group, "subscription-flip", change, ended, change.cause or "", subject, "look"
                    )


def _corrections(
    group: str, rows: Sequence[OfGroup], story: Story, members: set[str]
) -> Iterator[TimingFact]:
    looks: dict[tuple[str, str], list[tuple[OfGroup, object]]] = defaultdict(list)
    for row in rows:
        if isinstance(row.entry.body, OffsetsObserved):
            for item in row.entry.body.queues:
                looks[row.entry.body.topic, item.name].append((row, item.consumer_offset))
    for (topic, queue), stream in sorted(looks.items(), key=lambda item: item[0]):
        sent = story.last_sent.get((topic, queue))
        got = [
            last.offset
            for (node, *where), last in story.last_received.items()
            if node in members and where == [topic, queue]
        ]
        if sent is None or any(offset >= sent.offset for offset in got):
            continue
        after = ((row, offset) for row, offset in stream if row.entry.n > sent.n)
        passed = (
            look for look in _looks(list(after)) if isinstance(look.seen, int) and look.seen > sent.offset
        )
        ended = next(passed, None)
        if ended and (ended.row.moved_n is None or ended.row.moved_n < sent.n):
            yield _fact(group, "offset-correction", sent, ended, "sent", f"{queue} {topic}", "look")


def _of_a_scenario(topic: str) -> bool:
    """Whether it is no retry topic."""
    return not topic.startswith("%")
