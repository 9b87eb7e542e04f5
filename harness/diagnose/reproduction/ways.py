"""Scenarios of members that connect in different ways."""

from __future__ import annotations

import copy

from rocketchaos.harness.diagnose.reproduction.control import control
from rocketchaos.harness.diagnose.reproduction.document import SHARE_TAKEN, WITHIN, Document, base, send
from rocketchaos.harness.diagnose.reproduction.scaled import Scaled
from rocketchaos.harness.diagnose.view import BY_GRPC, BY_REMOTING


def different(group: Scaled) -> tuple[Document, Document] | str:
    """RC0211: each side consumes all queues."""
    ways = {name: group.view.way(member.client_id) for name, member in group.members.items()}
    if len(set(ways.values())) == 1:
        return "all members that run here connect in the same way"
    topic = group.topic
    tags = group.tags(group.real_topic)[:1]
    first, before = send(group, topic, tags)
    second, _ = send(group, topic, tags, each=2)
    document = base(
        group,
        "Members of one group connect in different ways: messages come to each side",
        [],
        [{"duplicated": {"to": "g", "topic": topic, "at_least": 1}}],
        [{"duplicated": {"to": "g", "topic": topic, "count": 0}}],
    )
    document["rocketmq"] = ">=5.0"
    document["cluster"] = {**document.get("cluster", {}), "proxy": "cluster"}
    for name, way in ways.items():
        if way == BY_GRPC:
            document["consumers"][name]["client"] = "grpc"
        elif way == BY_REMOTING:
            document["consumers"][name]["through"] = "proxy"
    document["steps"] = [
        {"start": list(group.start_order)},
        *(
            {"settle": {"log": name, "matches": SHARE_TAKEN, "within": WITHIN}}
            for name, way in ways.items()
            if way != BY_GRPC
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
    straight = copy.deepcopy(document)
    for consumer in straight["consumers"].values():
        if consumer.get("client") == "grpc":
            del consumer["client"]
    straight["steps"] = [step for step in straight["steps"] if "log" not in step.get("settle", {})]
    return document, control(group, straight)
