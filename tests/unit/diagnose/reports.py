"""Diagnoses of recorded answers of real clusters, and of what a test makes of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rocketchaos.harness.diagnose.bundle import Recorded, read
from rocketchaos.harness.diagnose.diagnosis import Diagnosis, Report
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.model import DELAYED, HALF, REVIVE, TIMED
from rocketchaos.harness.diagnose.requests import (
    GET_ALL_CONSUMER_OFFSET,
    GET_ALL_MESSAGE_REQUEST_MODE,
    GET_BROKER_HA_STATUS,
    GET_BROKER_RUNTIME_INFO,
    GET_CONSUMER_CONNECTION_LIST,
    GET_CONSUMER_RUNNING_INFO,
    GET_TOPIC_STATS_INFO,
)
from rocketchaos.harness.language.tags import hash_code
from rocketchaos.harness.rocketmq.allocation import average

RECORDED = Path(__file__).parent / "recorded"

Document = Callable[[Any], Any]
"""Changes the body of an answer in place, or returns another one."""
Edit = Callable[[Sequence[Exchange]], Iterable[Exchange]]
"""Makes other answers of those of all looks."""
Change = tuple[int, Document] | Edit
"""The first kind is for all answers to one request."""


def diagnosed(name: str, *changes: Change, looks: int = 1, **scope: Any) -> Report:
    """The diagnosis of a recorded bundle with these changes, over so many looks that are 2 s apart."""
    return asyncio.run(diagnosis(name, *changes, looks=looks, **scope).run())


def diagnosis(name: str, *changes: Change, looks: int = 1, **scope: Any) -> Diagnosis:
    """The same before it has run."""
    bundle = read(RECORDED / name)
    first = [exchange for exchange in bundle.exchanges if exchange.look == 0]
    exchanges: Iterable[Exchange] = [
        # A broker tells its age with its state: both are those of the first look.
        replace(exchange, look=look, at_ms=exchange.at_ms + _later_ms(exchange.code, look))
        for look in range(looks)
        for exchange in first
    ]
    exchanges = quiet(list(exchanges))
    for change in changes:
        edit = answers(*change) if isinstance(change, tuple) else change
        exchanges = edit(list(exchanges))
    recorded = Recorded(list(exchanges), looks)
    return Diagnosis(recorded, replace(bundle.scope, **scope), recorded=recorded)


def _later_ms(code: int, look: int) -> int:
    return 0 if code == GET_BROKER_RUNTIME_INFO else 2_000 * look


def quiet(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
    """What the bundles are too old for: brokers that keep nothing back, and hand out messages as usual."""
    empty = '{"offsetTable": {}}'
    for item in exchanges:
        yield item
        if item.code == GET_BROKER_RUNTIME_INFO:
            asked = replace(item, code=GET_TOPIC_STATS_INFO, body=empty)
            yield replace(asked, fields={"topic": DELAYED})
            yield replace(asked, fields={"topic": HALF}, answer_code=17, remark="no topic")
            yield replace(asked, fields={"topic": f"{REVIVE}cluster-1"})
            yield replace(item, code=GET_ALL_MESSAGE_REQUEST_MODE, body='{"modes": []}')


def codes(report: Report) -> set[str]:
    """The codes of what was found."""
    return {finding.check.code for finding in report.findings}


def unknown(report: Report) -> set[str]:
    """The codes of what is undetermined."""
    return {item.check.code for item in report.undetermined}


def answers(code: int, change: Document) -> Edit:
    """All answers to a request, changed in the same way."""
    return each(lambda exchange: _changed(exchange, change) if exchange.code == code else exchange)


def by_look(code: int, change: Callable[[Any, int], Any]) -> Edit:
    """All answers to a request, changed by the number of the look."""

    def edited(exchange: Exchange) -> Exchange:
        if exchange.code != code:
            return exchange
        return _changed(exchange, lambda document: change(document, exchange.look))

    return each(edited)


def each(change: Callable[[Exchange], Exchange]) -> Edit:
    """Every exchange, changed."""
    return lambda exchanges: map(change, exchanges)


def renamed(names: dict[str, str]) -> Edit:
    """Names that stand for others wherever they are."""

    def edited(exchange: Exchange) -> Exchange:
        fields, body, address = dict(exchange.fields), exchange.body, exchange.address
        for old, new in names.items():
            fields = {key: value.replace(old, new) for key, value in fields.items()}
            body, address = body.replace(old, new), address.replace(old, new)
        return replace(exchange, fields=fields, body=body, address=address)

    return each(edited)


def unanswered(code: int, answer_code: int | None, **fields: str) -> Edit:
    """A request, of those with these fields, that gets this answer, or none."""

    def edited(exchange: Exchange) -> Exchange:
        if exchange.code != code or not fields.items() <= exchange.fields.items():
            return exchange
        error = "" if answer_code is not None else "no answer within 3 s"
        return replace(exchange, answer_code=answer_code, remark="", body="", error=error)

    return each(edited)


BROKER, SECOND = "broker-1", "broker-2"
SLAVE = "host-9:10911"


def second_broker(*, has_topic: bool = True) -> Edit:
    """One more broker, which answers as the first one does, and knows the same members."""

    def add(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
        address = next(item.address for item in exchanges if item.code == GET_CONSUMER_CONNECTION_LIST)
        for item in exchanges:
            if item.code == 106:
                yield _changed(item, _registered)
            elif item.code == 105 and (has_topic or "%" in item.fields["topic"]):
                yield _changed(item, lambda document: _doubled(document.get("queueDatas", ())))
            elif item.code == GET_CONSUMER_RUNNING_INFO and has_topic:
                yield _changed(item, lambda document: document["mqTable"].update(_on_second(document)))
            else:
                yield item
            if item.address == address and item.code not in (105, GET_CONSUMER_RUNNING_INFO):
                other = replace(item, address=f"{address}2", body=item.body.replace(BROKER, SECOND))
                yield other

    def _registered(document: Any) -> None:
        table = document["brokerAddrTable"]
        address = table[BROKER]["brokerAddrs"]["0"]
        table[SECOND] = {**table[BROKER], "brokerName": SECOND, "brokerAddrs": {"0": f"{address}2"}}

    def _doubled(rows: Any) -> None:
        if rows:
            rows.append({**rows[0], "brokerName": SECOND})

    def _on_second(document: Any) -> dict[str, Any]:
        return {key.replace(BROKER, SECOND): dict(held) for key, held in document["mqTable"].items()}

    return add


def with_slave(
    master_end: Callable[[int], int],
    slave_end: Callable[[int], int | None],
    connections: int = 1,
    slave_offset: Callable[[int, int], int | None] = lambda _look, offset: offset,
) -> Edit:
    """The broker has a slave, whose commit log ends there in each look; None: it doesn't answer.

    `slave_offset`: what it has of each offset of its master, by look; None: nothing.
    """

    def add(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
        for item in exchanges:
            if item.code == 106:
                yield _changed(item, _registered)
            elif item.code == GET_BROKER_RUNTIME_INFO:
                end = slave_end(item.look)
                slave = replace(_ending(item, end or 0), address=SLAVE)
                yield _ending(item, master_end(item.look))
                yield (
                    slave if end is not None else replace(slave, answer_code=None, body="", error="no answer")
                )
                status = json.dumps({"haConnectionInfo": [{"diff": 0}] * connections})
                yield replace(item, code=GET_BROKER_HA_STATUS, body=status)
            elif item.code == GET_ALL_CONSUMER_OFFSET:
                table = item.document["offsetTable"]
                yield replace(item, body=json.dumps({"offsetTable": table, "groups": len(table)}))
                copied = {
                    key: {
                        queue: has
                        for queue, offset in of.items()
                        if (has := slave_offset(item.look, offset)) is not None
                    }
                    for key, of in table.items()
                }
                copied = {key: of for key, of in copied.items() if of}
                text = json.dumps({"offsetTable": copied, "groups": len(copied)})
                yield replace(item, address=SLAVE, body=text)
            else:
                yield item

    def _registered(document: Any) -> None:
        document["brokerAddrTable"][BROKER]["brokerAddrs"]["1"] = SLAVE

    def _ending(item: Exchange, end: int) -> Exchange:
        return _changed(item, lambda document: document["table"].update(commitLogMaxOffset=str(end)))

    return add


def members(number: int) -> Edit:
    """So many members, `host-2` and on, which share the queues by averaging."""
    ids = [f"host-{index + 2}@instance-1" for index in range(number)]
    queues = [(BROKER, index) for index in range(4)]

    def add(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
        for item in exchanges:
            if item.code == GET_CONSUMER_CONNECTION_LIST:
                yield _changed(item, _connected)
            elif item.code != GET_CONSUMER_RUNNING_INFO:
                yield item
            elif item.fields["clientId"] == ids[0]:
                for client_id in ids:
                    changed = _changed(item, lambda document, me=client_id: _share(document, me))
                    yield replace(changed, fields={**item.fields, "clientId": client_id})

    def _connected(document: Any) -> None:
        known = document["connectionSet"][0]
        document["connectionSet"] = [
            {**known, "clientId": client_id, "clientAddr": f"host-1:{40000 + index}"}
            for index, client_id in enumerate(ids)
        ]

    def _share(document: Any, client_id: str) -> None:
        held = next(iter(document["mqTable"].values()))
        document["mqTable"] = {
            json.dumps({"brokerName": broker, "queueId": queue, "topic": "topic-1"}): held
            for broker, queue in average(queues, ids, client_id)
        }

    return add


def delayed(due_ms: int, *, waiting: int = 3, ago_ms: int = 60_000, level: int = 3) -> Edit:
    """The broker keeps messages of this delay level, the first of which is due so long after it is asked; the
    newest one came so long before."""

    def add(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
        for item in exchanges:
            if item.code == GET_TOPIC_STATS_INFO and item.fields["topic"] == DELAYED:
                key = json.dumps({"topic": DELAYED, "brokerName": BROKER, "queueId": level - 1})
                end = {"minOffset": 0, "maxOffset": 5, "lastUpdateTimestamp": item.at_ms - ago_ms}
                yield replace(item, body=json.dumps({"offsetTable": {key: end}}))
                offsets = json.dumps({"delayOffsets": {f"{level}": 5 - waiting}})
                yield replace(item, code=45, fields={}, body=offsets)
                fields = {
                    "topic": DELAYED,
                    "queueId": f"{level - 1}",
                    "index": str(5 - waiting),
                    "count": "1",
                }
                entries = json.dumps({"queueData": [{"tagsCode": item.at_ms + due_ms, "physicOffset": 7}]})
                yield replace(item, code=321, fields=fields, body=entries)
            else:
                yield item

    return add


def undecided(checked: int, *, connected: bool, age_ms: int = 30_000, stored_again: bool = False) -> Edit:
    """The broker keeps a half message of producer group `pg`, which was stored so long ago.

    With `stored_again` its queue also has the message as it was before its last check.
    """

    def add(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
        for item in exchanges:
            yield item
            if item.code == GET_TOPIC_STATS_INFO and item.fields["topic"] == HALF:
                answered = replace(item, answer_code=0, remark="")
                fields = {"topic": HALF, "queueId": "0", "index": "0", "count": "16"}
                places = [{"physicOffset": 5}, {"physicOffset": 7}][not stored_again :]
                entries = json.dumps({"queueData": places, "maxQueueIndex": len(places)})
                yield replace(answered, code=321, fields=fields, body=entries)
                stored = item.at_ms - age_ms
                half = {
                    "topic": "topic-1",
                    "producerGroup": "pg",
                    "idHash": 77,
                    "checked": checked,
                    "bornAt": stored,
                    "storedAt": stored,
                }
                place = {"topic": HALF, "offset": "7"}
                yield replace(answered, code=33, fields=place, body=json.dumps(half))
                before = json.dumps({**half, "checked": checked - 1, "storedAt": stored - 60_000})
                yield replace(answered, code=33, fields={**place, "offset": "5"}, body=before)
                members = json.dumps({"connectionSet": [{"clientId": "p@1", "clientAddr": "h:1"}]})
                asked = replace(item, code=204, fields={"producerGroup": "pg"}, answer_code=1)
                yield replace(asked, answer_code=0, body=members) if connected else asked

    return add


def popped(age_ms: int) -> Edit:
    """The first entry of revive queue 0 that the broker hasn't handled was stored so long ago."""

    def add(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
        for item in exchanges:
            if item.code == GET_TOPIC_STATS_INFO and item.fields["topic"].startswith(REVIVE):
                topic = item.fields["topic"]
                key = json.dumps({"topic": topic, "brokerName": BROKER, "queueId": 0})
                ends = {"offsetTable": {key: {"minOffset": 0, "maxOffset": 2}}}
                yield replace(item, body=json.dumps(ends))
                fields = {"topic": topic, "queueId": "0", "index": "0", "count": "32"}
                codes = [hash_code("ack"), hash_code("ck")]
                data = [{"tagsCode": code, "physicOffset": code} for code in codes]
                entries = {"queueData": data, "maxQueueIndex": 2}
                yield replace(item, code=321, fields=fields, body=json.dumps(entries))
                place = {"topic": topic, "offset": str(codes[1])}
                stored = json.dumps({"storedAt": item.at_ms - age_ms})
                yield replace(item, code=33, fields=place, body=stored)
            else:
                yield item

    return add


def timed(age_ms: int, *, topic: str = "topic-1", late_s: int = 0) -> Edit:
    """The broker's timer is so late, and hasn't taken a message for this topic that was stored so long ago."""
    numbers = {"timerOffsetBehind": "1", "timerReadBehind": str(late_s), "timerCongestNum": "4"}
    tags_code = hash_code("ck") if topic.startswith(REVIVE) else 1

    def add(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
        for item in exchanges:
            if item.code != GET_BROKER_RUNTIME_INFO:
                yield item
                continue
            yield _changed(item, lambda document: document["table"].update(numbers))
            key = json.dumps({"topic": TIMED, "brokerName": BROKER, "queueId": 0})
            ends = {"offsetTable": {key: {"minOffset": 0, "maxOffset": 5}}}
            yield replace(item, code=GET_TOPIC_STATS_INFO, fields={"topic": TIMED}, body=json.dumps(ends))
            fields = {"topic": TIMED, "queueId": "0", "index": "4", "count": "256"}
            entries = json.dumps({"queueData": [{"physicOffset": 7, "tagsCode": tags_code}]})
            yield replace(item, code=321, fields=fields, body=entries)
            stored = json.dumps({"topic": topic, "storedAt": item.at_ms - age_ms})
            yield replace(item, code=33, fields={"topic": TIMED, "offset": "7"}, body=stored)

    return add


def _changed(exchange: Exchange, change: Document) -> Exchange:
    document = exchange.document
    changed = change(document)
    return replace(exchange, body=json.dumps(document if changed is None else changed))
