"""For every check: what a cluster answers where its code must come out, and what is nearly so and must not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any

from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.language.tags import hash_code
from tests.unit.diagnose.reports import (
    BROKER,
    SECOND,
    Change,
    Edit,
    answers,
    by_look,
    delayed,
    each,
    members,
    popped,
    renamed,
    second_broker,
    unanswered,
    undecided,
    with_slave,
)

FIRST, OTHER = "host-2@instance-1", "host-3@instance-1"
"""The members of the recorded group; the first one has queues 0 and 1."""


@dataclass(frozen=True, slots=True)
class Planted:
    """One malady, made of the answers of a healthy group."""

    code: str
    changes: tuple[Change, ...]
    near: tuple[Change, ...]
    looks: int = 1
    """2 s apart."""
    scope: Mapping[str, Any] = field(default_factory=dict)


def _alike(document: Any) -> None:
    for item in document["subscriptionSet"]:
        item["subString"] = "tagB" if not item["topic"].startswith("%RETRY%") else "*"


ALIKE: Change = (307, _alike)
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


def _removed_queue(end: int) -> Edit:
    """The group's offset in queue 4 is 3; the topic has the queues 0 to 3."""

    def add(exchanges: Any) -> Any:
        for item in exchanges:
            if item.code == 43:
                document = item.document
                for key, offsets in document["offsetTable"].items():
                    if not key.startswith("%RETRY%"):
                        offsets["4"] = 3
                topic = next(key for key in document["offsetTable"] if "%" not in key).partition("@")[0]
                fields = {"topic": topic, "queueId": "4", "index": "0", "count": "1"}
                body = json.dumps({"queueData": [], "minQueueIndex": 0, "maxQueueIndex": end})
                yield replace(item, body=json.dumps(document))
                yield replace(item, code=321, fields=fields, body=body)
            else:
                yield item

    return add


def _sql(subscriptions: Iterable[Any]) -> None:
    for item in subscriptions:
        if not item["topic"].startswith("%RETRY%"):
            item.update(subString="a = 1", expressionType="SQL92", tagsSet=[], codeSet=[])


def _by_sql(exchanges: Any) -> Any:
    """Members and broker have the same SQL92."""
    changes = (
        (307, lambda document: _sql(document["subscriptionSet"])),
        (203, lambda document: _sql(document["subscriptionTable"].values())),
    )
    for code, change in changes:
        exchanges = list(answers(code, change)(exchanges))
    return exchanges


def _is_other(document: Any) -> bool:
    return '"queueId": 3' in str(list(document["mqTable"]))


def _property(key: str, value: str, other: str = "") -> Change:
    """A property of both members, or one for the first and another for the second."""

    def change(document: Any) -> None:
        document["properties"][key] = other if other and _is_other(document) else value

    return 307, change


def _held(**values: Any) -> Change:
    """Of every queue in a member's hands."""
    return 307, lambda document: [held.update(values) for held in document["mqTable"].values()] and None


def _queues(change: Callable[[dict[str, Any]], Any]) -> Change:
    return 307, lambda document: change(document["mqTable"]) and None


def _connections(change: Callable[[list[Any]], Any]) -> Change:
    return 203, lambda document: change(document["connectionSet"])


def _languages(first: str, other: str) -> Change:
    return _connections(
        lambda known: (
            [entry.update(language=first if entry["clientId"] == FIRST else other) for entry in known]
            and None
        )
    )


def _version(number: Callable[[int], int]) -> Change:
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


def _no_topic(document: Any) -> None:
    document["mqTable"] = {}
    document["subscriptionSet"] = [item for item in document["subscriptionSet"] if "%RETRY%" in item["topic"]]


def _other_topic(document: Any) -> None:
    if _is_other(document):
        _no_topic(document)


def _route(**fields: int) -> Change:
    return 105, lambda document: [item.update(fields) for item in document.get("queueDatas", ())] and None


def ordered(configuration: str) -> Change:
    """The name server sends this order configuration with the topic's route."""
    return 105, lambda document: document.update(orderTopicConf=configuration)


def retry_topic(permission: int) -> Edit:
    """What may be done with the group's retry topic."""

    def change(item: Exchange) -> Exchange:
        if item.code != 105 or not item.fields.get("topic", "").startswith("%RETRY%"):
            return item
        document = item.document
        for queues in document["queueDatas"]:
            queues["perm"] = permission
        return replace(item, body=json.dumps(document))

    return each(change)


def _topic_rows(document: Any, marked: bool = False) -> list[Any]:
    table = document.get("offsetTable", {})
    return [item for key, item in table.items() if ("%" in key) is marked]


