"""Delays, batches and one-way messages, of every client whose producer has them."""

from __future__ import annotations

import shutil

import pytest

from tests.embedded.small_scenario import RunScenario

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

LATE = """\
name: x
title: x
topics: {orders: {queues: 4}}
producer: {client: CLIENT}
consumers:
  a: {group: g, subscribe: {orders: '*'}}
steps:
  - start: a
  - settle: {ownership: g, within: 40s}
  - send: {topic: orders, tag: tagA, count: 4, delay_level: 1}
  - settle: {delivered: g, count: 4, within: 30s}
anomaly: [{delivered: {to: g, count: 4}}, {latency: {to: g, at_least: 1s}}]
healthy: [{latency: {to: g, at_most: 900ms}}]
"""
TOGETHER = """\
name: x
title: x
topics: {orders: {queues: 4}}
producer: {client: CLIENT}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
steps:
  - start: a
  - settle: {ownership: g, within: 40s}
  - settle: {subscription: g, topic: orders, within: 40s}
  - send: {topic: orders, tags: [tagA, tagA, tagB], count: 6, batch: 3}
  - send: {topic: orders, tag: tagA, count: 4, oneway: true}
  - settle: {offsets: g, topic: orders, lag: 0, within: 30s}
anomaly: [{delivered: {to: g, count: 8}}, {undelivered: {count: 2, because: filtered-by-broker}}]
healthy: [{delivered: {to: g, count: 10}}]
"""
TRACED = """\
name: x
title: x
topics: {orders: {queues: 1}}
cluster: {own: true, broker: {traceTopicEnable: true}}
producer: {settings: {enableMsgTrace: true}}
consumers:
  a: {group: g, subscribe: {orders: '*'}, settings: {enableMsgTrace: true}}
steps:
  - start: a
  - settle: {ownership: g, within: 40s}
  - send: {topic: orders, count: 1}
  - send: {topic: orders, count: 1, transaction: {state: commit}}
  - settle: {delivered: g, count: 2, within: 40s}
  - wait: {duration: 8s, because: the clients send their records of the trace every 5 s}
  - mqadmin: {as: trace, command: queryMsgTraceById -i <orders-1>}
anomaly: [{mqadmin: {of: trace, has: ['Pub .* success', 'Sub .* success']}}]
healthy: [{mqadmin: {of: trace, lacks: success}}]
"""
ASKED = """\
name: x
title: x
topics: {orders: {queues: 4}, plain: {queues: 1}}
consumers:
  a: {group: g, behaviour: {reply: true, fail: 9, only: orders-3}, subscribe: {orders: '*', plain: '*'}}
steps:
  - start: a
  - settle: {ownership: g, within: 40s}
  - send: {topic: orders, count: 2, hash_key: A, request: 10s}
  - send: {topic: orders, count: 1, hash_key: A, request: 500ms}
  - send: {topic: plain, count: 1}
  - settle: {delivered: g, topic: plain, count: 1}
  - settle: {offsets: g, topic: plain, lag: 0}
anomaly:
  - replied: {topic: orders, count: 2}
  - replied: {topic: orders, got: exception, count: 1, code: 10006, exception: RequestTimeoutException}
  - reply-refused: {to: a, count: 1, code: 1, because: "[REPLY_TO_CLIENT] is null"}
  - delivered: {to: g, count: 4}
healthy: [{replied: {topic: orders, count: 3}}]
"""
OVER_GRPC = """\
name: x
title: x
cluster: {proxy: local}
topics: {orders: {queues: 4, settings: {message.type: TYPE}}}
producer: {client: grpc}
consumers:
  a: {group: g, subscribe: {orders: '*'}}
steps:
  - start: a
  - settle: {ownership: g, within: 40s}
  - send: {topic: orders, count: 2, delay: 1s, may_fail: true}
  - settle: {COMES, within: 30s}
anomaly: [{delivered: {to: g, count: 2}}, {latency: {to: g, at_least: 1s}}]
healthy: [{send-refused: {topic: orders, count: 2, because: "message_type:DELAY"}}]
"""
GO = pytest.param(
    "go",
    marks=pytest.mark.skipif(
        shutil.which("go") is None, reason="needs a Go toolchain: apt install golang-go"
    ),
)


@pytest.mark.parametrize("client", ["java", "python", GO])
def test_a_delayed_message_comes_late(run_scenario: RunScenario, client: str) -> None:
    assert run_scenario(LATE.replace("CLIENT", client))["outcome"] == "reproduced"


def test_a_request_gets_a_reply_or_none_in_time(run_scenario: RunScenario) -> None:
    assert run_scenario(ASKED)["outcome"] == "reproduced"


@pytest.mark.parametrize("client", ["java", GO])
def test_a_batch_has_tags_of_its_own_and_one_way_messages_are_found(
    run_scenario: RunScenario, client: str
) -> None:
    assert run_scenario(TOGETHER.replace("CLIENT", client))["outcome"] == "reproduced"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "comes", "outcome"),
    [
        ("DELAY", "delivered: g, count: 2", "reproduced"),
        ("NORMAL", "ownership: g", "not-reproduced"),
    ],
)
def test_over_grpc_a_delay_needs_a_topic_of_its_type(
    run_scenario: RunScenario, kind: str, comes: str, outcome: str
) -> None:
    text = OVER_GRPC.replace("TYPE", kind).replace("COMES", comes)
    assert run_scenario(text, "5.5.0")["outcome"] == outcome


@pytest.mark.nightly
def test_a_client_of_4_9_writes_its_trace(run_scenario: RunScenario) -> None:
    """`enableMsgTrace` is an argument of its constructors, a transactional producer's as well."""
    assert run_scenario(TRACED)["outcome"] == "reproduced"
