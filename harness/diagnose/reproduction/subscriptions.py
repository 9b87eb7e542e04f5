"""Scenarios of members that disagree, and of brokers that hold something else."""

import re
from dataclasses import replace

from rocketchaos.harness.diagnose.checks.unwanted import variants
from rocketchaos.harness.diagnose.fate import carries_its_own, entries_of
from rocketchaos.harness.diagnose.meaning import expression_text, meaning, takes
from rocketchaos.harness.diagnose.reproduction.clients import is_lite_pull
from rocketchaos.harness.diagnose.reproduction.control import changed, control
from rocketchaos.harness.diagnose.reproduction.document import WITHIN, Document, base, send
from rocketchaos.harness.diagnose.reproduction.scaled import ALL_BY_SQL, Scaled, wanted_tags
from rocketchaos.harness.diagnose.view import BY_GRPC
from rocketchaos.harness.language.tags import ALL, SQL, hash_code

_SEPARATORS = re.compile(r"[\s,;|&=*]+")
_FUTURE = 4_102_444_800_000_000_000
"""The subVersion of the year 2100 in nanoseconds, as Go clients send it: no clock gives a greater one."""


def different(group: Scaled) -> Document | tuple[Document, Document] | str:
    """RC0101: whoever's subscription is stored, this many messages that a member wants reach no listener."""
    topic, real = group.topic, group.real_topic
    subscribed = {
        frozenset(item.subscriptions.keys() & group.topics.keys()) for item in group.members.values()
    }
    if len(subscribed) > 1 and all(real in topics for topics in subscribed):
        # Heartbeats would remove the other topics again and again, and no subscription would settle (RC0106).
        alone = replace(group, topics={real: topic})
        written = different(alone)
        return (written, control(alone, written)) if isinstance(written, dict) else written
    tags = group.tags(real)
    step, count = send(group, topic, tags)
    wants = {
        name: wanted_tags(member.subscriptions[real])
        for name, member in group.members.items()
        if real in member.subscriptions
    }
    if len(wants) < len(group.members):
        return "its members also want different topics: RC0106 has the scenario"
    if group.view.shares_queues:
        return _different_by_pop(group)
    if group.view.broadcasting:
        return _different_by_broadcasting(group)

    def passes(name: str, tag: str) -> bool:
        return not wants[name] or tag in wants[name]

    def passes_broker(name: str, tag: str) -> bool:
        # It compares hashes alone: `Aa` and `BB` have the same one.
        return not wants[name] or hash_code(tag) in map(hash_code, wants[name])

    # A broker filters what these pull by the expression of the pull, whatever it holds for the group.
    own_alone = {name for name, member in group.members.items() if carries_its_own(group.view, member)}
    shares = group.shares(topic)
    most = max(
        sum(
            (owner in own_alone or passes_broker(holder, tag)) and passes(owner, tag)
            for owner, own in shares.items()
            for _ in own
            for tag in tags
        )
        for holder in wants
    )
    if most >= count:
        return "on so few members and queues nothing would be lost"
    least = count - most
    # An offset of a lite pull consumer stays before messages that the broker skips, until one comes after them.
    end: Document = (
        {"wait": {"duration": "10s", "because": "the test is what no member gets"}}
        if any(is_lite_pull(member) for member in group.members.values())
        else {"settle": {"offsets": "g", "topic": topic, "lag": 0, "within": WITHIN}}
    )
    return base(
        group,
        f"Members of one group subscribe differently: at least {least} of {count} messages reach nobody",
        [{"settle": {"subscription": "g", "topic": topic, "within": WITHIN}}, step, end],
        [{"undelivered": {"group": "g", "topic": topic, "at_least": least}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )


def _different_by_broadcasting(group: Scaled) -> tuple[Document, Document] | str:
    """A broker drops what the stored subscription doesn't match, for all members."""
    topic = group.topic
    tags = group.tags(group.real_topic)
    step, count = send(group, topic, tags)
    wants = [wanted_tags(member.subscriptions[group.real_topic]) for member in group.members.values()]
    most = max(
        sum(not holder or hash_code(tag) in map(hash_code, holder) for tag in tags) for holder in wants
    )
    if most == len(tags):
        return "if the broker holds the widest subscription, nothing is lost"
    least = count * (len(tags) - most) // len(tags)
    document = base(
        group,
        f"Members that broadcast subscribe differently: at least {least} of {count} messages reach nobody",
        [
            {"settle": {"subscription": "g", "topic": topic, "within": WITHIN}},
            step,
            {"wait": {"duration": "10s", "because": "the test is what no member gets"}},
        ],
        [{"undelivered": {"group": "g", "topic": topic, "at_least": least}}],
        [{"delivered": {"to": "g", "topic": topic, "at_least": count}}],
    )
    other = control(group, document)
    for consumer in other["consumers"].values():
        consumer["model"] = "broadcasting"
    other["steps"][-1] = {"settle": {"delivered": "g", "topic": topic, "count": count, "within": WITHIN}}
    return document, other


def _different_by_pop(group: Scaled) -> tuple[Document, Document]:
    """Whoever pops a message that it doesn't want skips it for all: how many are lost is a race."""
    topic = group.topic
    step, count = send(group, topic, group.tags(group.real_topic), each=2)
    document = base(
        group,
        f"Members that share all queues (POP) subscribe differently: some of {count} messages reach nobody",
        [step, {"wait": {"duration": "10s", "because": "the test is what no member gets"}}],
        [{"undelivered": {"group": "g", "topic": topic, "at_least": 1}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )
    finding = group.finding
    document["description"] = document["description"].replace(finding.check.effect, finding.effect)
    document["rocketmq"] = ">=5.0"
    for name, member in group.members.items():
        by_grpc = group.view.way(member.client_id) == BY_GRPC
        document["consumers"][name].update({"client": "grpc"} if by_grpc else {"api": "pop"})
    other = control(group, document)
    other["steps"][-1] = {"settle": {"delivered": "g", "topic": topic, "count": count, "within": WITHIN}}
    return document, other


def different_topics(group: Scaled) -> Document | str:
    """RC0106: what is in the queues of members that don't want the topic waits."""
    if group.view.broadcasting:
        return "by broadcasting nothing is lost: how late messages come is a matter of heartbeats"
    topic, real = group.topic, group.real_topic
    wanting = {name for name, member in group.members.items() if real in member.subscriptions}
    others = [name for name in group.members if name not in wanting]
    step, count = send(group, topic, group.tags(real)[:1], each=2)
    theirs = sum(len(own) for name, own in group.shares(topic).items() if name in wanting) * 2
    if not theirs or theirs == count or not others:
        return "on so few members and queues nothing would wait"
    return base(
        group,
        f"Members of one group subscribe to different topics: {count - theirs} of {count} messages wait",
        [
            step,
            # While they run, their heartbeats remove the topic again and again: what comes then is a race.
            {"pause": others},
            {"settle": {"delivered": "g", "topic": topic, "count": theirs, "within": WITHIN}},
            {"resume": others},
        ],
        [{"undelivered": {"group": "g", "topic": topic, "count": count - theirs, "because": "stranded"}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )


def nobodys(group: Scaled) -> Document | str:
    """RC0102: a broker filters by what a heartbeat of the future has left there."""
    topic, real = group.topic, group.real_topic
    wanted = group.view.meanings(real)
    held = next((item for item in group.view.held(real).values() if meaning(item) not in wanted), None)
    if held is None or held.type == SQL:
        return "a hand-made member can't send the subscription that the broker holds"
    tags = group.tags(real)
    step, count = send(group, topic, tags)
    dropped = sum(
        not takes(held, hash_code(tag), tag)
        for owner, own in group.shares(topic).items()
        for _ in own
        for tag in tags
        if takes(group.members[owner].subscriptions[real], hash_code(tag), tag)
    )
    if not dropped:
        return "it lets all pass that a member wants"
    text = expression_text(held)
    return base(
        group,
        f"A broker holds `{text}`, which no member wants: {dropped} of {count} messages reach nobody",
        [
            {
                "heartbeat": {
                    "client": "gone",
                    "group": "g",
                    "subscribe": {topic: {"expression": text, "version": _FUTURE}},
                }
            },
            {"heartbeat": {"close": "gone"}},
            # What the broker holds before the sending is a part of the proof.
            {"observe": "held"},
            step,
            {"settle": {"offsets": "g", "topic": topic, "lag": 0, "within": WITHIN}},
        ],
        [
            {
                "undelivered": {
                    "group": "g",
                    "topic": topic,
                    "count": dropped,
                    "because": "filtered-by-broker",
                }
            }
        ],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )


def misread(group: Scaled) -> tuple[Document, Document] | str:
    """RC0107: the tags that a person reads in the expression are not the tag that RocketMQ has."""
    topic, real = group.topic, group.real_topic
    tags = group.tags(real)
    meant = sorted({part for tag in tags for part in _SEPARATORS.split(tag) if part})
    lost = [tag for tag in meant if tag not in tags]
    if ALL in tags:  # as in ` * ` and `tagA || *`: all is meant
        meant, lost = [ALL], [tag for tag in ("tagA", "tagB", "tagC") if tag not in tags][:1]
    if not lost:
        return "no tag can be read in its expression"
    step, count = send(group, topic, lost)
    document = base(
        group,
        f"An expression that RocketMQ reads as a tag: {count} of {count} messages reach nobody",
        [step, {"settle": {"offsets": "g", "topic": topic, "lag": 0, "within": WITHIN}}],
        [{"undelivered": {"group": "g", "topic": topic, "count": count}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )
    other = control(group, document)
    for consumer in other["consumers"].values():
        consumer["subscribe"][topic] = " || ".join(meant)
    return document, other


def unwanted(group: Scaled) -> tuple[Document, Document] | str:
    """RC0108: producers send a tag that no member wants."""
    topic = group.topic
    tags = group.tags(group.real_topic)
    entries = [
        entry
        for queue in group.view.queues(group.real_topic)
        for entry in entries_of(group.view, group.real_topic, queue) or ()
    ]
    codes = {entry.tags_code for entry in entries}
    similar = sorted(tag for tag in variants(tags) if hash_code(tag) in codes)
    sent = (similar or ["other"])[0]
    if sent != sent.strip():
        return "the language has no tags with blanks around them"
    step, count = send(group, topic, [sent])
    document = base(
        group,
        f"Producers send `{sent}`, which no member wants: {count} of {count} messages reach nobody",
        [step, {"settle": {"offsets": "g", "topic": topic, "lag": 0, "within": WITHIN}}],
        [{"undelivered": {"group": "g", "topic": topic, "count": count}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )
    other = control(group, document)
    for consumer in other["consumers"].values():
        consumer["subscribe"][topic] = sent
    return document, other


def no_sql(group: Scaled) -> tuple[Document, Document] | str:
    """RC0407: a broker without enablePropertyFilter refuses all pulls by SQL92."""
    topic = group.topic
    step, count = send(group, topic, ["tagA"])
    document = base(
        group,
        f"A broker that no longer filters by SQL92: {count} of {count} messages wait",
        [
            {"broker-config": {"set": {"enablePropertyFilter": False}}},
            step,
            {"wait": {"duration": "7s", "because": "the test is that no pull gets a message"}},
        ],
        [{"undelivered": {"group": "g", "topic": topic, "count": count}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )
    document["description"] += (
        " A client doesn't start on brokers that refuse SQL92, so they refuse it from then on."
    )
    for consumer in document["consumers"].values():
        consumer["subscribe"] = {name: {"sql": ALL_BY_SQL} for name in group.topics.values()}
    steps = [item for item in document["steps"] if not {"broker-config", "wait"} & set(item)]
    steps.append({"settle": {"offsets": "g", "topic": topic, "lag": 0, "within": WITHIN}})
    return document, changed(document, steps=steps)
