"""Scenarios of listeners that hang or fail, and of offsets."""

from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.model import Member
from rocketchaos.harness.diagnose.reproduction.clients import is_java
from rocketchaos.harness.diagnose.reproduction.control import changed, control
from rocketchaos.harness.diagnose.reproduction.document import WITHIN, Document, base, fails, hands_back, send
from rocketchaos.harness.diagnose.reproduction.scaled import Scaled
from rocketchaos.harness.diagnose.reproduction.ways import share_all_queues

_SEVERAL = 10
"""Messages for each queue: that all retries go to the one queue that is read is then unlikely, 1 in a million."""
_FILE_SIZE = 65536
"""Bytes of a file of the commit log, where brokers must delete one."""
_MORE_THAN_A_FILE = 1000
"""Messages on a broker: they fill more than one such file."""

_BY_POP_WITHIN = "150s"
"""A failed message of a POP group comes again after 10 s at least; up to 60 s was measured (5.0.0 to 5.5.0)."""

_KEEP_THEIR_OWN = (
    "members that broadcast keep their own offsets, and read no retries: no check is about those"
)


def stuck(group: Scaled) -> Document | str:
    """RC0601 and RC0602: the offset stays where the listener hangs."""
    if group.view.broadcasting:
        return _KEEP_THEIR_OWN
    topic = group.topic
    step, count = send(group, topic, group.tags(group.real_topic)[:1])
    document = base(
        group,
        "A listener that finishes nothing holds the group's offset",
        [step, {"settle": {"blocked": "g", "count": 1, "within": WITHIN}}],
        [{"offsets": {"group": "g", "topic": topic, "lag": count}}],
        [{"offsets": {"group": "g", "topic": topic, "lag": 0}}],
    )
    for item in document["consumers"].values():
        item["behaviour"] = "block"
    return document


def stopped(group: Scaled) -> Document | str:
    """RC0501: messages wait in the queues of a paused member, or of one whose orderly listener keeps failing."""
    if group.view.broadcasting:
        return _KEEP_THEIR_OWN
    if group.finding.level is Level.WARNING:
        return _paused(group)
    failing = any(item.orderly and group.real_topic in item.failing for item in group.members.values())
    if failing:
        return _keeps_failing(group)
    held = [
        known for item in group.members.values() for known in item.queues.get(group.real_topic, {}).values()
    ]
    why = (
        "whether its listener hangs or fails"
        if any(item.cached_count for item in held)
        else "why its pulls fail"
    )
    return f"{why} is in the log of its client alone"


def _keeps_failing(group: Scaled) -> Document:
    topic = group.topic
    step, count = send(group, topic, group.tags(group.real_topic)[:1])
    document = base(
        group,
        "An orderly listener that keeps failing holds the group's offset",
        [step, {"settle": {"retried": "g", "count": 1, "within": WITHIN}}],
        [{"offsets": {"group": "g", "topic": topic, "lag": count}}],
        [{"offsets": {"group": "g", "topic": topic, "lag": 0}}],
    )
    for item in document["consumers"].values():
        item |= {"behaviour": {"fail": 1000}, "listener": "orderly"}
    return document


def _paused(group: Scaled) -> Document | str:
    topic = group.topic
    shares = group.shares(topic)
    name = next((name for name, own in shares.items() if own and _can_pause(group.members[name])), None)
    if name is None:
        return "no member of Java that has a listener has a queue here"
    step, count = send(group, topic, group.tags(group.real_topic)[:1], each=2)
    waiting = 2 * len(shares[name])
    return base(
        group,
        f"A member is paused: {waiting} of {count} messages wait in its queues",
        [
            {"suspend-consumer": name},
            # Pulls that brokers hold at that moment bring some of these.
            step,
            {"wait": {"duration": "3s", "because": "a pull that a broker holds ends with the first message"}},
            {"observe": "suspended"},
            step,
            {"wait": {"duration": "7s", "because": f"the test is that {name} gets nothing"}},
        ],
        [{"undelivered": {"group": "g", "topic": topic, "count": waiting, "sent_after": "suspended"}}],
        [{"delivered": {"to": "g", "topic": topic, "count": 2 * count}}],
    )


