"""Members that disagree, and brokers that store something else."""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from rocketchaos.harness.diagnose.checks.member_clocks import clocks_ahead
from rocketchaos.harness.diagnose.checks.members import why_silent
from rocketchaos.harness.diagnose.fate import NANOSECONDS, Lost, carries_its_own, lost, share_text, stranded
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.meaning import Meaning, expression_text, meaning
from rocketchaos.harness.diagnose.model import CLASS, RETRY, Member, Subscription
from rocketchaos.harness.diagnose.owners import has_id_twice, ids_twice
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import clock, counted, joined
from rocketchaos.harness.language.tags import SQL

_AHEAD_MS = 60_000
_LONG_LIST = 9
"""From this number of tags in a list on, the finding also names those that not all members want."""
_KINDS = {SQL: " (SQL92)", CLASS: " (a class that filters)"}
_AGREED = (
    "None while all members want the same: a broker ignores changes by those that count in milliseconds."
)
_TOPICS_BY_POP = (
    "The members share all queues (POP), and each pops only the topics that it asks for: no loss is known."
)

BY_SQL = (
    "A broker holds one subscription for the whole group, tags or SQL92, and filters every member's pulls by it. "
    "Messages that it drops are skipped for good, and tools show them as consumed. A member that wants tags then "
    "filters by them; one that wants SQL92 gets whatever passes, also messages that its SQL92 doesn't match."
)
"""What different SQL92 does to messages."""
_BY_CLASS = (
    "A broker holds one subscription for the whole group. While that is the one by a class, it lets all messages "
    "pass, and members that want tags choose by themselves; otherwise it filters every member's pulls. The member "
    "that wants messages by a class pulls from a filter server (mqfiltersrv): where a broker has none, its pulls "
    "fail, and the messages in its queues wait."
)
_TOPICS_BY_OWN_PULLS = (
    "A topic's queues are shared out among all members, including those that don't subscribe to it: no member "
    "consumes the messages in their queues."
)
_TOPICS_BY_BROADCASTING = (
    "Each member consumes all queues of its own topics. But each heartbeat, every 30 s, also removes the topics "
    "that its sender doesn't subscribe to. The broker refuses the other members' pulls until their next "
    "heartbeat: messages come late."
)


def different(view: GroupView) -> Iterator[Result]:
    """Members that want different messages of one topic."""
    for topic in view.topics:
        meanings = view.meanings(topic)
        if len(meanings) > 1:
            yield Found(
                _who_differs(view, topic),
                _evidence(view, topic),
                topic,
                effect=share_text(view, topic) or _by_type(view, topic),
                messages=tuple(lost(view, topic)[0]),
            )
        elif view.unclear and len(view.members) > 1:
            yield _flipped(view, topic) or _silent(view, topic)
        elif twice := ids_twice(view):
            yield _flipped(view, topic) or _of_one_process(view, topic, twice)


def _of_one_process(view: GroupView, topic: str, twice: Sequence[str]) -> Unknown:
    """A broker passes a question about a client id to one of its processes (ConsumerManager.findChannel)."""
    wanted = view.meanings(topic)
    held = sorted({_shown(item) for item in view.held(topic).values() if meaning(item) not in wanted})
    return Unknown(
        f"{joined(twice)} {'is' if len(twice) == 1 else 'are'} connected more than once (RC0201), and only one "
        "process of an id is asked: whether the others want the same is unknown"
        + (f"; the one that was asked doesn't want {joined(held)}, which brokers hold" if held else ""),
        _evidence(view, topic),
        topic,
    )


def _by_type(view: GroupView, topic: str) -> str:
    """What follows where a member doesn't choose by tags; empty: all do."""
    types = {item.type for item in view.own(topic).values()}
    if CLASS in types or SQL not in types:
        return _BY_CLASS if CLASS in types else ""
    return BY_SQL if view.now.messages else f"{BY_SQL} `--read-messages` shows which ones are lost."


