"""The message trace of programs: read from brokers, and told of the one who wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.clients.raw_pull import Pulled, PullRequest
from rocketchaos.harness.engine import stored_entries
from rocketchaos.harness.engine.context import RunContext
from rocketchaos.harness.engine.traced_entries import TracedEntries
from rocketchaos.harness.rocketmq.stored_messages import PulledMessage
from rocketchaos.harness.workers.program import InContainer
from rocketchaos.harness.workers.worker_events import WorkerEvent
from tests.unit.history_builder import scenario_of

RECORDED = Path(__file__).parents[2] / "recorded" / "message_trace"
SCENARIO = scenario_of(
    """\
name: own
title: programs whose clients write a trace
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, subscribe: {orders: tagA}, app: {command: [./a], sees: {trace: true}}}
  b: {group: g, subscribe: {orders: tagA}, app: {command: [./b], sees: {trace: true}}}
  c: {group: h, subscribe: {orders: tagA}, app: {command: [./c], sees: {trace: true}}}
steps: [{start: [a, b, c]}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""
)
BEFORE = "SubBefore\x011\x01null\x01GROUP\x01REQUEST\x01id\x010\x01orders-1 A17\x02"
AFTER = "SubAfter\x01REQUEST\x01id\x011\x01true\x01orders-1 A17\x010\x01\x02"


class Broker:
    """What the trace topic of one broker holds, and what was told of it."""

    def __init__(self) -> None:
        self.stored: list[PulledMessage] = []
        self.told: list[tuple[str, str, dict[str, Any]]] = []

    def write(self, body: bytes, born: str = "198.18.0.40:1") -> None:
        self.stored.append(PulledMessage(len(self.stored), None, None, body, born))

    def pull(self, address: str, request: PullRequest) -> Pulled:
        assert (address, request.topic, request.queue_id) == ("127.0.0.1:1", "RMQ_SYS_TRACE_TOPIC", 0)
        found = self.stored[request.offset : request.offset + 3]
        return Pulled(0, "", request.offset + len(found), 0, 0, tuple(found), 1.0)

    @property
    def context(self) -> RunContext:
        consumers = {
            name: SimpleNamespace(started=True, pid=1, container=InContainer(name, name, f"198.18.0.{last}"))
            for name, last in (("a", 40), ("b", 41), ("c", 42))
        }
        return cast(
            "RunContext",
            SimpleNamespace(
                servers=SimpleNamespace(broker_addresses={"broker-a": "127.0.0.1:1"}),
                names=SimpleNamespace(real=lambda name: name),
                scenario=SCENARIO,
                consumers=consumers,
            ),
        )

    def tell(self, consumer: str, event: WorkerEvent) -> None:
        self.told.append((consumer, event.kind, dict(event.data)))

    @property
    def short(self) -> list[tuple[str, str, str, str | None]]:
        return [(name, data["key"], data["only"], data.get("status")) for name, _, data in self.told]


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    broker = Broker()
    monkeypatch.setattr(stored_entries, "pull", broker.pull)
    monkeypatch.setattr(stored_entries, "undispatched_bytes", lambda _address: 0)
    # Read when a test says so.
    monkeypatch.setattr(TracedEntries, "look_every_s", 60)
    return broker


@pytest.fixture
def entries(broker: Broker) -> Iterator[TracedEntries]:
    entries = TracedEntries(SCENARIO, broker.tell)
    entries.begin(broker.context)
    yield entries
    entries.close()


@pytest.mark.parametrize("version", ["4.9.4", "5.5.0"])
def test_real_records_belong_to_the_member_that_wrote_them(
    broker: Broker, entries: TracedEntries, version: str
) -> None:
    broker.write((RECORDED / f"{version}-fails.bin").read_bytes())
    broker.write((RECORDED / f"{version}-succeeds.bin").read_bytes(), born="198.18.0.41:7")
    entries.read()
    entries.read()
    assert ("a", "orders-1", "received", None) in broker.short
    assert ("a", "orders-1", "consumed", "RECONSUME_LATER") in broker.short
    assert ("b", "orders-3", "consumed", "CONSUME_SUCCESS") in broker.short
    assert len(broker.short) == len(set(broker.short))
    calls = [item for item in broker.short if item[2] == "received"]
    assert len(calls) * 2 == len(broker.short)
    assert entries.seen("b")["entries"] == 8


def test_a_call_that_has_not_returned_is_received_and_not_consumed(
    broker: Broker, entries: TracedEntries
) -> None:
    broker.write(BEFORE.replace("GROUP", "h").encode())
    entries.read()
    assert broker.short == [("c", "orders-1", "received", None)]


def test_a_second_record_without_a_group_belongs_to_the_first(broker: Broker, entries: TracedEntries) -> None:
    broker.write((BEFORE.replace("GROUP", "h") + AFTER).encode())
    entries.read()
    assert [item[2:] for item in broker.short] == [("received", None), ("consumed", "CONSUME_SUCCESS")]


def test_a_second_record_alone_proves_the_call_too(broker: Broker, entries: TracedEntries) -> None:
    broker.write(AFTER.replace("\x01\x02", "\x011\x01h\x02").encode())
    entries.read()
    assert [item[2:] for item in broker.short] == [("received", None), ("consumed", "CONSUME_SUCCESS")]


def test_other_groups_and_other_addresses_count_for_nobody(broker: Broker, entries: TracedEntries) -> None:
    broker.write(BEFORE.replace("GROUP", "somebody-else").encode())
    entries.read()
    assert broker.told == []
    broker.write(BEFORE.replace("GROUP", "g").encode(), born="198.18.0.99:5")
    entries.read()
    ((_, kind, data),) = broker.told
    assert kind == "line-of-no-message"
    assert "none of them has the address 198.18.0.99:5" in data["reason"]
    assert entries.seen("a")["entries"] == 0
