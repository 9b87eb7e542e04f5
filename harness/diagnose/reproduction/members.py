"""Scenarios of members that should be alike, and of one id twice."""

from dataclasses import replace

from rocketchaos.harness.diagnose.meaning import meaning
from rocketchaos.harness.diagnose.model import Member
from rocketchaos.harness.diagnose.reproduction.clients import is_java
from rocketchaos.harness.diagnose.reproduction.control import changed
from rocketchaos.harness.diagnose.reproduction.document import SHARE_TAKEN, WITHIN, Document, base, send
from rocketchaos.harness.diagnose.reproduction.queues import EACH_HAS_ONE_OWNER, by_owners
from rocketchaos.harness.diagnose.reproduction.scaled import STRATEGIES, Scaled, strategy
from rocketchaos.harness.diagnose.words import joined
from rocketchaos.harness.rocketmq.allocation import average

_NOT_LOCKED = "add a new mq failed.*lock failed"
"""The line that an orderly Java client logs where another member has the lock of its queue."""


_SEE_RC0106 = "its members also subscribe to different topics: RC0106 has the scenario"
SEE_RC0101 = "its members also want different messages: RC0101 has the scenario"


def strategies(group: Scaled) -> Document | str:
    """RC0207: queues with two owners, and queues with none."""
    if want_different(group, group.real_topic):
        return SEE_RC0101
    wanting = {name for name, item in group.members.items() if group.real_topic in item.subscriptions}
    if len({group.members[name].strategy for name in wanting} - {""}) < 2:
        return _SEE_RC0106
    shares = {name: own if name in wanting else () for name, own in group.shares(group.topic).items()}
    document = by_owners(group, shares, "Members share out by different strategies")
    if document == EACH_HAS_ONE_OWNER:
        if others := sorted({member.strategy for member in group.members.values()} - {"", *STRATEGIES}):
            return f"how {joined(others)} shares out depends on what no answer has: its settings, or its code"
        return "on so few members and queues the strategies share out alike"
    return document


def same_id(group: Scaled) -> Document | str:
    """RC0201: both processes with one id take the first share of it, and no process the second."""
    if group.finding.level < group.finding.check.level:
        return "old connections of one process go when their broker drops them"
    topic = group.topic
    twin = next((name for name, member in group.members.items() if _is_twice(group, member)), None)
    if twin is None:
        return "which member it is can no longer be seen"
    if not is_java(group.members[twin]):
        return "the ids of Go and C++ clients can't be set here"
    if any(strategy(member) != "average" for member in group.members.values()):
        return "how strategies other than averaging count one id twice isn't recomputed"
    names = sorted([*group.members, twin])
    queues = group.all_queues(topic)
    owned = {queue for name in group.members for queue in average(queues, names, name)}
    waiting = 2 * (len(queues) - len(owned))
    if not waiting:
        return "on so few members and queues each queue has an owner"
    step, count = send(group, topic, group.tags(group.real_topic)[:1], each=2)
    document = base(
        group,
        f"One client id in two processes: {waiting} of {count} messages wait, and others come twice",
        [],
        [
            {"undelivered": {"group": "g", "topic": topic, "count": waiting}},
            {"duplicated": {"to": "g", "topic": topic, "at_least": 1}},
        ],
        [
            {"delivered": {"to": "g", "topic": topic, "count": count}},
            {"duplicated": {"to": "g", "topic": topic, "count": 0}},
        ],
    )
    consumers = document["consumers"]
    other = f"{twin}-twin"
    consumers[twin]["client_id"] = f"{twin}@1"
    consumers[other] = dict(consumers[twin])
    document["steps"] = [
        {"start": [*group.start_order, other]},
        *({"settle": {"log": name, "matches": SHARE_TAKEN, "within": WITHIN}} for name in (twin, other)),
        {"wait": {"duration": "5s", "because": "no ownership can settle where two members have one id"}},
        step,
        {"wait": {"duration": "7s", "because": "the test is that no member takes the other queues"}},
    ]
    return document


