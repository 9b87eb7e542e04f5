"""From a finding to a scenario that does it again on the engineer's own machine, and its control.

Members, subscriptions, queues, strategies and versions are the live group's, scaled down to what runs on one
machine; what must be seen is counted on the scaled group, by the same allocation and filters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rocketchaos.harness.diagnose.finding import Finding
from rocketchaos.harness.diagnose.meaning import expression_text, meaning
from rocketchaos.harness.diagnose.model import Member
from rocketchaos.harness.diagnose.owners import share
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.language.tags import SQL, tags_of
from rocketchaos.harness.rocketmq.allocation import Queue

MOST_MEMBERS = 6
MOST_QUEUES = 16
"""Of a topic, on all brokers together."""
MOST_BROKERS = 2
_TAG = "tagA"
"""Sent where all members want everything."""
_WITHIN = "60s"
_STRATEGIES = MappingProxyType(
    {
        "AllocateMessageQueueAveragely": "average",
        "AllocateMessageQueueAveragelyByCircle": "average-by-circle",
        "AllocateMessageQueueConsistentHash": "consistent-hash",
    }
)
_CLASSES = {word: name for name, word in _STRATEGIES.items()}
_VERSION = re.compile(r"V(\d+)_(\d+)_(\d+)")

Document = dict[str, Any]
"""What a scenario's file says."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """The live group, as it is to run here."""

    finding: Finding
    members: Mapping[str, Member]
    """By the name in the scenario; the names sort as the client ids do."""
    topics: Mapping[str, str]
    """Name in the scenario by real name."""
    queues: Mapping[str, int]
    """On each broker, by the name in the scenario."""
    brokers: tuple[str, ...]
    start_order: tuple[str, ...]

    @property
    def topic(self) -> str:
        """The finding's topic, otherwise the first one."""
        return self.topics.get(self.finding.topic, next(iter(self.topics.values())))

    @property
    def real_topic(self) -> str:
        return next(real for real, name in self.topics.items() if name == self.topic)

    def all_queues(self, topic: str) -> tuple[Queue, ...]:
        """Of a topic, by its name in the scenario."""
        return tuple((broker, number) for broker in self.brokers for number in range(self.queues[topic]))

    def shares(self, topic: str) -> Mapping[str, tuple[Queue, ...]]:
        """What each member takes of a topic's queues here."""
        names = sorted(self.members)
        return {
            name: share(_CLASSES[_strategy(member)], self.all_queues(topic), names, name, topic) or ()
            for name, member in self.members.items()
        }

    def tags(self, real: str) -> list[str]:
        """The tags that members want of a topic; one that everybody takes where they want everything."""
        wanted = [
            member.subscriptions[real] for member in self.members.values() if real in member.subscriptions
        ]
        found = sorted({tag for item in wanted for tag in tags_of(item.expression)})
        return found or [_TAG]


def scaled(view: GroupView, finding: Finding) -> Scaled | str:
    """The group as it can run here; otherwise why it can't."""
    members = [item for item in view.answered if any(topic in item.subscriptions for topic in view.topics)]
    if not members:
        return "no member told of itself"
    if any(subscription.type == SQL for member in members for subscription in member.subscriptions.values()):
        return "what SQL takes can't be told from outside"
    if view.shares_queues:
        return "its members share all queues (POP)"
    kept = sorted(_representatives(members, view.topics), key=lambda representative: representative.client_id)
    names = {f"m{number}": member for number, member in enumerate(kept, 1)}
    real_topics = [finding.topic] if finding.topic in view.topics else []
    real_topics += [item for item in view.topics if item not in real_topics][: 3 - len(real_topics)]
    topics = {real: f"t{number}" for number, real in enumerate(real_topics, 1)}
    brokers = sorted({broker for topic in real_topics for broker in view.on_brokers(topic)})[:MOST_BROKERS]
    if not brokers:
        return "no route of its topics is known"
    queues = {
        name: max(
            1,
            min(
                MOST_QUEUES // len(brokers),
                max((on_broker.read_queues for on_broker in view.on_brokers(real).values()), default=4),
            ),
        )
        for real, name in topics.items()
    }
    order = sorted(names, key=lambda name: names[name].started_ms)
    letters = tuple(f"broker-{'ab'[index]}" for index in range(len(brokers)))
    return Scaled(finding, names, topics, queues, letters, tuple(order))


def _representatives(members: Sequence[Member], topics: Sequence[str]) -> list[Member]:
    """All members, or of many some of each kind."""
    kinds: dict[object, list[Member]] = {}
    for member in members:
        wants = tuple(
            (topic, meaning(item)) for topic, item in sorted(member.subscriptions.items()) if topic in topics
        )
        kinds.setdefault((wants, member.strategy), []).append(member)
    kept: list[Member] = []
    while len(kept) < min(MOST_MEMBERS, len(members)):
        for kind in kinds.values():
            if kind and len(kept) < MOST_MEMBERS:
                kept.append(kind.pop(0))
    return kept


