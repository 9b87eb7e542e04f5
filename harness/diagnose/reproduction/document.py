"""The common part of all written scenarios."""

from collections.abc import Sequence
from typing import Any

from rocketchaos.harness.diagnose.meaning import expression_text
from rocketchaos.harness.diagnose.model import Subscription
from rocketchaos.harness.diagnose.reproduction.clients import client_of, is_lite_pull, other_languages
from rocketchaos.harness.diagnose.reproduction.scaled import ALL_BY_SQL, Scaled, strategy
from rocketchaos.harness.diagnose.reproduction.told_apart import Message
from rocketchaos.harness.language.tags import SQL

WITHIN = "60s"
"""The limit of each condition."""
SHARE_TAKEN = "rebalanced result changed.*topic="
"""The line that a Java client logs once it has its share."""
ELSEWHERE = "elsewhere"
"""The topic of members that subscribe to none of the group's other topics."""
SQL_STANDS_FOR = f"`{ALL_BY_SQL}` stands for the group's own expression: all messages match it."
"""In descriptions of scenarios."""

Document = dict[str, Any]
"""The data of a scenario's file."""


def written_as(mine: Subscription) -> Document | str:
    """An expression as a scenario has it."""
    return {"sql": mine.expression} if mine.type == SQL else expression_text(mine)


def consumers(group: Scaled) -> dict[str, Document]:
    """The members, by their names in the scenario."""
    found: dict[str, Document] = {}
    told = {item.properties.get("messageModel") for item in group.view.answered}
    # A Go client doesn't report its model: brokers do, of the group.
    unsaid = "BROADCASTING" if group.view.broadcasting and "CLUSTERING" not in told else ""
    for name, member in group.members.items():
        item: Document = {
            "group": "g",
            "process": "own",
            "subscribe": {
                group.topics[topic]: written_as(mine)
                for topic, mine in member.subscriptions.items()
                if topic in group.topics
            }
            or {ELSEWHERE: "*"},
        }
        client = client_of(member, group.members.values())
        if client is not None:
            item["client"] = client
        if is_lite_pull(member):
            item["api"] = "lite-pull"
        if member.properties.get("postSubscriptionWhenPull") == "true" and not group.view.shares_queues:
            item["post_subscription_when_pull"] = True
        if strategy(member) != "average":
            item["strategy"] = strategy(member)
        if member.orderly:
            item["listener"] = "orderly"
        if (member.properties.get("messageModel") or unsaid) == "BROADCASTING":
            item["model"] = "broadcasting"
        found[name] = item
    return found


def base(
    group: Scaled, title: str, steps: list[Document], anomaly: list[Document], healthy: list[Document]
) -> Document:
    """A scenario that starts the members, waits until each has its share, and does `steps`."""
    document: Document = {
        "name": f"diagnosed-{group.finding.check.code.lower()}",
        "title": title,
        "description": f"Written by `rocketchaos diagnose` from a live group. {group.finding.check.code}: "
        f"{group.finding.check.title}. {group.finding.check.effect}",
        "marks": ["diagnosed"],
    }
    cluster: Document = {"brokers": list(group.brokers)} if len(group.brokers) > 1 else {}
    by_sql = [
        item
        for member in group.members.values()
        for topic, item in member.subscriptions.items()
        if item.type == SQL and topic in group.topics
    ]
    if by_sql:
        cluster["broker"] = {"enablePropertyFilter": True}
        if any(item.expression == ALL_BY_SQL for item in by_sql):
            document["description"] += f" {SQL_STANDS_FOR}"
    if cluster:
        document["cluster"] = cluster
    if sentence := other_languages(group.members.values(), group.view.by_grpc):
        document["description"] += f" {sentence}"
    members = consumers(group)
    topics = {name: {"queues": group.queues[name]} for name in group.topics.values()}
    if any(ELSEWHERE in item["subscribe"] for item in members.values()):
        topics[ELSEWHERE] = {"queues": 1}
    return {
        **document,
        "topics": topics,
        "consumers": members,
        "steps": [
            {"start": list(group.start_order)},
            {"settle": {"ownership": "g", "within": WITHIN}},
            *steps,
        ],
        "anomaly": anomaly,
        "healthy": healthy,
        "expected": "reproduced",
    }


def send(group: Scaled, topic: str, tags: Sequence[str], each: int = 1) -> tuple[Document, int]:
    """The step that sends each of the tags so often to every queue, and how many messages that are.

    A single empty tag is none.
    """
    per_queue = len(tags) * each
    count = per_queue * len(group.all_queues(topic))
    what: Document = {"tag": tags[0]} if len(tags) == 1 else {"tags": list(tags)}
    if list(tags) == [""]:
        what = {}
    return {"send": {"topic": topic, **what, "count": count, "per_queue": per_queue}}, count


def send_each(group: Scaled, topic: str, messages: Sequence[Message], each: int = 1) -> list[Document]:
    """The steps that send each of the messages so often to every queue: one for those with equal properties."""
    by_properties: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for message in messages:
        by_properties.setdefault(tuple(message.properties.items()), []).append(message.tag)
    steps = []
    for properties, tags in by_properties.items():
        step, _ = send(group, topic, tags, each)
        if properties:
            step["send"]["properties"] = dict(properties)
        steps.append(step)
    return steps


def fails(document: Document, times: int = 1) -> None:
    """Gives all members a listener that fails; the retry of a concurrent one comes after 1 s.

    Others choose the time themselves: an orderly listener retries in place, and by POP its client or broker does.
    """
    for item in document["consumers"].values():
        item["behaviour"] = {"fail": times}
        if item.get("listener") != "orderly" and item.get("api") != "pop" and item.get("client") != "grpc":
            item["retry_delay_level"] = 1


def hands_back(document: Document) -> None:
    """Gives all members a concurrent listener that fails: an orderly one hands no message back to a broker."""
    for item in document["consumers"].values():
        item.pop("listener", None)
    fails(document)
