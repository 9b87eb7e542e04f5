"""Scenarios of queues that no member takes, or several do, or that no member may read."""

from collections.abc import Mapping
from dataclasses import replace

from rocketchaos.harness.diagnose.reproduction.document import WITHIN, Document, base, send
from rocketchaos.harness.diagnose.reproduction.scaled import MOST_QUEUES, Scaled
from rocketchaos.harness.rocketmq.allocation import Queue

BY_CONFIG = "AllocateMessageQueueByConfig"
EACH_HAS_ONE_OWNER = "on so few members and queues each queue has one owner"
"""Why there is no scenario of owners."""


def by_owners(group: Scaled, shares: Mapping[str, tuple[Queue, ...]], title: str) -> Document | str:
    """Each message comes as often as its queue has owners."""
    topic = group.topic
    owners = [sum(queue in own for own in shares.values()) for queue in group.all_queues(topic)]
    step, count = send(group, topic, group.tags(group.real_topic)[:1], each=2)
    anomaly: list[Document] = []
    if twice := sum(2 * (number - 1) for number in owners if number > 1):
        anomaly.append({"duplicated": {"to": "g", "topic": topic, "count": twice}})
    waiting = 2 * owners.count(0)
    if waiting:
        anomaly.append(
            {"undelivered": {"group": "g", "topic": topic, "count": waiting, "because": "stranded"}}
        )
    if not anomaly:
        return EACH_HAS_ONE_OWNER
    return base(
        group,
        f"{title}: {owners.count(0)} queues have no owner, {sum(number > 1 for number in owners)} several",
        [
            step,
            {"settle": {"delivered": "g", "topic": topic, "count": count - waiting, "within": WITHIN}},
            {"wait": {"duration": "7s", "because": "that nothing more comes is what is tested"}},
        ],
        anomaly,
        [
            {"delivered": {"to": "g", "topic": topic, "count": count}},
            {"duplicated": {"to": "g", "topic": topic, "count": 0}},
        ],
    )


def by_configuration(group: Scaled) -> Document | str:
    """RC0301 and RC0302: members with queues set by configuration: some have no owner, others several."""
    topic, real = group.topic, group.real_topic
    if any(member.strategy != BY_CONFIG for member in group.members.values()):
        return "why members have other queues than their share can't be seen from outside"
    if len(group.members) < len(group.view.answered):
        return "it has more members, each with queues of its own, than run here"
    ids = {
        name: sorted(
            {
                number
                for (_, number), held in member.queues.get(real, {}).items()
                if not held.dropped and number < group.queues[topic]
            }
        )
        for name, member in group.members.items()
    }
    if not all(ids.values()):
        return "a member has none of the queues that run here"
    shares = {
        name: tuple(queue for queue in group.all_queues(topic) if queue[1] in own)
        for name, own in ids.items()
    }
    document = by_owners(group, shares, "Members have queues set by configuration")
    if not isinstance(document, str):
        for name, item in document["consumers"].items():
            item |= {"strategy": "by-config", "queues": ids[name]}
    return document


def idle(group: Scaled) -> Document | str:
    """RC0303: the members behind the last queue have none."""
    topic = group.topic
    members, brokers = len(group.members), len(group.brokers)
    least = min(group.queues[topic], (members - 1) // brokers)
    if not least:
        return "on so few members each has a queue"
    few = replace(group, queues={**group.queues, topic: least})
    enough = replace(group, queues={**group.queues, topic: members})
    spare = next((name for name, own in few.shares(topic).items() if not own), None)
    if spare is None:
        return "on so few members each has a queue"
    return base(
        few,
        f"{members} members share {least * brokers} queues: {spare} has none",
        [],
        [{"ownership": {"of": spare, "topic": topic, "count": 0}}],
        [{"ownership": {"of": spare, "topic": topic, "count": len(enough.shares(topic)[spare])}}],
    )


def unread(group: Scaled) -> Document | str:
    """RC0403: messages in queues that are not read wait."""
    topic = group.topic
    live = next(
        item
        for item in group.view.on_brokers(group.real_topic).values()
        if item.read_queues < item.write_queues
    )
    written = min(MOST_QUEUES // len(group.brokers), live.write_queues)
    read = min(live.read_queues, written - 1)
    wide = replace(group, queues={**group.queues, topic: written})
    step, count = send(wide, topic, group.tags(group.real_topic)[:1], each=2)
    waiting = (written - read) * len(group.brokers) * 2
    come: list[Document] = [
        {"settle": {"delivered": "g", "topic": topic, "count": count - waiting, "within": WITHIN}}
    ]
    document = base(
        wide,
        f"{written} queues are written on each broker, and {read} are read: {waiting} of {count} messages wait",
        [step, *(come if count > waiting else [])],
        [{"undelivered": {"group": "g", "topic": topic, "count": waiting, "because": "stranded"}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )
    document["topics"][topic]["settings"] = {"readQueueNums": read}
    return document


def removed(group: Scaled) -> Document | str:
    """RC0408: what a queue still has when its topic loses it waits."""
    topic = group.topic
    most = MOST_QUEUES // len(group.brokers)
    kept = min(group.queues[topic], most - 1)
    lost = min(most - kept, 4)
    wide = replace(group, queues={**group.queues, topic: kept + lost})
    tags = group.tags(group.real_topic)[:1]
    first, before = send(wide, topic, tags)
    second, after = send(wide, topic, tags, each=2)
    waiting = lost * len(group.brokers) * 2
    members = list(group.start_order)
    return base(
        wide,
        f"A topic loses {lost} of {kept + lost} queues on a broker: {waiting} of {before + after} messages wait",
        [
            first,
            {"settle": {"offsets": "g", "topic": topic, "lag": 0, "within": WITHIN}},
            {"stop": members},
            second,
            {"topic-config": {"topic": topic, "set": {"readQueueNums": kept, "writeQueueNums": kept}}},
            {"restart": members},
            {
                "settle": {
                    "delivered": "g",
                    "topic": topic,
                    "count": before + after - waiting,
                    "within": WITHIN,
                }
            },
        ],
        [{"undelivered": {"group": "g", "topic": topic, "count": waiting}}],
        [{"delivered": {"to": "g", "topic": topic, "count": before + after}}],
    )