def ends(**fields: int) -> Change:
    return 202, lambda document: [item.update(fields) for item in _topic_rows(document)] and None


def _retry_end(number: int) -> Change:
    return (
        202,
        lambda document: [item.update(maxOffset=number) for item in _topic_rows(document, True)] and None,
    )


def tries(every_ms: int, cached: int = 0) -> Change:
    """Members that pull so often, from look to look, and hold so many messages."""

    def change(document: Any, look: int) -> None:
        for held in document["mqTable"].values():
            held.update(cachedMsgCount=cached, cachedMsgMaxOffset=cached)
            held["lastPullTimestamp"] += every_ms * look
            held["lastConsumeTimestamp"] = held["lastPullTimestamp"]

    return by_look(307, change)


def offset(number: Callable[[int], int], most: Callable[[int], int] = lambda _look: 9) -> tuple[Change, ...]:
    """Offset and end of queue 0, by the look."""

    def stored(document: Any, look: int) -> None:
        for key, offsets in document["offsetTable"].items():
            if not key.startswith("%RETRY%"):
                offsets["0"] = number(look)

    def ended(document: Any, look: int) -> None:
        for key, item in document.get("offsetTable", {}).items():
            if "%" not in key and '"queueId": 0' in key:
                item["maxOffset"] = most(look)

    def committed(document: Any, look: int) -> None:
        for key, held in document["mqTable"].items():
            if "%" not in key and '"queueId": 0' in key:
                held["commitOffset"] = number(look)

    return by_look(43, stored), by_look(202, ended), by_look(307, committed)


def _hashes(*last: int) -> Change:
    """The hashes of the newest messages; all before them are tagB's."""

    def change(document: Any) -> None:
        for item, code in zip(document["queueData"][-len(last) :], last, strict=True):
            item["tagsCode"] = code

    return 321, change


def all_hashes(code: int) -> Change:
    """The hash of every message."""

    def change(document: Any) -> None:
        for item in document["queueData"]:
            item["tagsCode"] = code

    return 321, change


def settings(**settings: str) -> Edit:
    def change(body: str) -> str:
        lines = [line for line in body.splitlines() if line.partition("=")[0] not in settings]
        return "\n".join([*lines, *(f"{key}={value}" for key, value in settings.items())])

    return each(lambda item: replace(item, body=change(item.body)) if item.code == 26 else item)


def _group(**fields: bool) -> Change:
    return 201, lambda document: document["subscriptionGroupTable"]["group-1"].update(fields)


def _no_group(document: Any) -> None:
    document["subscriptionGroupTable"].clear()


def _runtime(**fields: str) -> Change:
    return 28, lambda document: document["table"].update(fields)


def _listener(minutes: float) -> Change:
    def change(document: Any) -> None:
        for item in document["mqTable"].values():
            item["cachedMsgCount"] = 2
            item["lastConsumeTimestamp"] = item["lastPullTimestamp"] - int(minutes * 60_000)

    return 307, change


def _orderly(locked: bool) -> tuple[Change, ...]:
    return _property("PROP_CONSUMEORDERLY", "true"), _held(locked=locked)


def _dead_letters(number: int) -> Edit:
    """The dead-letter topic is there, and has so many."""

    def add(exchanges: Any) -> Any:
        for item in exchanges:
            yield item
            topic = item.fields.get("topic", "")
            if item.code in (105, 202) and topic.startswith("%RETRY%"):
                own = topic.replace("%RETRY%", "%DLQ%")
                body = item.body.replace("%RETRY%", "%DLQ%").replace(
                    '"maxOffset": 0', f'"maxOffset": {number}'
                )
                yield replace(item, fields={**item.fields, "topic": own}, body=body)

    return lambda exchanges: add([item for item in exchanges if "%DLQ%" not in item.fields.get("topic", "")])


def second_name_server(change: Callable[[str], str]) -> Edit:
    """One more name server, whose answers are the first one's, changed."""

    def add(exchanges: Any) -> Any:
        for item in exchanges:
            if item.code in (105, 106):
                yield replace(item, address=NAME_SERVERS[0])
                yield replace(item, address=NAME_SERVERS[1], body=change(item.body))
            else:
                yield item

    return add


def _proxy_knows_it(exchanges: Any) -> Any:
    """Brokers know no member, as where all of them are behind a proxy that is a server of its own."""
    for item in exchanges:
        if item.code == 203:
            yield replace(item, address="host-8:8080")
            yield replace(item, answer_code=206, body="")
        else:
            yield replace(item, address="host-8:8080") if item.code == 307 else item


