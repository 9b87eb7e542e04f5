"""What members answer otherwise: subscriptions, queues, versions, listeners."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import cycle
from typing import Any

from rocketchaos.harness.diagnose.exchange import Exchange
from tests.unit.diagnose.reports import (
    BROKER,
    SECOND,
    Change,
    Edit,
    answers,
    by_look,
    each,
)

FIRST, OTHER = "host-2@instance-1", "host-3@instance-1"
"""The members of the recorded group; the first one has queues 0 and 1."""


def all_alike(document: Any) -> None:
    for item in document["subscriptionSet"]:
        item["subString"] = "tagB" if not item["topic"].startswith("%RETRY%") else "*"


ALIKE: Change = (307, all_alike)
"""The members agree: nothing is wrong but what a test changes."""


def wants(*expressions: str) -> Change:
    """What each member wants of the topic, in turn."""
    turn = cycle(expressions)

    def change(document: Any) -> None:
        expression = next(turn)
        for item in document["subscriptionSet"]:
            if not item["topic"].startswith("%RETRY%"):
                item["subString"] = expression

    return 307, change


def sql(subscriptions: Iterable[Any]) -> None:
    for item in subscriptions:
        if not item["topic"].startswith("%RETRY%"):
            item.update(subString="a = 1", expressionType="SQL92", tagsSet=[], codeSet=[])


def by_sql(exchanges: Any) -> Any:
    """Members and broker have the same SQL92."""
    changes = (
        (307, lambda document: sql(document["subscriptionSet"])),
        (203, lambda document: sql(document["subscriptionTable"].values())),
    )
    for code, change in changes:
        exchanges = list(answers(code, change)(exchanges))
    return exchanges


def is_other(document: Any) -> bool:
    return '"queueId": 3' in str(list(document["mqTable"]))


def client_property(key: str, value: str, other: str = "") -> Change:
    """A property of both members, or one for the first and another for the second."""

    def change(document: Any) -> None:
        document["properties"][key] = other if other and is_other(document) else value

    return 307, change


def held_queues(**values: Any) -> Change:
    """Of every queue in a member's hands."""
    return 307, lambda document: [held.update(values) for held in document["mqTable"].values()] and None


def queue_table(change: Callable[[dict[str, Any]], Any]) -> Change:
    return 307, lambda document: change(document["mqTable"]) and None


def connections(change: Callable[[list[Any]], Any]) -> Change:
    return 203, lambda document: change(document["connectionSet"])


def languages(first: str, other: str) -> Change:
    return connections(
        lambda known: (
            [entry.update(language=first if entry["clientId"] == FIRST else other) for entry in known]
            and None
        )
    )


def client_version(number: Callable[[int], int]) -> Change:
    """The subVersions that the broker holds."""
    return (
        203,
        lambda document: (
            [
                item.update(subVersion=number(item["subVersion"]))
                for item in document["subscriptionTable"].values()
            ]
            and None
        ),
    )


def tries(every_ms: int, cached: int = 0) -> Change:
    """Members that pull so often, from look to look, and hold so many messages."""

    def change(document: Any, look: int) -> None:
        for held in document["mqTable"].values():
            held.update(cachedMsgCount=cached, cachedMsgMaxOffset=cached)
            held["lastPullTimestamp"] += every_ms * look
            held["lastConsumeTimestamp"] = held["lastPullTimestamp"]

    return by_look(307, change)


def listener(minutes: float) -> Change:
    def change(document: Any) -> None:
        for item in document["mqTable"].values():
            item["cachedMsgCount"] = 2
            item["lastConsumeTimestamp"] = item["lastPullTimestamp"] - int(minutes * 60_000)

    return 307, change


def orderly(locked: bool) -> tuple[Change, ...]:
    return client_property("PROP_CONSUMEORDERLY", "true"), held_queues(locked=locked)


def without_other(document: Any) -> str:
    kept = [known for known in document["connectionSet"] if known["clientId"] == FIRST]
    return json.dumps({**document, "connectionSet": kept})


def at_one_address(document: Any) -> None:
    table = document["brokerAddrTable"]
    table[SECOND]["brokerAddrs"] = dict(table[BROKER]["brokerAddrs"])


def on_unknown_broker(*, dropped: bool) -> Change:
    """A member has a queue of a broker that no name server knows, or has just given it up."""
    key = f'{{"brokerName": "{SECOND}", "queueId": 0, "topic": "topic-1"}}'

    def change(document: Any) -> None:
        if not is_other(document):
            table = document["mqTable"]
            table[key] = {**next(iter(table.values())), "droped": dropped}

    return 307, change


def without_queue(table: dict[str, Any], queue: int) -> None:
    for key in [key for key in table if f'"queueId": {queue}' in key and "%" not in key]:
        del table[key]


def with_queue(table: dict[str, Any], queue: int, *, dropped: bool = False) -> None:
    key = f'{{"brokerName": "{BROKER}", "queueId": {queue}, "topic": "topic-1"}}'
    table.setdefault(key, {**next(iter(table.values())), "droped": dropped})


STRATEGY = "allocateMessageQueueStrategy"
asking = client_property("clientRebalance", "false")


def pulling(kind: str) -> Change:
    """The other member says that it consumes like this, and reports no queues."""

    def change(document: Any) -> None:
        other = is_other(document)
        document["properties"]["PROP_CONSUME_TYPE"] = kind if other else "CONSUME_PASSIVELY"
        if other and kind == "CONSUME_ACTIVELY":
            document["mqTable"] = {}

    return 307, change


def all_of_it(rate: float) -> tuple[Change, ...]:
    """Members and broker want all messages, and members have pulled so many a second."""

    def want(subscriptions: Iterable[Any]) -> None:
        for item in subscriptions:
            item.update(subString="*", tagsSet=[], codeSet=[])

    def change(document: Any) -> None:
        want(document["subscriptionSet"])
        document["properties"].update(
            PROP_CONSUME_TYPE="CONSUME_PASSIVELY", PROP_CONSUMER_START_TIMESTAMP="1"
        )
        document["statusTable"] = {"topic-1": {"pullTPS": rate, "consumeOKTPS": rate}}

    return (307, change), (203, lambda document: want(document["subscriptionTable"].values()))


def popping_members(number: int) -> Change:
    """So many of the two members pop."""

    def change(document: Any) -> None:
        if number == 2 or is_other(document):
            document["mqPopTable"] = document.pop("mqTable")
            document["mqTable"] = {}

    return 307, change


def pulls_at(ahead_ms: int) -> Edit:
    """Members whose last pull was so long after the question."""

    def change(item: Exchange) -> Exchange:
        if item.code != 307:
            return item
        document = item.document
        for held in document["mqTable"].values():
            held["lastPullTimestamp"] = held["lastConsumeTimestamp"] = item.at_ms + ahead_ms
        return replace(item, body=json.dumps(document))

    return each(change)
