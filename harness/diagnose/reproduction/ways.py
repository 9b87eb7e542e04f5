"""Scenarios of members that connect in different ways."""

import copy

from rocketchaos.harness.diagnose.reproduction.clients import is_java
from rocketchaos.harness.diagnose.reproduction.control import control
from rocketchaos.harness.diagnose.reproduction.document import SHARE_TAKEN, WITHIN, Document, base, send
from rocketchaos.harness.diagnose.reproduction.scaled import Scaled, pops, wanted_tags
from rocketchaos.harness.diagnose.view import BY_GRPC, BY_REMOTING

_WORKS_FOR = "3s"
"""Longer than it takes until a message that has just come is popped as well."""


def different(group: Scaled) -> tuple[Document, Document] | str:
    """RC0211: each side consumes all queues."""
    ways = {name: group.view.way(member.client_id) for name, member in group.members.items()}
    if len(set(ways.values())) == 1:
        return "all members that run here connect in the same way"
    document = _twice(
        group,
        "Members of one group connect in different ways: messages come to each side",
        [name for name, way in ways.items() if way != BY_GRPC],
    )
    if isinstance(document, str):
        return document
    document["cluster"] = {**document.get("cluster", {}), "proxy": "cluster"}
    for name, way in ways.items():
        if way == BY_GRPC:
            document["consumers"][name]["client"] = "grpc"
        elif way == BY_REMOTING:
            document["consumers"][name]["through"] = "proxy"
    return document, _straight(group, document, "client", "grpc")


def popping(group: Scaled) -> tuple[Document, Document] | str:
    """RC0214: a message that one member pulls, another pops."""
    popping = [name for name, member in group.members.items() if pops(member)]
    pulling = [name for name in group.members if name not in popping]
    if not popping or not pulling:
        return "all members that run here take messages in the same way"
    document = _twice(group, "Some members pop, others pull: messages come to each side", pulling)
    if isinstance(document, str):
        return document
    for name in popping:
        document["consumers"][name]["api"] = "pop"
        document["consumers"][name].pop("post_subscription_when_pull", None)  # each pop brings its expression
    return document, _straight(group, document, "api", "pop")


def share_all_queues(group: Scaled, document: Document) -> None:
    """Lets all members of a scenario take messages by POP, as those of the live group do."""
    finding = group.finding
    document["description"] = document["description"].replace(finding.check.effect, finding.effect)
    document["rocketmq"] = ">=5.0"
    for name, member in group.members.items():
        by_grpc = group.view.way(member.client_id) == BY_GRPC
        document["consumers"][name].update({"client": "grpc"} if by_grpc else {"api": "pop"})


def _twice(group: Scaled, title: str, remoting: list[str]) -> Document | str:
    """A scenario of 5.x in which messages come twice; the members of `remoting` log their shares of queues."""
    topic = group.topic
    tag = _wanted_by_all(group)
    if tag is None:
        return "no tag is wanted by all members, so no message comes to each side"
    first, before = send(group, topic, [tag])
    second, _ = send(group, topic, [tag], each=2)
    document = base(
        group,
        title,
        [],
        [{"duplicated": {"to": "g", "topic": topic, "at_least": 1}}],
        [{"duplicated": {"to": "g", "topic": topic, "count": 0}}],
    )
    document["rocketmq"] = ">=5.0"
    for name in remoting:
        # A pop begins at the offset that the group has stored: what a quick listener has finished isn't popped.
        document["consumers"][name]["behaviour"] = {"slow": _WORKS_FOR}
    document["steps"] = [
        {"start": list(group.start_order)},
        *(
            {"settle": {"log": name, "matches": SHARE_TAKEN, "within": WITHIN}}
            for name in remoting
            if is_java(group.members[name])
        ),
        first,
        {"settle": {"delivered": "g", "topic": topic, "count": before, "within": WITHIN}},
        {
            "wait": {
                "duration": "5s",
                "because": "no ownership can settle where members don't know each other",
            }
        },
        second,
        {"wait": {"duration": "7s", "because": "the test is what comes to a second member"}},
    ]
    return document


def _wanted_by_all(group: Scaled) -> str | None:
    """A tag whose messages come to each side, whichever subscription a broker holds."""
    real = group.real_topic
    wanted = [
        wanted_tags(item.subscriptions[real]) for item in group.members.values() if real in item.subscriptions
    ]
    return next((tag for tag in group.tags(real) if all(tag in tags or not tags for tags in wanted)), None)


def _straight(group: Scaled, document: Document, key: str, value: str) -> Document:
    """The control, in which no consumer has this value."""
    straight = copy.deepcopy(document)
    for consumer in straight["consumers"].values():
        if consumer.get(key) == value:
            del consumer[key]
    straight["steps"] = [step for step in straight["steps"] if "log" not in step.get("settle", {})]
    return control(group, straight)
