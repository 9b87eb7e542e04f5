"""Offsets that somebody set ahead, as `mqadmin resetOffsetByTime` does: no member pulled the messages between."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.meaning import ALL, meaning
from rocketchaos.harness.diagnose.model import Held, Look, Member
from rocketchaos.harness.diagnose.owners import has_id_twice
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import counted, joined, queues_text
from rocketchaos.harness.rocketmq.allocation import Queue

_LEAST = 20
"""Of fewer messages a client's rates are too coarse."""
_SAMPLED_MS = 20_000
"""A client takes samples every 10 s (StatsItemSet): by then its rates have all that it pulled before."""
_RATES_OF_MS = 50_000
"""They are of the last 60 s or more."""
_RATES_OF_S = 70


@dataclass(frozen=True, slots=True)
class _Jump:
    """The offsets that no member had pulled before a look, and that the group had passed in the next one."""

    before: Look
    after: Look
    passed: Mapping[Queue, tuple[int, int]]
    """By queue: the first one, and the offset that the group has then."""

    @property
    def count(self) -> int:
        return sum(end - begin for begin, end in self.passed.values())


def set_ahead(view: GroupView) -> Iterator[Result]:
    """Offsets that went ahead further than members have pulled."""
    if view.broadcasting or view.shares_queues:
        return
    for topic in view.topics:
        jumps = list(_jumps(view, topic))
        yield from _without_members(view, topic, [jump for jump in jumps if _unknown(view, jump)])
        for jump in (item for item in jumps if not _unknown(view, item)):
            if denied := _denied(view, topic, jump):
                yield Found(
                    f"{_passed_text(denied)}: by their own reports, the owners haven't pulled so far",
                    (*_evidence(view, topic, denied), *_owners_say(view, topic, denied)),
                    topic,
                )
            elif (members := _counted(view, topic, jump)) and (
                pulled := int(_RATES_OF_S * sum(item.pulling.get(topic, 0.0) for item in members))
            ) < jump.count / 2:
                yield Found(
                    f"{_passed_text(jump)}: no more than {counted(pulled, 'message')} of {jump.count} "
                    "can have been pulled",
                    _evidence(view, topic, jump, members),
                    topic,
                )


def _jumps(view: GroupView, topic: str) -> Iterator[_Jump]:
    for before, after in pairwise(view.looks):
        passed = {}
        for queue, ends in after.ends.get(topic, {}).items():
            first, second = (look.offset(view.group, topic, queue) for look in (before, after))
            if first is None or second is None:
                continue
            held = [
                item
                for member in _members(view, before).values()
                if (item := member.queues.get(topic, {}).get(queue)) is not None
            ]
            begin = max(
                [first, ends.min_offset, *map(_pulled_to, held)]
            )  # retention has deleted what is before
            if second > begin:
                passed[queue] = (begin, second)
        jump = _Jump(before, after, passed)
        if jump.count >= _LEAST:
            yield jump


def _pulled_to(held: Held) -> int:
    """The offset up to which a queue's owner has pulled; a listener may finish such messages much later.

    Those that an orderly listener handles count, and aren't among the cached offsets.
    """
    cached_to = held.cached_max_offset + 1 if held.cached_count else 0
    return max(cached_to, held.commit_offset + held.cached_count)


def _members(view: GroupView, look: Look) -> Mapping[str, Member]:
    return look.members.get(view.group, {})


def _denied(view: GroupView, topic: str, jump: _Jump) -> _Jump | None:
    """The jump, if each queue's owner tells afterwards that it hasn't pulled so far: it stored no such offset.

    A look asks members after brokers: what a member has stored by then, it has pulled.
    """
    before, after = (_members(view, look) for look in (jump.before, jump.after))
    if set(before) != set(after) or has_id_twice(view):
        return None
    if not all(item.answered and item.language == "JAVA" for item in after.values()):
        return None
    passed = {}
    for queue, (begin, end) in jump.passed.items():
        owners = [_owners(members, topic, queue) for members in (before, after)]
        if len(owners[1]) != 1 or owners[0].keys() != owners[1].keys():
            return None
        (held,) = owners[1].values()
        passed[queue] = (max(begin, _pulled_to(held)), end)
    denied = _Jump(jump.before, jump.after, passed)
    return denied if denied.count >= _LEAST and all(begin < end for begin, end in passed.values()) else None


def _owners(members: Mapping[str, Member], topic: str, queue: Queue) -> Mapping[str, Held]:
    found = {client_id: item.queues.get(topic, {}).get(queue) for client_id, item in members.items()}
    return {client_id: held for client_id, held in found.items() if held is not None and not held.dropped}