def _strategy(member: Member) -> str:
    return _STRATEGIES.get(member.strategy, "average")


def _consumers(group: Scaled) -> dict[str, Document]:
    versions = {member.properties.get("PROP_CLIENT_VERSION", "") for member in group.members.values()}
    found: dict[str, Document] = {}
    for name, member in group.members.items():
        item: Document = {
            "group": "g",
            "process": "own",
            "subscribe": {
                group.topics[topic]: expression_text(mine)
                for topic, mine in member.subscriptions.items()
                if topic in group.topics
            },
        }
        version = _VERSION.fullmatch(member.properties.get("PROP_CLIENT_VERSION", ""))
        if member.language == "CPP":
            item["client"] = "python"
        elif len(versions) > 1 and version and member.language == "JAVA":
            item["client"] = f"java@{'.'.join(version.groups())}"
        if _strategy(member) != "average":
            item["strategy"] = _strategy(member)
        if member.orderly:
            item["listener"] = "orderly"
        if member.properties.get("messageModel") == "BROADCASTING":
            item["model"] = "broadcasting"
        found[name] = item
    return found


def _base(
    group: Scaled, title: str, steps: list[Document], anomaly: list[Document], healthy: list[Document]
) -> Document:
    document: Document = {
        "name": f"diagnosed-{group.finding.check.code.lower()}",
        "title": title,
        "description": f"Written by `rocketchaos diagnose` from a live group. {group.finding.check.code}: "
        f"{group.finding.check.title}. {group.finding.check.effect}",
        "marks": ["diagnosed"],
    }
    if len(group.brokers) > 1:
        document["cluster"] = {"brokers": list(group.brokers)}
    return {
        **document,
        "topics": {name: {"queues": group.queues[name]} for name in group.topics.values()},
        "consumers": _consumers(group),
        "steps": [
            {"start": list(group.start_order)},
            {"settle": {"ownership": "g", "within": _WITHIN}},
            *steps,
        ],
        "anomaly": anomaly,
        "healthy": healthy,
        "expected": "reproduced",
    }


def _send(group: Scaled, topic: str, tags: Sequence[str], each: int = 1) -> tuple[Document, int]:
    per_queue = len(tags) * each
    count = per_queue * len(group.all_queues(topic))
    what = {"tag": tags[0]} if len(tags) == 1 else {"tags": list(tags)}
    return {"send": {"topic": topic, **what, "count": count, "per_queue": per_queue}}, count


