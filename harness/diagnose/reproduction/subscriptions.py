"""Scenarios of members that disagree, and of brokers that hold something else."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from rocketchaos.harness.diagnose.checks.subscriptions import BY_SQL
from rocketchaos.harness.diagnose.checks.unwanted import variants
from rocketchaos.harness.diagnose.fate import Entry, carries_its_own, entries_of
from rocketchaos.harness.diagnose.meaning import expression_text, meaning, takes
from rocketchaos.harness.diagnose.model import Subscription
from rocketchaos.harness.diagnose.reproduction.clients import is_go, is_lite_pull, is_usual
from rocketchaos.harness.diagnose.reproduction.control import changed, control
from rocketchaos.harness.diagnose.reproduction.document import (
    WITHIN,
    Document,
    base,
    send,
    send_each,
    written_as,
)
from rocketchaos.harness.diagnose.reproduction.members import SEE_RC0101, want_different
from rocketchaos.harness.diagnose.reproduction.scaled import ALL_BY_SQL, Scaled, wanted_tags, with_all_by_sql
from rocketchaos.harness.diagnose.reproduction.told_apart import Message, messages
from rocketchaos.harness.diagnose.reproduction.ways import share_all_queues
from rocketchaos.harness.diagnose.sql_judge import Judge, Unjudged
from rocketchaos.harness.language.tags import ALL, SQL, hash_code, tags_of

_SEPARATORS = re.compile(r"[\s,;|&=*]+")
_PLAIN = re.compile(r"[\w.-]{1,60}", re.ASCII)
"""A tag that a scenario has as it is."""
_FUTURE = 4_102_444_800_000_000_000
"""The subVersion of the year 2100 in nanoseconds, as Go clients send it: no clock gives a greater one."""


def different(group: Scaled) -> tuple[Document, Document] | str:
    """RC0101: whoever's subscription is stored, this many messages that a member wants reach no listener."""
    topic, real = group.topic, group.real_topic
    subscribed = {
        frozenset(item.subscriptions.keys() & group.topics.keys()) for item in group.members.values()
    }
    if len(subscribed) > 1 and all(real in topics for topics in subscribed):
        # Heartbeats would remove the other topics again and again, and no subscription would settle (RC0106).
        return different(replace(group, topics={real: topic}))
    if any(real not in topics for topics in subscribed):
        return "its members also want different topics: RC0106 has the scenario"
    wanted = {name: member.subscriptions[real] for name, member in group.members.items()}
    try:
        found = messages(wanted, group.tags(real))
    except Unjudged as reason:
        if all(item.type == SQL for item in wanted.values()):
            return str(reason)
        members = {name: with_all_by_sql(member) for name, member in group.members.items()}
        return different(replace(group, members=members))
    write = _by_broadcasting if group.view.broadcasting else _by_clustering
    pair = _by_pop(group, found) if group.view.shares_queues else write(group, found)
    if isinstance(pair, str):
        return pair
    document, other = pair
    if any(item.type == SQL for item in wanted.values()):
        for written in (document, other):
            written["description"] = written["description"].replace(group.finding.check.effect, BY_SQL)
        for consumer in other["consumers"].values():
            consumer["subscribe"][topic] = {"sql": _either(wanted.values())}
    return document, other