def _owners_say(view: GroupView, topic: str, jump: _Jump) -> Iterator[Evidence]:
    for client_id, member in _members(view, jump.after).items():
        own = {queue: held for queue in jump.passed if (held := member.queues.get(topic, {}).get(queue))}
        text = ", ".join(
            f"{queues_text([queue])} committed {held.commit_offset}, cachedMsgCount {held.cached_count}"
            for queue, held in sorted(own.items())
        )
        if text:
            yield Evidence(member.exchange, f"{client_id}: {text}")


def _counted(view: GroupView, topic: str, jump: _Jump) -> Sequence[Member]:
    """The members when their own rates have all that they pulled around a jump; none if rates don't show it."""
    later = [look for look in view.looks if look.at_ms >= jump.after.at_ms + _SAMPLED_MS]
    if not later or later[0].at_ms > jump.before.at_ms + _RATES_OF_MS:
        return ()
    known = [
        _members(view, look) for look in view.looks if jump.before.number <= look.number <= later[0].number
    ]
    if any(set(item) != set(known[0]) for item in known):
        return ()
    if not all(_reports_all(topic, member) for members in known for member in members.values()):
        return ()
    if any(known[0][item].started_ms != known[-1][item].started_ms for item in known[0]):
        return ()
    if any(meaning(item) != ALL for item in view.held(topic).values()):
        return ()
    return tuple(known[-1].values())


def _reports_all(topic: str, member: Member) -> bool:
    """Whether a member wants all messages, and tells how many it pulls: Java's clients with a listener do."""
    own = member.subscriptions.get(topic)
    return (
        member.answered
        and member.language == "JAVA"
        and member.started_ms > 0
        and member.properties.get("PROP_CONSUME_TYPE") == "CONSUME_PASSIVELY"
        and own is not None
        and meaning(own) == ALL
    )


def _unknown(view: GroupView, jump: _Jump) -> bool:
    """Whether no broker knew a member around a jump."""
    return not _members(view, jump.before) and not _members(view, jump.after)


def _without_members(view: GroupView, topic: str, jumps: Sequence[_Jump]) -> Iterator[Result]:
    """Jumps while no broker knew a member; where members may use a proxy, all of them are one question."""
    for number, jump in enumerate(jumps):
        text = f"{_passed_text(jump)} while no broker that was asked knew a member"
        proof = _evidence(view, topic, jump)
        if not view.proxy_may_know:
            yield Found(text, proof, topic)
        elif not number:
            more = f", and {counted(len(jumps) - 1, 'more time')} since then" if len(jumps) > 1 else ""
            yield Unknown(
                f"{text}{more}: somebody set it, or members use a proxy (`--proxy HOST:PORT`)", proof, topic
            )


def _passed_text(jump: _Jump) -> str:
    spans = [
        f"{queues_text([queue])} from {begin} to {end}" for queue, (begin, end) in sorted(jump.passed.items())
    ]
    seconds = (jump.after.at_ms - jump.before.at_ms) / 1000
    return f"within {seconds:.0f} s the offset of {joined(spans)}"


def _evidence(
    view: GroupView, topic: str, jump: _Jump, members: Sequence[Member] = ()
) -> tuple[Evidence, ...]:
    said = []
    for look in (jump.before, jump.after):
        for broker in sorted({queue[0] for queue in jump.passed}):
            known = look.offsets.get(broker, {}).get(view.group, {}).get(topic, {})
            text = ", ".join(
                f"{queue[1]}: {known.get(queue[1])}" for queue in sorted(jump.passed) if queue[0] == broker
            )
            if broker in look.offset_tables:
                said.append(Evidence(look.offset_tables[broker], f"offsets of {topic}: {text}"))
    rates = [
        Evidence(member.exchange, f"{member.client_id}: pullTPS {member.pulling.get(topic, 0.0):.1f}")
        for member in members
    ]
    return (*said, *rates)


CHECKS = (
    Check(
        "RC0509",
        "the group's offset was set ahead",
        Level.WARNING,
        "",
        "The group skips the messages between the two offsets. Tools show them as consumed.",
        (
            "Find out who sets offsets: `mqadmin resetOffsetByTime` or `skipAccumulatedMessage`, a dashboard, or "
            "an application of its own.",
            "If the group needs the messages, set the offset back: `mqadmin resetOffsetByTime -s` with a time "
            "before the first of them. Messages that were consumed since then come again.",
        ),
        ("G10",),
        of_group=set_ahead,
    ),
)