def _proxy_knows(*ids: str) -> Edit:
    """A proxy knows these members; the brokers know FIRST, and what the proxy doesn't know."""

    def only(item: Any, wanted: Callable[[str], bool], **fields: Any) -> Any:
        document = item.document
        kept = [known for known in document["connectionSet"] if wanted(known["clientId"])]
        return replace(item, body=json.dumps({**document, "connectionSet": kept}), **fields)

    def add(exchanges: Any) -> Any:
        for item in exchanges:
            if item.code == 203:
                yield only(item, lambda client_id: client_id in ids, address="host-8:8080")
                yield only(item, lambda client_id: client_id == FIRST or client_id not in ids)
            elif item.code == 307 and item.fields["clientId"] in ids and FIRST not in ids:
                yield replace(item, address="host-8:8080", answer_code=3, body="")
            else:
                yield item

    return add


def _knows_only(first: bool) -> Edit:
    """The second broker knows one of the members alone, or both."""

    def edited(item: Any) -> Any:
        if item.code != 203 or not item.address.endswith("2") or not first:
            return item
        return replace(item, body=_without_other(item.document))

    return lambda exchanges: map(edited, second_broker()(exchanges))


def _without_other(document: Any) -> str:
    kept = [known for known in document["connectionSet"] if known["clientId"] == FIRST]
    return json.dumps({**document, "connectionSet": kept})


def _at_one_address(document: Any) -> None:
    table = document["brokerAddrTable"]
    table[SECOND]["brokerAddrs"] = dict(table[BROKER]["brokerAddrs"])


def _on_unknown_broker(*, dropped: bool) -> Change:
    """A member has a queue of a broker that no name server knows, or has just given it up."""
    key = f'{{"brokerName": "{SECOND}", "queueId": 0, "topic": "topic-1"}}'

    def change(document: Any) -> None:
        if not _is_other(document):
            table = document["mqTable"]
            table[key] = {**next(iter(table.values())), "droped": dropped}

    return 307, change


def _slave_alone(document: Any) -> None:
    known = document["brokerAddrTable"][BROKER]
    known["brokerAddrs"] = {"1": known["brokerAddrs"]["0"]}


def _second_runs(version: str) -> Edit:
    def edited(item: Any) -> Any:
        if item.code != 28 or not item.address.endswith("2"):
            return item
        return replace(item, body=item.body.replace("V4_9_4", version).replace("V5_5_0", version))

    return lambda exchanges: map(edited, second_broker()(exchanges))


def _pop(table: dict[str, Any], queue: int) -> None:
    for key in [key for key in table if f'"queueId": {queue}' in key and "%" not in key]:
        del table[key]


def _add(table: dict[str, Any], queue: int, *, dropped: bool = False) -> None:
    key = f'{{"brokerName": "{BROKER}", "queueId": {queue}, "topic": "topic-1"}}'
    table.setdefault(key, {**next(iter(table.values())), "droped": dropped})


def _in_first_look(edit: Edit) -> Edit:
    """The edit, for the first look alone."""

    def add(exchanges: Any) -> Any:
        yield from edit([item for item in exchanges if item.look == 0])
        yield from (item for item in exchanges if item.look)

    return add


def _seconds_later(seconds: int) -> Change:
    """A broker whose clock is ahead by so much, as it tells by its start and its age."""

    def change(document: Any) -> None:
        document["table"]["bootTimestamp"] = str(int(document["table"]["bootTimestamp"]) + 1000 * seconds)

    return 28, change


STRATEGY = "allocateMessageQueueStrategy"
NAME_SERVERS = "host-8:9876", "host-9:9876"
TAG_A, TAG_B = 3552231, 3552232

V5 = _runtime(brokerVersionDesc="V5_0_0")
_asking = _property("clientRebalance", "false")


def _pops_on(*brokers: str) -> Edit:
    """The brokers that say POP to 402."""
    modes = json.dumps({"modes": [{"topic": "topic-1", "consumerGroup": "group-1", "mode": "POP"}]})

    def change(item: Exchange) -> Exchange:
        popping = (SECOND if item.address.endswith("2") else BROKER) in brokers
        return replace(item, body=modes) if item.code == 402 and popping else item

    return each(change)


def _popping(number: int) -> Change:
    """So many of the two members pop."""

    def change(document: Any) -> None:
        if number == 2 or _is_other(document):
            document["mqPopTable"] = document.pop("mqTable")
            document["mqTable"] = {}

    return 307, change