def _by_clustering(group: Scaled, found: Sequence[Message]) -> tuple[Document, Document] | str:
    topic = group.topic
    own_alone = _own_alone(group)
    shares = group.shares(topic)

    def delivered(holder: str) -> int:
        return sum(
            (owner if owner in own_alone else holder) in message.passes and owner in message.suits
            for owner, own in shares.items()
            for _ in own
            for message in found
        )

    count = len(found) * len(group.all_queues(topic))
    steps: list[Document] = [{"settle": {"subscription": "g", "topic": topic, "within": WITHIN}}]
    holders = _holders(group)
    least = count - max(map(delivered, holders))
    holder = min(holders, key=delivered)
    if not least and delivered(holder) < count and is_usual(group.members[holder]) and not own_alone:
        steps += [_stored_last(group, holder), *steps]
        least = count - delivered(holder)
    if not least:
        return "on so few members and queues nothing would be lost"
    # An offset of a lite pull consumer stays before messages that the broker skips, until one comes after them.
    end: Document = (
        {"wait": {"duration": "10s", "because": "the test is what no member gets"}}
        if any(is_lite_pull(member) for member in group.members.values())
        else {"settle": {"offsets": "g", "topic": topic, "lag": 0, "within": WITHIN}}
    )
    document = base(
        group,
        f"Members of one group subscribe differently: at least {least} of {count} messages reach nobody",
        [*steps, *send_each(group, topic, found), end],
        [{"undelivered": {"group": "g", "topic": topic, "at_least": least}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )
    return document, control(group, document)


def _own_alone(group: Scaled) -> set[str]:
    """A broker filters what these pull by the expression of the pull, whatever it holds for the group."""
    return {name for name, member in group.members.items() if carries_its_own(group.view, member)}


def _holders(group: Scaled) -> list[str]:
    """The members whose subscription brokers may hold: versions of Go clients, in nanoseconds, win over others."""
    return [name for name, member in group.members.items() if is_go(member)] or list(group.members)


def _stored_last(group: Scaled, holder: str) -> Document:
    """The member subscribes again, so that brokers hold its subscription: others' let all messages pass."""
    mine = group.members[holder].subscriptions[group.real_topic]
    return {"subscribe": {"consumer": holder, "topic": group.topic, "expression": written_as(mine)}}


def _by_broadcasting(group: Scaled, found: Sequence[Message]) -> tuple[Document, Document] | str:
    """A broker drops what the stored subscription doesn't match, for all members."""
    topic = group.topic
    queues = len(group.all_queues(topic))
    own_alone = _own_alone(group)
    passing = {
        holder: sum(
            any((name if name in own_alone else holder) in message.passes for name in message.suits)
            for message in found
        )
        for holder in _holders(group)
    }
    holder = min(passing, key=passing.__getitem__)
    steps: list[Document] = [{"settle": {"subscription": "g", "topic": topic, "within": WITHIN}}]
    count, most = len(found), max(passing.values())
    if most == count and passing[holder] < count and is_usual(group.members[holder]):
        steps += [_stored_last(group, holder), *steps]
        most = passing[holder]
    if most == count:
        return "if the broker holds the widest subscription, nothing is lost"
    count, least = count * queues, (count - most) * queues
    document = base(
        group,
        f"Members that broadcast subscribe differently: at least {least} of {count} messages reach nobody",
        [
            *steps,
            *send_each(group, topic, found),
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


def _by_pop(group: Scaled, found: Sequence[Message]) -> tuple[Document, Document] | str:
    """Whoever pops a message that it doesn't want skips it for all: how many are lost is a race."""
    if group.view.pulling(group.real_topic):
        return "some members pop, others pull: the lost messages depend on which side comes later"
    topic = group.topic
    count = 2 * len(found) * len(group.all_queues(topic))
    document = base(
        group,
        f"Members that share all queues (POP) subscribe differently: some of {count} messages reach nobody",
        [
            *send_each(group, topic, found, each=2),
            {"wait": {"duration": "10s", "because": "the test is what no member gets"}},
        ],
        [{"undelivered": {"group": "g", "topic": topic, "at_least": 1}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )
    share_all_queues(group, document)
    other = control(group, document)
    other["steps"][-1] = {"settle": {"delivered": "g", "topic": topic, "count": count, "within": WITHIN}}
    return document, other


def _either(wanted: Iterable[Subscription]) -> str:
    """SQL92 that matches what any of them does; a tag is the property TAGS."""
    texts = dict.fromkeys(
        item.expression if item.type == SQL else _of_tags(tags_of(item.expression)) for item in wanted
    )
    return " OR ".join(f"({text})" for text in texts)


def _of_tags(tags: Collection[str]) -> str:
    texts = ["'" + tag.replace("'", "''") + "'" for tag in sorted(tags)]
    return f"TAGS IN ({', '.join(texts)})" if texts else ALL_BY_SQL


def different_topics(group: Scaled) -> Document | str:
    """RC0106: what is in the queues of members that don't want the topic waits."""
    if group.view.broadcasting:
        return "by broadcasting nothing is lost: how late messages come is a matter of heartbeats"
    topic, real = group.topic, group.real_topic
    wanting = [name for name, member in group.members.items() if real in member.subscriptions]
    others = [name for name in group.members if name not in wanting]
    if wanting:
        group = _alike(group, real, wanting)
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


def _alike(group: Scaled, real: str, wanting: Sequence[str]) -> Scaled:
    """The group, whose members that want a topic all want what the first one does: otherwise it is RC0101 too."""
    wanted = group.members[wanting[0]].subscriptions[real]
    alike = {
        name: replace(member, subscriptions={**member.subscriptions, real: wanted})
        for name, member in group.members.items()
        if name in wanting
    }
    return replace(group, members={**group.members, **alike})


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
        if takes(group.members[owner].subscriptions[real], hash_code(tag), tag) is not False
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
    some_want_all = any(
        real in item.subscriptions and not wanted_tags(item.subscriptions[real])
        for item in group.members.values()
    )
    if want_different(group, real) and (some_want_all or not lost):
        return SEE_RC0101
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
    """RC0108: producers send a tag that no member wants, or messages that the members' SQL92 doesn't match."""
    topic = group.topic
    own = next(iter(group.view.own(group.real_topic).values()))
    if own.type == SQL:
        if _may_match_a_bare_message(own.expression):
            return "which properties the messages have is not recorded"
        sent = ""
    else:
        entries = [
            entry
            for queue in group.view.queues(group.real_topic)
            for entry in entries_of(group.view, group.real_topic, queue) or ()
        ]
        sent = unwanted_tag(entries, group.tags(group.real_topic))
    if sent != sent.strip():
        return "the language has no tags with blanks around them"
    step, count = send(group, topic, [sent])
    what = f"`{sent}`" if sent else f"messages without a {'property' if own.type == SQL else 'tag'}"
    document = base(
        group,
        f"Producers send {what}, which no member wants: {count} of {count} messages reach nobody",
        [step, {"settle": {"offsets": "g", "topic": topic, "lag": 0, "within": WITHIN}}],
        [{"undelivered": {"group": "g", "topic": topic, "count": count}}],
        [{"delivered": {"to": "g", "topic": topic, "count": count}}],
    )
    other = control(group, document)
    for consumer in other["consumers"].values():
        consumer["subscribe"][topic] = sent or ALL
    return document, other


def _may_match_a_bare_message(sql: str) -> bool:
    """Whether SQL92 matches a message without tag and properties, as far as anybody can tell."""
    try:
        return Judge([sql]).of_message({})[0]
    except Unjudged:
        return True


def unwanted_tag(entries: Sequence[Entry], wanted: Collection[str]) -> str:
    """One that is written like a wanted one, else the most frequent one, as far as it is known; empty: no tag."""
    codes = {entry.tags_code for entry in entries}
    if similar := sorted(tag for tag in variants(wanted) if hash_code(tag) in codes):
        return similar[0]
    names = Counter(
        "" if entry.tags_code == 0 else entry.tag if entry.tag and _PLAIN.fullmatch(entry.tag) else "other"
        for entry in entries
    )
    return names.most_common(1)[0][0]


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