def _who_differs(view: GroupView, topic: str) -> str:
    own = view.own(topic)
    camps = [
        f"{joined(sorted(ids))} {'want' if len(ids) > 1 else 'wants'} {_shown(own[ids[0]])}"
        for ids in sorted(view.meanings(topic).values(), key=len, reverse=True)
    ]
    by_text: dict[tuple[str, str], list[str]] = {}
    for broker, held in view.held(topic).items():
        by_text.setdefault((_shown(held), _whose(view, topic, held)), []).append(broker)
    holders = [
        f"{joined(brokers)} {'hold' if len(brokers) > 1 else 'holds'} {text}{since}"
        for (text, since), brokers in by_text.items()
    ]
    return "; ".join([*camps, *holders, *filter(None, (_apart(view.meanings(topic)), _flips(view, topic)))])


def _apart(meanings: Collection[Meaning]) -> str:
    """The tags that not all members want, where a reader would have to look for them in long lists."""
    wanted = [tags for _, tags in meanings if tags and not isinstance(tags, str)]
    if len(wanted) < len(meanings) or max(map(len, wanted)) < _LONG_LIST:
        return ""
    differing = frozenset.union(*wanted) - frozenset.intersection(*wanted)
    return f"not all want {joined([f'`{tag}`' for tag in sorted(differing)])}"


def _shown(subscription: Subscription) -> str:
    """Its expression, as a phrase."""
    return f"`{expression_text(subscription)}`{_KINDS.get(subscription.type, '')}"


def _whose(view: GroupView, topic: str, held: Subscription) -> str:
    """Whose it is, and when that member subscribed, or last got other queues."""
    own = view.own(topic)
    holders = [item for item, mine in own.items() if mine.version == held.version] or [
        item for item, mine in own.items() if meaning(mine) == meaning(held)
    ]
    whose = f" of {joined(sorted(holders))}" if holders else ""
    return f"{whose}, version of {clock(held.version)}" if 10**12 < held.version < NANOSECONDS else whose


def _flipped(view: GroupView, topic: str) -> Found | None:
    """A broker's subscription changed while the same members were connected: its senders differ.

    It is all there is to see of members that don't report themselves. gRPC clients send their subscriptions at
    their start and every 300 s; their heartbeats change nothing that is stored (ClientActivity, 5.0 to 5.5.0).
    """
    for broker in view.held(topic):
        seen = [stored for look in view.looks if (stored := look.stored[view.group].get(broker)) is not None]
        for before, after in pairwise(seen):
            was, now = before.subscriptions.get(topic), after.subscriptions.get(topic)
            if was is None or now is None or before.connections != after.connections:
                continue
            if meaning(was) != meaning(now):
                ids = joined(sorted({item.client_id for item in after.connections}))
                return Found(
                    f"{broker} held {_shown(was)}, and then {_shown(now)}, while the same "
                    f"members were connected, {ids}; {_flips(view, topic)}",
                    tuple(
                        Evidence(
                            stored.exchange,
                            f"{broker} holds {_shown(item)} of version {item.version}",
                        )
                        for stored, item in ((before, was), (after, now))
                    ),
                    topic,
                    effect=share_text(view, topic) if view.shares_queues else "",
                )
    return None


def _flips(view: GroupView, topic: str) -> str:
    """How often what a broker holds has changed from look to look."""
    changed = []
    for broker in view.held(topic):
        seen = [
            stored.subscriptions.get(topic)
            for look in view.looks
            if (stored := look.stored.get(view.group, {}).get(broker)) is not None and stored.online
        ]
        texts = ["nothing" if item is None else _shown(item) for item in seen]
        changes = sum(first != second for first, second in pairwise(texts))
        if changes:
            changed.append(f"{broker}'s has changed {counted(changes, 'time')} in {len(view.looks)} looks")
    return joined(changed)


def _evidence(view: GroupView, topic: str) -> tuple[Evidence, ...]:
    # The first ones alone are printed: one member among forty that differs is the one to look for.
    camps = sorted(view.meanings(topic).values(), key=len)
    own = [of_member(view.members[item], view.own(topic)[item]) for ids in camps for item in ids]
    held = [
        Evidence(
            view.stored[broker].exchange,
            f"{broker} holds {_shown(item)} of version {item.version}",
        )
        for broker, item in view.held(topic).items()
    ]
    return (*own, *held)