def _different(group: Scaled) -> Document | str:
    """RC0101: whoever's subscription is stored, so many messages that a member wants reach nobody."""
    topic, real = group.topic, group.real_topic
    tags = group.tags(real)
    send, count = _send(group, topic, tags)
    wants = {
        name: tags_of(member.subscriptions[real].expression)
        for name, member in group.members.items()
        if real in member.subscriptions
    }
    if len(wants) < len(group.members):
        return "its members want different topics besides: RC0106 has the scenario"

    def passes(name: str, tag: str) -> bool:
        return not wants[name] or tag in wants[name]

    shares = group.shares(topic)
    most = max(
        sum(
            passes(holder, tag) and passes(owner, tag)
            for owner, own in shares.items()
            for _ in own
            for tag in tags
        )
        for holder in wants
    )
    if most >= count:
        return "on so few members and queues nothing would be lost"
    least = count - most
    return _base(
        group,
        f"Members of one group subscribe differently: at least {least} of {count} messages reach nobody",
        [
            {"settle": {"subscription": "g", "topic": topic, "within": _WITHIN}},
            send,
            {"settle": {"offsets": "g", "topic": topic, "lag": 0, "within": _WITHIN}},
        ],
        [{"undelivered": {"group": "g", "topic": topic, "at_least": least}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )


def _different_topics(group: Scaled) -> Document | str:
    """RC0106: what is in the queues of members that don't want the topic waits."""
    topic, real = group.topic, group.real_topic
    wanting = {name for name, member in group.members.items() if real in member.subscriptions}
    others = [name for name in group.members if name not in wanting]
    send, count = _send(group, topic, group.tags(real)[:1], each=2)
    theirs = sum(len(own) for name, own in group.shares(topic).items() if name in wanting) * 2
    if not theirs or theirs == count or not others:
        return "on so few members and queues nothing would wait"
    return _base(
        group,
        f"Members of one group subscribe to different topics: {count - theirs} of {count} messages wait",
        [
            send,
            # While they run, their heartbeats remove the topic again and again: what comes then is a race.
            {"pause": others},
            {"settle": {"delivered": "g", "topic": topic, "count": theirs, "within": _WITHIN}},
            {"resume": others},
        ],
        [{"undelivered": {"group": "g", "topic": topic, "count": count - theirs, "because": "stranded"}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )


def _strategies(group: Scaled) -> Document | str:
    """RC0207: queues with two owners, and queues with none."""
    topic = group.topic
    owners = [sum(queue in own for own in group.shares(topic).values()) for queue in group.all_queues(topic)]
    send, count = _send(group, topic, group.tags(group.real_topic)[:1], each=2)
    anomaly: list[Document] = []
    if twice := sum(2 * (number - 1) for number in owners if number > 1):
        anomaly.append({"duplicated": {"to": "g", "topic": topic, "count": twice}})
    if waiting := 2 * owners.count(0):
        anomaly.append(
            {"undelivered": {"group": "g", "topic": topic, "count": waiting, "because": "stranded"}}
        )
    if not anomaly:
        return "on so few members and queues the strategies share out alike"
    come = count - waiting
    return _base(
        group,
        f"Members share out by different strategies: {owners.count(0)} queues have no owner, "
        f"{sum(number > 1 for number in owners)} several",
        [
            send,
            {"settle": {"delivered": "g", "topic": topic, "count": come, "within": _WITHIN}},
            {"wait": {"duration": "7s", "because": "that nothing more comes is what is tested"}},
        ],
        anomaly,
        [
            {"delivered": {"to": "g", "topic": topic, "count": count}},
            {"duplicated": {"to": "g", "topic": topic, "count": 0}},
        ],
    )


def _stuck(group: Scaled) -> Document | str:
    """RC0601 and RC0602: the offset stays where the listener hangs."""
    topic = group.topic
    send, count = _send(group, topic, group.tags(group.real_topic)[:1])
    document = _base(
        group,
        "A listener that finishes nothing holds the group's offset",
        [send, {"settle": {"blocked": "g", "count": 1, "within": _WITHIN}}],
        [{"offsets": {"group": "g", "topic": topic, "lag": count}}],
        [{"offsets": {"group": "g", "topic": topic, "lag": 0}}],
    )
    for item in document["consumers"].values():
        item["behaviour"] = "block"
    return document


def _dead_letters(group: Scaled) -> Document | str:
    """RC0702: what fails too often is a dead letter."""
    topic = group.topic
    send, count = _send(group, topic, group.tags(group.real_topic)[:1])
    document = _base(
        group,
        "Messages whose listener fails too often become dead letters",
        [send, {"settle": {"dead_letters": "g", "count": count, "within": _WITHIN}}],
        [{"dead-letter": {"group": "g", "count": count}}],
        [{"dead-letter": {"group": "g", "count": 0}}],
    )
    for item in document["consumers"].values():
        item |= {"behaviour": {"fail": 2}, "max_reconsume_times": 1, "retry_delay_level": 1}
    return document


WRITERS: Mapping[str, Callable[[Scaled], Document | str]] = MappingProxyType(
    {
        "RC0101": _different,
        "RC0106": _different_topics,
        "RC0207": _strategies,
        "RC0601": _stuck,
        "RC0602": _stuck,
        "RC0702": _dead_letters,
    }
)
"""By code: the scenario that does it again, or why there is none."""


def control(group: Scaled, document: Document) -> Document:
    """The same with the one cause taken away: its anomaly must be absent."""
    consumers = {name: dict(item) for name, item in document["consumers"].items()}
    for consumer in consumers.values():
        consumer.pop("strategy", None)
        consumer.pop("behaviour", None)
        consumer["subscribe"] = {
            name: " || ".join(group.tags(real)) if _has_tags(group, real) else "*"
            for real, name in group.topics.items()
        }
    steps = [
        step
        for step in document["steps"]
        if not {"pause", "resume", "wait"} & set(step)
        and not {"delivered", "blocked", "dead_letters"} & set(step.get("settle", {}))
    ]
    end = {"settle": {"offsets": "g", "topic": group.topic, "lag": 0, "within": _WITHIN}}
    return {
        **document,
        "name": f"{document['name']}-control",
        "title": f"{document['title']} (the control: not so)",
        "consumers": consumers,
        "steps": steps if end in steps else [*steps, end],
        "expected": "not-reproduced",
    }


def _has_tags(group: Scaled, real: str) -> bool:
    return any(
        tags_of(member.subscriptions[real].expression)
        for member in group.members.values()
        if real in member.subscriptions
    )


def written(view: GroupView, finding: Finding) -> tuple[Document, Document] | str:
    """The scenario of a finding and its control; otherwise why there is none."""
    writer = WRITERS.get(finding.check.code)
    if writer is None:
        return f"no scenario does {finding.check.code} again yet"
    group = scaled(view, finding)
    if isinstance(group, str):
        return group
    document = writer(group)
    if isinstance(document, str):
        return document
    other = control(group, document)
    return {**document, "control": other["name"]}, other
