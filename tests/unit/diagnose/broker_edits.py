"""What brokers, name servers and proxies answer otherwise: topics, offsets, settings, slaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rocketchaos.harness.diagnose.exchange import Exchange
from tests.unit.diagnose.member_edits import FIRST, is_other, without_other
from tests.unit.diagnose.reports import (
    BROKER,
    SECOND,
    Change,
    Edit,
    by_look,
    each,
    second_broker,
)


def removed_queue(end: int) -> Edit:
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


def proxies_topic(answer_code: int) -> Edit:
    """The name server's answer to the question for the topic that a proxy in cluster mode makes."""

    def add(exchanges: Any) -> Any:
        asked = False
        for item in exchanges:
            yield item
            if item.code == 105 and not asked:
                asked = True
                fields = {"topic": "DefaultHeartBeatSyncerTopic"}
                yield replace(
                    item, fields=fields, answer_code=answer_code, body="" if answer_code else item.body
                )

    return add


def no_topic(document: Any) -> None:
    document["mqTable"] = {}
    document["subscriptionSet"] = [item for item in document["subscriptionSet"] if "%RETRY%" in item["topic"]]


def not_held(document: Any) -> None:
    """The broker's answer to 203 without a subscription of the topic."""
    for topic in [item for item in document["subscriptionTable"] if "%RETRY%" not in item]:
        del document["subscriptionTable"][topic]


def other_topic(document: Any) -> None:
    if is_other(document):
        no_topic(document)


def route_fields(**fields: int) -> Change:
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


def topic_rows(document: Any, marked: bool = False) -> list[Any]:
    table = document.get("offsetTable", {})
    return [item for key, item in table.items() if ("%" in key) is marked]


def ends(**fields: int) -> Change:
    return 202, lambda document: [item.update(fields) for item in topic_rows(document)] and None


def message_type(kind: str) -> Edit:
    """The broker says what the topic's messages are."""

    def add(exchanges: Any) -> Any:
        for item in exchanges:
            yield item
            if item.code == 28:
                yield replace(
                    item, code=351, fields={"topic": "topic-1"}, body=json.dumps({"messageType": kind})
                )

    return add


def retry_end(number: int) -> Change:
    return (
        202,
        lambda document: [item.update(maxOffset=number) for item in topic_rows(document, True)] and None,
    )


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
        for key, held in document.get("mqTable", {}).items():
            if "%" not in key and '"queueId": 0' in key:
                held["commitOffset"] = number(look)

    return by_look(43, stored), by_look(202, ended), by_look(307, committed)


def last_hashes(*last: int) -> Change:
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


def group_settings(**fields: bool | int) -> Change:
    return 201, lambda document: document["subscriptionGroupTable"]["group-1"].update(fields)


def no_group(document: Any) -> None:
    document["subscriptionGroupTable"].clear()


def runtime(**fields: str) -> Change:
    return 28, lambda document: document["table"].update(fields)


def dead_letters(number: int) -> Edit:
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


def proxy_knows_it(exchanges: Any) -> Any:
    """Brokers know no member, as where all of them are behind a proxy that is a server of its own."""
    for item in exchanges:
        if item.code == 203:
            yield replace(item, address="host-8:8080")
            yield replace(item, answer_code=206, body="")
        else:
            yield replace(item, address="host-8:8080") if item.code == 307 else item


def proxy_knows(*ids: str) -> Edit:
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


def knows_only(first: bool) -> Edit:
    """The second broker knows one of the members alone, or both."""

    def edited(item: Any) -> Any:
        if item.code != 203 or not item.address.endswith("2") or not first:
            return item
        return replace(item, body=without_other(item.document))

    return lambda exchanges: map(edited, second_broker()(exchanges))


def slave_alone(document: Any) -> None:
    known = document["brokerAddrTable"][BROKER]
    known["brokerAddrs"] = {"1": known["brokerAddrs"]["0"]}


def second_runs(version: str) -> Edit:
    def edited(item: Any) -> Any:
        if item.code != 28 or not item.address.endswith("2"):
            return item
        return replace(item, body=item.body.replace("V4_9_4", version).replace("V5_5_0", version))

    return lambda exchanges: map(edited, second_broker()(exchanges))


def in_first_look(edit: Edit) -> Edit:
    """The edit, for the first look alone."""

    def add(exchanges: Any) -> Any:
        yield from edit([item for item in exchanges if item.look == 0])
        yield from (item for item in exchanges if item.look)

    return add


def seconds_later(seconds: int) -> Change:
    """A broker whose clock is ahead by so much, as it tells by its start and its age."""

    def change(document: Any) -> None:
        document["table"]["bootTimestamp"] = str(int(document["table"]["bootTimestamp"]) + 1000 * seconds)

    return 28, change


NAME_SERVERS = "host-8:9876", "host-9:9876"
TAG_A, TAG_B = 3552231, 3552232

V5 = runtime(brokerVersionDesc="V5_0_0")


def pops_on(*brokers: str) -> Edit:
    """The brokers that say POP to 402."""
    modes = json.dumps({"modes": [{"topic": "topic-1", "consumerGroup": "group-1", "mode": "POP"}]})

    def change(item: Exchange) -> Exchange:
        popping = (SECOND if item.address.endswith("2") else BROKER) in brokers
        return replace(item, body=modes) if item.code == 402 and popping else item

    return each(change)