def of_member(member: Member, subscription: Subscription) -> Evidence:
    """That a member wants this."""
    return Evidence(
        member.shown_by,
        f"{member.client_id} wants {_shown(subscription)}, in version {subscription.version}",
    )


def _silent(view: GroupView, topic: str) -> Unknown:
    names = joined([item.client_id for item in view.unclear])
    watch = (
        f"; gRPC clients send {'it' if len(view.unclear) == 1 else 'them'} to the server every 5 min: `--watch "
        "6m` shows whether they differ, unless they started within 5 s of each other"
        if view.by_grpc
        else ""
    )
    return Unknown(
        f"{names} didn't report {'its' if len(view.unclear) == 1 else 'their'} subscription: "
        f"{why_silent(view, view.unclear[0])}{watch}",
        tuple(Evidence(item.exchange, item.exchange.why_not) for item in view.unclear),
        topic,
        by_silence=not watch,
    )


def different_topics(view: GroupView) -> Iterator[Result]:
    """Topics to which some members subscribe, and others don't."""
    # Neither share out the queues of a topic among all members.
    milder = _TOPICS_BY_BROADCASTING if view.broadcasting else _TOPICS_BY_POP if view.shares_queues else ""
    known = {client_id for client_id, item in view.members.items() if item.subscribes}
    for topic in view.topics:
        own = view.own(topic)
        without = sorted(known - set(own))
        if topic.startswith(RETRY) and all(view.members[item].asks_brokers for item in own):
            continue  # they subscribe to retry topics by POP, one for each topic, also where they pull
        if own and without:
            wanting = sorted(own)
            yield Found(
                f"{joined(wanting)} {'subscribes' if len(wanting) == 1 else 'subscribe'} to it, {joined(without)} "
                f"{'does' if len(without) == 1 else 'do'} not",
                tuple(
                    evidence
                    for side in sorted(
                        (
                            [of_member(view.members[item], mine) for item, mine in own.items()],
                            [_without(view.members[item]) for item in without],
                        ),
                        key=len,
                    )
                    for evidence in side
                ),
                topic,
                level=Level.WARNING if milder else None,
                effect=milder or _of_own_pulls(view, wanting),
                messages=() if milder else _in_queues_of_others(view, topic),
                # A member that starts may still be subscribing.
                settled=all(len(view.members[item].subscriptions) > 0 for item in without),
            )


def _of_own_pulls(view: GroupView, wanting: list[str]) -> str:
    """Where each pull brings its own subscription, the broker's one doesn't matter, nor who removes it
    (PullMessageProcessor.processRequest; 4.9.4, 5.5.0)."""
    return _TOPICS_BY_OWN_PULLS if all(carries_its_own(view, view.members[item]) for item in wanting) else ""


def _without(member: Member) -> Evidence:
    return Evidence(member.shown_by, f"{member.client_id} wants {joined(sorted(member.subscriptions))}")


def _in_queues_of_others(view: GroupView, topic: str) -> tuple[Lost, ...]:
    owners = view.owners(topic)
    return tuple(stranded(view, topic, [queue for queue in view.queues(topic) if queue not in owners]))


def nobodys(view: GroupView) -> Iterator[Result]:
    """Brokers that hold a subscription of no member."""
    if view.unclear or has_id_twice(view) or not view.online or view.broadcasting:
        return
    for topic in view.topics:
        meanings = view.meanings(topic)
        if not meanings or len({item.language for item in view.answered} - {"JAVA"}):
            continue
        for broker, held in view.held(topic).items():
            if meaning(held) not in meanings:
                newer = max(item.version for item in view.own(topic).values())
                yield Found(
                    f"{broker} holds {_shown(held)}, but all members want "
                    f"{_shown(next(iter(view.own(topic).values())))}; the broker's version "
                    f"{held.version} is {'above' if held.version > newer else 'below'} theirs, {newer}",
                    _evidence(view, topic),
                    topic,
                    settled=held.version > newer and len(view.looks) > 1,
                )


