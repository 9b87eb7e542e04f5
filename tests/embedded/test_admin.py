"""The admin client against a real broker."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from rocketchaos.harness.clients.server_requests import RelayedRequests
from rocketchaos.harness.core.errors import RequestFailed
from tests.embedded.workbench import LIMIT_S, Bench, failure, until

pytestmark = pytest.mark.embedded

PULL_MESSAGE, QUERY_OFFSET, UPDATE_OFFSET, CREATE_GROUP, NO_SUCH_CODE = 11, 14, 15, 200, 9999


def test_connection_and_running_info_tell_both_views_of_the_subscription(bench: Bench, group: str) -> None:
    topic = bench.topic()
    name = bench.consume(topic, "Aa || tagB", group=group)

    def views() -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        broker = bench.broker.address
        client_id = f"ip-{name}@i"
        return bench.online(group), bench.admin.running_info(group, client_id, broker, 3000)

    connection, running = until(
        views,
        lambda seen: (
            len([queue for queue in seen[1]["queues"] if queue["topic"] == topic]) == 4
            and seen[0]["subscriptions"][topic]["sub_version"]
            == seen[1]["subscriptions"][topic]["sub_version"]
        ),
    )
    [client] = connection["connections"]
    assert (client["client_id"], client["language"]) == (f"ip-{name}@i", "JAVA")
    assert client["address"].startswith("127.0.0.1:")
    assert client["version"] > 0
    stored = connection["subscriptions"][topic]
    # The codes are Java's String.hashCode.
    assert (stored["expression"], stored["tags"], stored["codes"]) == (
        "Aa || tagB",
        ["Aa", "tagB"],
        [2112, 3552232],
    )
    assert stored["sub_version"] > 1_500_000_000_000  # a time in ms, longer than 32 bits
    assert set(connection["subscriptions"]) == {topic, f"%RETRY%{group}"}
    assert (connection["consume_type"], connection["message_model"], connection["consume_from_where"]) == (
        "CONSUME_PASSIVELY",
        "CLUSTERING",
        "CONSUME_FROM_FIRST_OFFSET",
    )
    assert running["subscriptions"][topic]["expression"] == "Aa || tagB"
    queues = sorted(queue["queue_id"] for queue in running["queues"] if queue["topic"] == topic)
    assert queues == [0, 1, 2, 3]
    assert {queue["broker"] for queue in running["queues"]} == {bench.broker.name}


def test_offsets_follow_what_was_sent_and_consumed(bench: Bench, group: str) -> None:
    topic = bench.topic(queues=2)
    assert bench.offsets(group, topic) == [(0, None), (0, None)]
    for _ in range(3):
        bench.send(topic, "tagA", 1)
    until(lambda: bench.offsets(group, topic), lambda seen: seen == [(0, None), (3, None)])
    bench.consume(topic, "tagA", group=group)
    until(lambda: bench.offsets(group, topic)[1], lambda seen: seen == (3, 3))


def test_a_stored_zero_is_distinguished_from_no_offset_where_code_14_can_not(
    bench: Bench, group: str
) -> None:
    topic = bench.topic(queues=2)
    for queue in (0, 1):
        bench.send(topic, "tagA", queue)
    # From 5.3 on a broker stores no offset for a group that it doesn't know.
    assert bench.raw(CREATE_GROUP, body=json.dumps({"groupName": group})).code == 0
    of_queue_0 = {"consumerGroup": group, "topic": topic, "queueId": "0"}
    assert bench.raw(UPDATE_OFFSET, commitOffset="0", **of_queue_0).code == 0
    until(lambda: bench.offsets(group, topic), lambda seen: seen == [(1, 0), (1, None)])
    answer = bench.raw(QUERY_OFFSET, **of_queue_0 | {"queueId": "1"})
    assert (answer.code, answer.fields["offset"]) == (0, "0")


def test_create_topic_sets_the_number_of_queues(bench: Bench) -> None:
    topic = bench.topic(queues=3)
    until(
        lambda: bench.admin.route(topic),
        lambda seen: (
            seen == {"queues": [{"broker": bench.broker.name, "queues": 3, "write_queues": 3, "perm": 6}]}
        ),
    )


def test_tracks_say_what_the_tools_say(bench: Bench, group: str) -> None:
    topic = bench.topic(queues=1)
    matching, other = (bench.send(topic, tag, 0) for tag in ("tagA", "tagB"))

    def track(sent: Mapping[str, Any]) -> list[dict[str, Any]]:
        tracks = bench.admin.tracks(topic, sent["offset_msg_id"])["tracks"]
        # 5.3.3 lists a group of the topic's name besides, which doesn't exist.
        return [dict(track) for track in tracks if track["group"] != topic]

    assert track(matching) == []  # no group knows the topic
    bench.consume(topic, "tagA", group=group)
    wanted = [{"group": group, "type": "CONSUMED", "exception": None}]
    until(lambda: track(matching), lambda seen: seen == wanted)
    wanted = [{"group": group, "type": "CONSUMED_BUT_FILTERED", "exception": None}]
    until(lambda: track(other), lambda seen: seen == wanted)


def test_refusals_carry_response_codes_and_one_line(bench: Bench) -> None:
    known = bench.topic(queues=1)
    refused = {
        206: lambda: bench.connection("nobody"),
        17: lambda: bench.admin.route("nowhere"),
        13: lambda: bench.java.request(
            "send", LIMIT_S, name="p", topic=known, tag=None, key=None, body="", queue=None, timeout_ms=3000
        ),
    }
    for code, call in refused.items():
        failed = failure(call)
        assert failed is not None
        assert failed.code == code
        assert "\n" not in failed.message
    failed = failure(lambda: bench.send(known, "tagA", 99))
    assert failed is not None
    assert failed.code in (1, 29)  # 5.x has a code of its own for a queue that isn't there
    # Looking has brought nobody online.
    bench.admin.offsets("nobody", known)
    with pytest.raises(RequestFailed, match="not online"):
        bench.connection("nobody")


def test_a_raw_request_is_answered_whatever_the_code(bench: Bench, group: str) -> None:
    topic = bench.topic(queues=1)
    bench.consume(topic, "tagA", group=group)
    bench.send(topic, "tagA", 0)
    until(lambda: bench.offsets(group, topic)[0][0], lambda seen: seen == 1)
    fields = {"consumerGroup": group, "topic": topic, "queueId": "0", "queueOffset": "0", "maxMsgNums": "8"}
    fields |= {"sysFlag": "0", "commitOffset": "0", "suspendTimeoutMillis": "0", "subVersion": "0"}
    pulled = bench.raw(PULL_MESSAGE, **fields)
    assert (pulled.code, pulled.remark) == (0, "FOUND")
    assert pulled.fields["nextBeginOffset"] == "1"
    assert b"hello" in pulled.body
    assert bench.raw(NO_SUCH_CODE).code == 3
    with pytest.raises(RequestFailed, match=r"127\.0\.0\.1:1 can't be asked: Connection refused") as raised:
        bench.admin.raw("127.0.0.1:1", 1, {}, None, 1000)
    assert raised.value.code is None


def test_a_message_is_found_where_it_was_stored(bench: Bench) -> None:
    topic = bench.topic(queues=2)
    bench.send(topic, "tagA", 1)
    sent = bench.send(topic, "tagA", 1)
    found = until(lambda: bench.admin.find_message(topic, sent["msg_id"]), bool)
    assert found == {
        "broker": bench.broker.name,
        "queue_id": 1,
        "queue_offset": 1,
        "offset_msg_id": sent["offset_msg_id"],
    }
    assert bench.admin.find_message(topic, "0" * 32) is None


def test_requests_by_way_of_the_tools_have_the_same_answers(bench: Bench) -> None:
    topic = bench.topic(queues=1)
    relayed = RelayedRequests(bench.tools)
    for code, fields in (
        (202, {"topic": topic}),
        (105, {"topic": topic}),
        (203, {"consumerGroup": "nobody"}),
    ):
        direct = bench.requests.ask(bench.broker.address, code, fields, limit_s=3.0)
        assert relayed.ask(bench.broker.address, code, fields, limit_s=3.0) == direct