def _is_twice(group: Scaled, member: Member) -> bool:
    return any(
        sum(connection.client_id == member.client_id for connection in stored.connections) > 1
        for stored in group.view.stored.values()
    )


def models(group: Scaled) -> Document | str:
    """RC0206: a broadcasting member gets what the others get as well."""
    topic, real = group.topic, group.real_topic
    alone = next((name for name, item in group.members.items() if _broadcasts(item)), None)
    if alone is None or all(_broadcasts(item) for item in group.members.values()):
        return "all members that run here are of one model"
    other = next(
        (name for name, own in group.shares(topic).items() if own and not _broadcasts(group.members[name])),
        None,
    )
    if other is None:
        return "on so few queues only broadcasting members have some"
    if want_different(group, real):
        return SEE_RC0101
    step, count = send(group, topic, group.tags(real)[:1], each=2)
    document = base(
        group,
        f"One member broadcasts in a group that shares out: it gets all {count} messages, the others theirs again",
        [],
        [
            {"delivered": {"to": alone, "topic": topic, "count": count}},
            {"delivered": {"to": other, "topic": topic, "at_least": 1}},
        ],
        [{"delivered": {"to": alone, "topic": topic, "at_most": count - 1}}],
    )
    document["steps"] = [
        {"start": list(group.start_order)},
        step,
        {"settle": {"delivered": alone, "topic": topic, "count": count, "within": WITHIN}},
        {"settle": {"delivered": other, "topic": topic, "count": 1, "within": WITHIN}},
    ]
    return document


def want_different(group: Scaled, real: str) -> bool:
    """Whether the members that subscribe to a topic want different messages of it: some reach nobody then."""
    own = [item.subscriptions[real] for item in group.members.values() if real in item.subscriptions]
    return len({meaning(item) for item in own}) > 1


def _broadcasts(member: Member) -> bool:
    return member.properties.get("messageModel") == "BROADCASTING"


def listeners(group: Scaled) -> tuple[Document, Document] | str:
    """RC0212: an orderly member takes a queue whose messages a concurrent one still has in its listener."""
    topic = group.topic
    first = next((name for name, item in group.members.items() if not item.orderly), None)
    orderly = [name for name, item in group.members.items() if item.orderly]
    if first is None or not orderly:
        return "all members that run here have the same listener"
    taking = next((name for name in orderly if is_java(group.members[name])), None)
    if taking is None:
        return "its control waits for a line that Java clients alone log"
    if any(group.real_topic not in group.members[name].subscriptions for name in (first, taking)):
        return "its members also want different topics: RC0106 has the scenario"
    if len({meaning(group.members[name].subscriptions[group.real_topic]) for name in (first, taking)}) > 1:
        return SEE_RC0101
    two = replace(group, members={name: group.members[name] for name in sorted((first, taking))})
    theirs = len(two.shares(topic)[taking])
    if not theirs:
        return "on so few queues the orderly member has none"
    step, count = send(two, topic, two.tags(two.real_topic)[:1])
    document = base(
        two,
        f"{taking} consumes orderly, {first} doesn't: {taking} gets messages that {first} hasn't finished",
        [],
        [{"delivered": {"to": taking, "topic": topic, "at_least": 1}}],
        # So far: a queue that goes to another member keeps its lock for 20 s, or 60 s, with clients of 5.x.
        [{"delivered": {"to": taking, "topic": topic, "count": 0, "so_far": True}}],
    )
    document["consumers"][first]["behaviour"] = "block"
    begin = [
        {"start": [first]},
        {"settle": {"ownership": "g", "within": WITHIN}},
        step,
        {"settle": {"blocked": first, "count": count, "within": WITHIN}},
        {"start": [taking]},
    ]
    document["steps"] = [*begin, {"settle": {"delivered": taking, "count": theirs, "within": WITHIN}}]
    alike = changed(document)
    alike["consumers"][first]["listener"] = "orderly"
    alike["steps"] = [
        *begin,
        {"settle": {"log": taking, "matches": _NOT_LOCKED, "within": WITHIN}},
        {"wait": {"duration": "7s", "because": f"the test is that {taking} gets nothing meanwhile"}},
    ]
    return document, alike