def versions_ahead(view: GroupView) -> Iterator[Result]:
    """subVersions that are later than now."""
    now_ms = view.now.at_ms
    if {item.language for item in view.members.values()} == {"GO"}:
        now_ms *= 1_000_000  # all of them count in nanoseconds
    found = False
    for topic in (*view.topics, view.retry_topic):
        if found and topic == view.retry_topic:
            return  # of the same members
        said: list[Evidence] = []
        for broker, held in view.held(topic).items():
            if held.version > now_ms + _AHEAD_MS:
                said.append(Evidence(view.stored[broker].exchange, f"{broker} holds version {held.version}"))
        for client_id, own in view.own(topic).items():
            if own.version > now_ms + _AHEAD_MS:
                said.append(
                    Evidence(view.members[client_id].shown_by, f"{client_id} has version {own.version}")
                )
        if said:
            highest = max(
                [item.version for item in view.held(topic).values()]
                + [item.version for item in view.own(topic).values()]
            )
            how = (
                "in nanoseconds, as Go clients send it"
                if highest > NANOSECONDS
                else f"{clock(highest)}, ahead of this machine's clock"
            )
            by_language = highest > NANOSECONDS and _is_of_languages(view, topic)
            yield Found(
                f"subVersion {highest} is {how}{clocks_ahead(view)}",
                tuple(said),
                topic,
                level=Level.INFO if by_language else None,
                effect=_AGREED if by_language else "",
            )
            if topic != view.retry_topic:
                found = True


def _is_of_languages(view: GroupView, topic: str) -> bool:
    """Whether Go clients are next to others (RC0203), and those that answer want the same."""
    languages = {item.language for item in view.members.values()}
    return "GO" in languages and len(languages) > 1 and len(view.meanings(topic)) < 2


CHECKS = (
    Check(
        "RC0101",
        "members of one group subscribe differently",
        Level.ERROR,
        "no two members want different messages of one topic",
        "A broker holds one subscription for the whole group and filters every member's pulls by it. The member "
        "that owns the queue then filters by its own. A message that either of them drops is skipped for good, "
        "and tools show it as consumed.",
        (
            "Give all members of the group the same subscription, or give each subscription its own group.",
            "Deploy the change to all members. Messages are lost until the last member has it.",
            "Send the skipped messages again, or, unless the group broadcasts, reset it to an earlier offset.",
        ),
        ("A01", "B01", "B09", "B10", "C02"),
        of_group=different,
    ),
    Check(
        "RC0102",
        "a broker holds a subscription that no member wants",
        Level.ERROR,
        "every broker holds the members' subscription",
        "The broker filters by that subscription, and so skips messages that the members want.",
        (
            "Restart one member: its rebalance raises the version of its subscription.",
            "If the stored version is ahead of the clock, stop all members at the same time, then start them.",
        ),
        ("A03", "A15", "A21"),
        by_brokers=True,
        by_subscriptions=True,
        of_group=nobodys,
    ),
    Check(
        "RC0105",
        "a subscription's version is ahead of the clock",
        Level.WARNING,
        "no subVersion is ahead of the clock",
        "A broker replaces a subscription only by one with a greater version. Until the clock reaches this "
        "version, it ignores every change by other members.",
        (
            "Correct the clock that is ahead. Clients of Go send nanoseconds: give them a group of their own.",
            "Stop all members of the group at the same time, so that the broker drops the subscription; then "
            "start them.",
        ),
        ("A03",),
        by_subscriptions=True,
        of_group=versions_ahead,
    ),
    Check(
        "RC0106",
        "members of one group subscribe to different topics",
        Level.ERROR,
        "all members subscribe to the same topics",
        "A topic's queues are shared out among all members, including those that don't subscribe to it: no member "
        "consumes the messages in their queues. Each heartbeat also removes the topics that its sender doesn't "
        "subscribe to, and the broker refuses the other members' pulls until their next heartbeat.",
        (
            "Give members with different topics different groups, or let all members subscribe to all topics.",
            "Start the members of the new group before you stop the old ones, so that no message waits.",
        ),
        ("D01", "D02", "D05", "D11"),
        by_subscriptions=True,
        of_group=different_topics,
    ),
)