def _pulls_at(ahead_ms: int) -> Edit:
    """Members whose last pull was so long after the question."""

    def change(item: Exchange) -> Exchange:
        if item.code != 307:
            return item
        document = item.document
        for held in document["mqTable"].values():
            held["lastPullTimestamp"] = held["lastConsumeTimestamp"] = item.at_ms + ahead_ms
        return replace(item, body=json.dumps(document))

    return each(change)


PLANTED = (
    Planted("RC0101", (wants("tagA", "tagB"),), (wants("tagA||tagB", "tagB || tagA"),)),
    Planted("RC0102", (wants("tagC"),), (wants("tagB || tagB"),), looks=16),
    Planted("RC0105", (_version(lambda now: now * 1_000_000),), (_version(lambda now: now + 30_000),)),
    Planted("RC0106", ((307, _other_topic),), ((307, _no_topic),)),
    Planted("RC0107", (wants("tagA,tagB"),), (wants("tagA || tagB", "tagB||tagA"),)),
    Planted("RC0108", (all_hashes(hash_code("TagB")),), (all_hashes(TAG_B),)),
    Planted(
        "RC0201",
        (_connections(lambda known: known.append({**known[0], "clientAddr": "host-9:1"})),),
        (second_broker(),),
    ),
    Planted(
        "RC0202",
        (renamed({FIRST: "host-2@17#101", OTHER: "host-2@17#102"}),),
        (renamed({FIRST: "host-2@17#101", OTHER: "host-2@18#102"}),),
    ),
    Planted("RC0203", (_languages("JAVA", "CPP"),), (_languages("CPP", "CPP"),)),
    Planted(
        "RC0204",
        (_property("PROP_CLIENT_VERSION", "V4_9_3", "V5_0_0"),),
        (_property("PROP_CLIENT_VERSION", "V5"),),
    ),
    Planted(
        "RC0205",
        (_property("consumeFromWhere", "CONSUME_FROM_FIRST_OFFSET", "CONSUME_FROM_LAST_OFFSET"),),
        (_property("consumeFromWhere", "CONSUME_FROM_LAST_OFFSET"),),
    ),
    Planted(
        "RC0206",
        (_property("messageModel", "CLUSTERING", "BROADCASTING"),),
        (_property("messageModel", "BROADCASTING"),),
    ),
    Planted(
        "RC0207",
        (_property(STRATEGY, "x.AllocateMessageQueueAveragely@1", "x.AllocateMessageQueueByConfig@2"),),
        (_property(STRATEGY, "x.AllocateMessageQueueByConfig@1", "x.AllocateMessageQueueByConfig@2"),),
    ),
    Planted(
        "RC0208",
        (unanswered(307, None, clientId=OTHER),),
        (_in_first_look(unanswered(307, 1, clientId=OTHER)),),
        looks=2,
    ),
    Planted("RC0209", (_knows_only(first=True),), (_knows_only(first=False),), looks=15),
    Planted("RC0210", (unanswered(203, 206),), (_proxy_knows_it,), scope={"proxies": ("host-8:8080",)}),
    Planted(
        "RC0211",
        (_proxy_knows(OTHER),),
        ((203, lambda document: document),),
        looks=2,
        scope={"proxies": ("host-8:8080",)},
    ),
    Planted(
        "RC0212",
        (_property("PROP_CONSUMEORDERLY", "true", "false"), _held(locked=True)),
        (_property("PROP_CONSUMEORDERLY", "false"),),
    ),
    Planted(
        "RC0213",
        (V5, second_broker(), _asking, _pops_on(SECOND)),
        (V5, second_broker(), _asking, _pops_on(BROKER, SECOND)),
    ),
    Planted("RC0214", (_popping(1),), (_popping(2),), looks=16),
    Planted("RC0215", (_pulls_at(15_000),), (_pulls_at(5_000),)),
    Planted(
        "RC0301", (_queues(lambda table: _pop(table, 3)),), (_queues(lambda table: _add(table, 3)),), looks=29
    ),
    Planted(
        "RC0302",
        (_queues(lambda table: _add(table, 0)),),
        (_queues(lambda table: _add(table, 0, dropped=True)),),
        looks=29,
    ),
    Planted("RC0303", (members(5),), (members(4),)),
    Planted("RC0401", ((105, lambda document: document.update(queueDatas=[])),), (_route(perm=2),), looks=15),
    Planted(
        "RC0402",
        ((201, _no_group), settings(autoCreateSubscriptionGroup="false")),
        (settings(autoCreateSubscriptionGroup="false"),),
    ),
    Planted(
        "RC0403", (_route(readQueueNums=4, writeQueueNums=6),), (_route(readQueueNums=4, writeQueueNums=2),)
    ),
    Planted("RC0404", (_route(perm=2),), (_route(perm=7),)),
    Planted(
        "RC0405",
        (second_broker(has_topic=False),),
        (second_broker(has_topic=False), settings(autoCreateTopicEnable="false")),
    ),
    Planted("RC0406", (_group(consumeEnable=False),), (_group(consumeBroadcastEnable=False),)),
    Planted(
        "RC0407",
        (_by_sql, settings(enablePropertyFilter="false")),
        (_by_sql, settings(enablePropertyFilter="true")),
    ),
    Planted("RC0408", (_removed_queue(9),), (_removed_queue(3),)),
    Planted("RC0409", (ordered("broker-1:4;broker-7:2"),), (ordered("broker-1:4"),)),
    Planted(
        "RC0410",
        (second_broker(has_topic=False), settings(autoCreateTopicEnable="false")),
        (second_broker(), settings(autoCreateTopicEnable="false")),
        looks=15,
    ),
    Planted("RC0501", offset(lambda _look: 1), offset(lambda look: 1 + look // 10), looks=17),
    Planted("RC0503", offset(lambda look: 5 - look), offset(lambda look: (3, 5, 6)[look]), looks=3),
    Planted(
        "RC0504",
        offset(lambda look: look, lambda look: 3 + 2 * look),
        offset(lambda look: 2 * look, lambda look: 40 + look),
        looks=17,
    ),
    Planted(
        "RC0505",
        (*offset(lambda _look: 1), ends(minOffset=3)),
        (*offset(lambda _look: 3), ends(minOffset=3)),
    ),
    Planted("RC0506", offset(lambda _look: 100), offset(lambda _look: 9)),
    Planted(
        "RC0507",
        (*offset(lambda _look: 2, lambda _look: 4), _hashes(TAG_A, TAG_A)),
        (*offset(lambda _look: 2, lambda _look: 4), _hashes(TAG_A, TAG_B)),
    ),
    Planted("RC0601", (_listener(1),), (_listener(0.4),)),
    Planted("RC0602", (_listener(20),), (_listener(14),)),
    Planted("RC0603", _orderly(locked=False), _orderly(locked=True), looks=44),
    Planted("RC0701", (_retry_end(3),), (_retry_end(0),), looks=3),
    Planted("RC0702", (_dead_letters(2),), (_dead_letters(0),)),
    Planted(
        "RC0703", (_property("maxReconsumeTimes", "0", "16"),), (_property("maxReconsumeTimes", "-1", "1"),)
    ),
    Planted(
        "RC0801",
        (second_name_server(lambda body: body.replace('"readQueueNums": 4', '"readQueueNums": 2')),),
        (second_name_server(lambda body: body),),
        looks=2,
        scope={"name_servers": NAME_SERVERS},
    ),
    Planted("RC0802", (second_broker(), (106, _at_one_address)), (second_broker(),)),
    Planted("RC0803", (unanswered(28, None),), (unanswered(201, None),)),
    Planted("RC0804", (_runtime(commitLogDiskRatio="0.8"),), (_runtime(commitLogDiskRatio="0.74"),)),
    Planted("RC0805", (_seconds_later(60),), (_seconds_later(5),)),
    Planted("RC0806", (_second_runs("V5_3_0"),), (second_broker(),)),
    Planted("RC0807", (_on_unknown_broker(dropped=False),), (_on_unknown_broker(dropped=True),), looks=2),
    Planted("RC0808", ((106, _slave_alone),), (second_broker(),), looks=2),
    Planted(
        "RC0809", (settings(brokerRole="SYNC_MASTER"),), (settings(brokerRole="ASYNC_MASTER"),), looks=16
    ),
    Planted(
        "RC0810",
        (with_slave(lambda _look: 1000, lambda _look: 600),),
        # Busy: the slave is a moment behind.
        (with_slave(lambda look: 1000 * (look + 1), lambda look: 1000 * look + 999),),
        looks=16,
    ),
    Planted("RC0811", (delayed(-600_000),), (delayed(-5_000),), looks=16),
    Planted("RC0812", (delayed(60_000),), (delayed(60_000, waiting=0),)),
    Planted("RC0813", (undecided(1, connected=False),), (undecided(0, connected=True),)),
    Planted("RC0814", (V5, popped(300_000)), (V5, popped(20_000)), looks=16),
)
