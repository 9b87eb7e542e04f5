"""Scenarios of topics and groups that are closed."""

from dataclasses import replace

from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.reproduction.clients import is_go
from rocketchaos.harness.diagnose.reproduction.control import changed, control
from rocketchaos.harness.diagnose.reproduction.document import WITHIN, Document, base, hands_back, send
from rocketchaos.harness.diagnose.reproduction.scaled import Scaled
from rocketchaos.harness.diagnose.view import READ, WRITE

_NOT_SENT_BACK = "(?i)failed to send message back|sendMessageBack exception"
"""What Java clients of 5.x log, and those of 4.9.x."""

_MAY_FAIL = {"may_fail": True}

_SENT_ELSEWHERE = "producers and retries go to a broker that may be written: nothing is refused"


def alone(group: Scaled) -> Scaled:
    """The group on one broker: the steps of a scenario close something on all brokers alike."""
    return replace(group, brokers=group.brokers[:1])


def closed_topic(group: Scaled) -> Document | tuple[Document, Document] | str:
    """RC0404: a topic that may not be read, or not be written."""
    topic, real = group.topic, group.real_topic
    permissions = [item.permission for item in group.view.on_brokers(real).values()]
    readable = all(permission & READ for permission in permissions)
    if not group.finding.topic and readable:  # several topics, which other brokers take
        return _SENT_ELSEWHERE
    if group.finding.topic == group.view.retry_topic:
        return _closed_retries(group)
    if group.finding.topic not in ("", real):
        return "RocketMQ creates a dead-letter topic so, or still stores dead letters there"
    if readable and any(permission & WRITE for permission in permissions):
        return _SENT_ELSEWHERE
    group = alone(group)
    step, count = send(group, topic, group.tags(real)[:1], each=2)
    if readable:
        document = base(
            group,
            "A topic that may not be written: all that is sent is refused",
            # Without `per_queue`: a broker takes a message for a queue that its producer names, whatever the
            # topic's permission is.
            [{"send": {key: value for key, value in step["send"].items() if key != "per_queue"} | _MAY_FAIL}],
            [{"send-refused": {"topic": topic, "count": count}}],
            [{"delivered": {"to": "g", "topic": topic, "count": count}}],
        )
        # From the beginning: a producer that still knows the former route goes on sending.
        document["topics"][topic]["settings"] = {"perm": READ}
        return document
    close = {"topic-config": {"topic": topic, "set": {"perm": WRITE}}}
    return base(
        group,
        f"A topic that may not be read: {count} of {count} messages wait",
        [close, step],
        [{"undelivered": {"group": "g", "topic": topic, "count": count}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )


def _closed_retries(group: Scaled) -> tuple[Document, Document] | str:
    """The group's retry topic, likewise."""
    permissions = [item.permission for item in group.view.on_brokers(group.view.retry_topic).values()]
    readable = all(permission & READ for permission in permissions)
    if readable and any(permission & WRITE for permission in permissions):
        return _SENT_ELSEWHERE
    if readable and any(map(is_go, group.members.values())):
        return "Go clients take a refused retry for a success, and log nothing: claim I10 has the scenario"
    if all(member.orderly for member in group.members.values()):
        return "an orderly listener retries in place: only dead letters go through the retry topic"
    group = alone(group)
    topic = group.topic
    step, count = send(group, topic, group.tags(group.real_topic)[:1])
    document = base(
        group,
        "A retry topic that may not be written: a member keeps what its listener fails, and retries it itself"
        if readable
        else f"A retry topic that may not be read: {count} of {count} failed messages never come again",
        [],
        [{"undelivered": {"group": "g", "topic": topic, "count": count, "because": "in-retry"}}],
        [{"undelivered": {"group": "g", "topic": topic, "count": 0, "because": "in-retry"}}],
    )
    hands_back(document)
    close = {"topic-config": {"retry_of": "g", "set": {"perm": READ if readable else WRITE}}}
    delivered = {"settle": {"delivered": "g", "topic": topic, "count": count, "within": WITHIN}}
    retried = {"settle": {"retried": "g", "count": count, "within": WITHIN}}
    if readable:
        # Each member that owns queues logs it.
        owning = [name for name, own in group.shares(topic).items() if own]
        document["anomaly"] = [
            {"log": {"consumer": name, "matches": _NOT_SENT_BACK, "at_least": 1}} for name in owning
        ]
        document["healthy"] = [
            {"log": {"consumer": name, "matches": _NOT_SENT_BACK, "count": 0}} for name in owning
        ]
    never = {"wait": {"duration": "10s", "because": "the test is that no retry comes, which takes 1 s"}}
    started = document["steps"]
    document["steps"] = [*started, close, step, *([retried] if readable else [delivered, never])]
    return document, changed(document, steps=[*started, step, retried])


def closed_group(group: Scaled) -> Document | str:
    """RC0406: a group that may not consume."""
    group = alone(group)
    topic = group.topic
    step, count = send(group, topic, group.tags(group.real_topic)[:1], each=2)
    configs = [known.get(group.view.group, {}) for known in group.view.now.groups.values()]
    consuming = all(config.get("consumeEnable") is not False for config in configs)
    setting = "consumeBroadcastEnable" if consuming else "consumeEnable"
    document = base(
        group,
        f"A group with {setting} false: {count} of {count} messages wait",
        [step],
        [{"undelivered": {"group": "g", "topic": topic, "count": count}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )
    document["groups"] = {"g": {"settings": {setting: False}}}
    if consuming:  # of a group that broadcasts no broker knows the owners
        document["steps"] = [
            entry for entry in document["steps"] if "ownership" not in entry.get("settle", {})
        ]
    return document


def lacking_group(group: Scaled) -> tuple[Document, Document] | str:
    """RC0402: a broker that has lost the group, and makes none by itself."""
    if group.finding.level is not Level.ERROR:
        return "the broker makes the group at its first pull"
    topic = group.topic
    step, count = send(group, topic, group.tags(group.real_topic)[:1], each=2)
    document = base(
        group,
        f"A broker without the group: {count} of {count} messages wait",
        [
            {"delete-group": "g"},
            step,
            {"wait": {"duration": "7s", "because": "the test is that no pull gets a message"}},
        ],
        [{"undelivered": {"group": "g", "topic": topic, "count": count}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )
    document["cluster"] = {
        **document.get("cluster", {}),
        "broker": {"autoCreateSubscriptionGroup": False},
    }
    # These brokers create no group by themselves: a declared one is created before the first step.
    document["groups"] = {"g": {}}
    return document, {**control(group, document), "groups": document["groups"]}
