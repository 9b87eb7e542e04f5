"""The control of a written scenario."""

import copy

from rocketchaos.harness.diagnose.reproduction.document import WITHIN, Document
from rocketchaos.harness.diagnose.reproduction.scaled import Scaled, wanted_tags

_CAUSES = {
    "pause",
    "resume",
    "wait",
    "heartbeat",
    "stop",
    "restart",
    "reset-offset",
    "topic-config",
    "broker-config",
    "suspend-consumer",
    "subscribe",
    "delete-group",
    "expire-files",
}
"""Steps that make the anomaly, or wait for it."""


def control(group: Scaled, document: Document) -> Document:
    """The same with the one cause taken away: its anomaly must be absent."""
    consumers = {name: dict(item) for name, item in document["consumers"].items()}
    for consumer in consumers.values():
        for cause in ("strategy", "queues", "behaviour", "model", "client_id", "through"):
            consumer.pop(cause, None)
        consumer["subscribe"] = {
            name: " || ".join(group.tags(real)) if _has_tags(group, real) else "*"
            for real, name in group.topics.items()
        }
    topics = {name: {"queues": item["queues"]} for name, item in document["topics"].items()}
    if group.finding.check.code == "RC0303":
        topics[group.topic] = {"queues": len(group.members)}
    steps = [
        step
        for step in copy.deepcopy(document["steps"])
        if not _CAUSES & set(step)
        and not {"delivered", "blocked", "dead_letters", "retried", "log"} & set(step.get("settle", {}))
    ]
    for step in steps:
        step.get("send", {}).pop("may_fail", None)
    if not any("ownership" in step.get("settle", {}) for step in steps):
        steps.insert(1, {"settle": {"ownership": "g", "within": WITHIN}})
    end = {"settle": {"offsets": "g", "topic": group.topic, "lag": 0, "within": WITHIN}}
    if not any("send" in step for step in steps):
        end = steps[-1]
    steps = steps if end in steps else [*steps, end]
    return changed(
        {key: value for key, value in document.items() if key != "groups"},
        topics=topics,
        consumers=consumers,
        steps=steps,
    )


def changed(document: Document, **parts: object) -> Document:
    """The control that differs in these parts alone."""
    return {
        **copy.deepcopy(document),
        "name": f"{document['name']}-control",
        "title": f"{document['title']} (the control: not so)",
        **parts,
        "expected": "not-reproduced",
    }


def _has_tags(group: Scaled, real: str) -> bool:
    return any(
        wanted_tags(member.subscriptions[real])
        for member in group.members.values()
        if real in member.subscriptions
    )