def _can_pause(member: Member) -> bool:
    return is_java(member) and not member.pulls_by_itself


def dead_letters(group: Scaled) -> Document | str:
    """RC0702: a message that fails too often becomes a dead letter."""
    return _KEEP_THEIR_OWN if group.view.broadcasting else _fails_too_often(group)


def _fails_too_often(group: Scaled) -> Document:
    topic = group.topic
    step, count = send(group, topic, group.tags(group.real_topic)[:1])
    document = base(
        group,
        "Messages whose listener fails too often become dead letters",
        [step, {"settle": {"dead_letters": "g", "count": count, "within": WITHIN}}],
        [{"dead-letter": {"group": "g", "count": count}}],
        [{"dead-letter": {"group": "g", "count": 0}}],
    )
    fails(document, 2)
    for item in document["consumers"].values():
        item["max_reconsume_times"] = 1
    return document


def no_retries(group: Scaled) -> tuple[Document, Document] | str:
    """RC0703: a message that fails once becomes a dead letter."""
    if not any(item.properties.get("maxReconsumeTimes") == "0" for item in group.members.values()):
        return "members of the kinds that run here send limits of their own with each retry"
    document = _fails_too_often(group)
    document["title"] = "Messages whose listener fails once become dead letters"
    count = document["anomaly"][0]["dead-letter"]["count"]
    consumers = document["consumers"]
    for item in consumers.values():
        item |= {"behaviour": {"fail": 1}, "max_reconsume_times": 0}
    retried = [
        {"settle": {"retried": "g", "count": count, "within": WITHIN}}
        if "settle" in step and "dead_letters" in step["settle"]
        else step
        for step in document["steps"]
    ]
    more = {name: {**item, "max_reconsume_times": 1} for name, item in consumers.items()}
    return document, changed(document, consumers=more, steps=retried)


def no_retry_queues(group: Scaled) -> tuple[Document, Document] | str:
    """RC0704: a message that fails once is gone."""
    if group.view.broadcasting:
        return "clients that broadcast have no retries: claim G06 is about those that have"
    topic = group.topic
    step, count = send(group, topic, group.tags(group.real_topic)[:1])
    document = base(
        group,
        "Messages whose listener fails once are dropped",
        [step, {"settle": {"delivered": "g", "count": count, "within": WITHIN}}],
        [{"undelivered": {"group": "g", "topic": topic, "count": count, "because": "lost"}}],
        [{"undelivered": {"group": "g", "topic": topic, "count": 0, "because": "lost"}}],
    )
    hands_back(document)
    retried = {"settle": {"retried": "g", "count": count, "within": WITHIN}}
    kept = changed(document, steps=[*document["steps"], retried])
    document["groups"] = {"g": {"settings": {"retryQueueNums": 0}}}
    return document, kept


def unread_retry_queues(group: Scaled) -> tuple[Document, Document]:
    """RC0705: a part of the retries is written where nobody reads."""
    topic = group.topic
    step, count = send(group, topic, group.tags(group.real_topic)[:1], each=_SEVERAL)
    raised = {"group-config": {"group": "g", "set": {"retryQueueNums": 4}}}
    document = base(
        group,
        "Retries are written to queues that nobody reads",
        [
            raised,
            step,
            {"settle": {"delivered": "g", "count": count, "within": WITHIN}},
            {"settle": {"sealed": "g", "within": WITHIN}},
        ],
        [{"retry": {"group": "g", "topic": topic, "at_most": count - 1, "so_far": True}}],
        [{"retry": {"group": "g", "topic": topic, "count": count}}],
    )
    hands_back(document)
    all_come = [
        *(
            entry
            for entry in document["steps"]
            if entry != raised and "sealed" not in entry.get("settle", {})
        ),
        {"settle": {"retried": "g", "count": count, "within": WITHIN}},
    ]
    return document, changed(document, steps=all_come)


def retries(group: Scaled) -> Document | str:
    """RC0701: a failed message comes again."""
    if group.view.broadcasting:
        return _KEEP_THEIR_OWN
    topic = group.topic
    step, count = send(group, topic, group.tags(group.real_topic)[:1])
    by_pop = group.view.shares_queues
    within = _BY_POP_WITHIN if by_pop else WITHIN
    document = base(
        group,
        "Messages whose listener fails come again",
        [step, {"settle": {"retried": "g", "count": count, "within": within}}],
        [{"retry": {"group": "g", "topic": topic, "count": count}}],
        [{"retry": {"group": "g", "topic": topic, "count": 0}}],
    )
    if by_pop:
        share_all_queues(group, document)
    fails(document)
    return document


def set_back(group: Scaled) -> Document | str:
    """RC0503: consumed messages come again."""
    topic = group.topic
    step, count = send(group, topic, group.tags(group.real_topic)[:1], each=2)
    return base(
        group,
        f"The group's offset is set back: {count} messages come again",
        [step, *_moved(group, 0), {"settle": {"offsets": "g", "topic": topic, "lag": 0, "within": WITHIN}}],
        [{"duplicated": {"to": "g", "topic": topic, "count": count}}],
        [{"duplicated": {"to": "g", "topic": topic, "count": 0}}],
    )


def set_ahead(group: Scaled) -> Document | str:
    """RC0509: messages between the two offsets are skipped."""
    topic = group.topic
    step, count = send(group, topic, group.tags(group.real_topic)[:1], each=2)
    _, stopped, *moved = _moved(group, "end")
    return base(
        group,
        f"The group's offset is set ahead: {count} messages that nobody has consumed reach nobody",
        [stopped, step, *moved, {"settle": {"offsets": "g", "topic": topic, "lag": 0, "within": WITHIN}}],
        [{"undelivered": {"group": "g", "topic": topic, "count": count}}],
        [{"undelivered": {"group": "g", "topic": topic, "count": 0}}],
    )


def deleted(group: Scaled) -> tuple[Document, Document] | str:
    """RC0505: brokers delete messages that no member has read yet."""
    if group.view.broadcasting:
        return _KEEP_THEIR_OWN
    topic = group.topic
    each = -(-_MORE_THAN_A_FILE // group.queues[topic])
    step, count = send(group, topic, group.tags(group.real_topic)[:1], each=each)
    document = base(
        group,
        f"Brokers delete some of {count} messages while no member runs: they reach nobody",
        [
            {"stop": list(group.start_order)},
            step,
            {"expire-files": {"topic": topic, "within": "150s"}},
            {"restart": list(group.start_order)},
            {"settle": {"offsets": "g", "topic": topic, "lag": 0, "within": "90s"}},
        ],
        [{"undelivered": {"group": "g", "topic": topic, "at_least": 1}}],
        [{"undelivered": {"group": "g", "topic": topic, "count": 0}}],
    )
    other = control(group, document)
    small = {"fileReservedTime": 0, "mappedFileSizeCommitLog": _FILE_SIZE}
    cluster = document.get("cluster", {})
    return {**document, "cluster": {**cluster, "broker": {**cluster.get("broker", {}), **small}}}, other


def beyond_the_end(group: Scaled) -> Document | str:
    """RC0506: messages stored below the offset are skipped."""
    topic = group.topic
    tags = group.tags(group.real_topic)[:1]
    first, _ = send(group, topic, tags)
    second, count = send(group, topic, tags, each=2)
    *stopped, restarted = _moved(group, 1_000_000)
    document = base(
        group,
        f"The group's offset is beyond the queues' ends: {count} messages that come below it reach nobody",
        [
            first,
            *stopped,
            second,
            restarted,
            {"settle": {"offsets": "g", "topic": topic, "lag": 0, "within": WITHIN}},
        ],
        [{"undelivered": {"group": "g", "topic": topic, "count": count}}],
        [{"undelivered": {"group": "g", "topic": topic, "count": 0}}],
    )
    return {**document, "rocketmq": ">=4.9.4"}


def _moved(group: Scaled, to: int | str) -> list[Document]:
    """Steps that stop all members, change the offset at the brokers, and start the members again."""
    members = list(group.start_order)
    return [
        {"settle": {"offsets": "g", "topic": group.topic, "lag": 0, "within": WITHIN}},
        {"stop": members},
        {"reset-offset": {"group": "g", "topic": group.topic, "to": to}},
        {"restart": members},
    ]
