"""Entries that programs write into a topic: read from brokers, and told of the one who wrote them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.clients.raw_pull import Pulled, PullRequest
from rocketchaos.harness.engine import stored_entries
from rocketchaos.harness.engine.context import RunContext
from rocketchaos.harness.engine.written_entries import WrittenEntries
from rocketchaos.harness.rocketmq.stored_messages import PulledMessage
from rocketchaos.harness.workers.program import InContainer
from rocketchaos.harness.workers.worker_events import WorkerEvent
from tests.unit.history_builder import scenario_of

TEXT = """\
name: own
title: programs write into a topic
topics: {orders: {queues: 1}, handled: {queues: 2}}
consumers:
  a: {group: g, subscribe: {orders: tagA}, app: {command: [./a], sees: SEES}}
  b: {group: g, subscribe: {orders: tagA}, app: {command: [./b], sees: {topic: OTHER}}}
steps: [{start: [a, b]}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""


class Brokers:
    """What the queues of `handled` hold, and what was told of it."""

    def __init__(self) -> None:
        self.stored: dict[int, list[PulledMessage]] = {0: [], 1: []}
        self.addresses = {"broker-a": "127.0.0.1:1"}
        self.told: list[tuple[str, str, dict[str, Any]]] = []
        self.late: list[PulledMessage] = []
        self.dispatches = True
        self.young_looks = 0
        self.failures: list[str] = []
        self.consumers = {
            name: SimpleNamespace(started=True, pid=1, container=InContainer(name, name, address))
            for name, address in (("a", "198.18.0.40"), ("b", "198.18.0.41"))
        }

    def write(
        self, key: str | None = None, body: str = "", born: str = "198.18.0.40:1", queue: int = 0
    ) -> None:
        own = self.stored[queue]
        own.append(PulledMessage(len(own), key, None, body.encode(), born))

    def dispatch(self, address: str) -> int | None:
        """Asked how much is in no queue yet, it puts it there."""
        assert address == "127.0.0.1:1"
        if self.young_looks:
            self.young_looks -= 1
            return None
        behind = len(self.late)
        if self.dispatches:
            self.stored[1] += self.late
            self.late = []
        return behind

    def note_failure(self, probe: str, error: str) -> None:
        self.failures.append(f"{probe}: {error}")

    def pull(self, address: str, request: PullRequest) -> Pulled:
        assert (address, request.topic) == ("127.0.0.1:1", "handled-real")
        found = self.stored[request.queue_id][request.offset : request.offset + 3]
        return Pulled(0, "", request.offset + len(found), 0, 0, tuple(found), 1.0)

    @property
    def context(self) -> RunContext:
        queues = [("broker-a", 0), ("broker-a", 1)]
        servers = SimpleNamespace(queues=lambda _topic: queues, broker_addresses=self.addresses)
        names = SimpleNamespace(real=lambda topic: f"{topic}-real")
        context = SimpleNamespace(servers=servers, names=names, consumers=self.consumers, observations=self)
        return cast("RunContext", context)

    def tell(self, consumer: str, event: WorkerEvent) -> None:
        self.told.append((consumer, event.kind, dict(event.data)))

    @property
    def keys(self) -> list[tuple[str, str]]:
        return [(consumer, data["key"]) for consumer, kind, data in self.told if kind == "line"]


Begin = Callable[..., WrittenEntries]


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> Brokers:
    brokers = Brokers()
    monkeypatch.setattr(stored_entries, "pull", brokers.pull)
    monkeypatch.setattr(stored_entries, "undispatched_bytes", brokers.dispatch)
    monkeypatch.setattr(stored_entries, "_DISPATCH_LIMIT_S", 0.1)
    # Read when a test says so.
    monkeypatch.setattr(WrittenEntries, "look_every_s", 60)
    return brokers


@pytest.fixture
def begin(brokers: Brokers) -> Iterator[Begin]:
    made: list[WrittenEntries] = []

    def of(sees: str = "{topic: handled}", other: str = "handled") -> WrittenEntries:
        scenario = scenario_of(TEXT.replace("SEES", sees).replace("OTHER", other))
        made.append(WrittenEntries(scenario, brokers.tell))
        made[-1].begin(brokers.context)
        return made[-1]

    yield of
    for entries in made:
        entries.close()


def test_all_queues_are_read_to_their_end_and_nothing_twice(brokers: Brokers, begin: Begin) -> None:
    entries = begin(other="orders")
    entries._writers.pop("orders")
    for number in range(7):
        brokers.write(f"orders-{number}")
    brokers.write("orders-8 A17", queue=1)
    entries.read()
    entries.read()
    assert brokers.keys == [("a", key) for key in (*(f"orders-{n}" for n in range(7)), "orders-8", "A17")]
    assert entries.seen("a") == {"where": "written into handled", "entries": 8, "last": "orders-8 A17"}
    brokers.write("orders-9")
    entries.read()
    assert brokers.keys[-1] == ("a", "orders-9")


@pytest.mark.parametrize("dispatches", [True, False])
def test_what_is_in_no_queue_yet_is_awaited_within_a_limit(
    brokers: Brokers, begin: Begin, dispatches: bool
) -> None:
    entries = begin(other="orders")
    entries._writers.pop("orders")
    brokers.late, brokers.dispatches = [PulledMessage(0, "orders-1", None, b"", "198.18.0.40:1")], dispatches
    entries.read()
    assert brokers.keys == [("a", "orders-1")] * dispatches
    late = "entries: after 0.1 s broker-a has 1 B of messages in no queue yet"
    assert brokers.failures == [late] * (not dispatches)


def test_a_broker_without_figures_yet_is_awaited_too(brokers: Brokers, begin: Begin) -> None:
    entries = begin(other="orders")
    entries._writers.pop("orders")
    brokers.late, brokers.young_looks = [PulledMessage(0, "orders-1", None, b"", "198.18.0.40:1")], 2
    entries.read()
    assert (brokers.keys, brokers.failures) == ([("a", "orders-1")], [])
    brokers.young_looks = 1000
    entries.read()
    assert brokers.failures == [
        "entries: after 0.1 s broker-a has an unknown amount of messages in no queue yet"
    ]


def test_the_body_may_name_the_message(brokers: Brokers, begin: Begin) -> None:
    entries = begin("""{topic: handled, body: '"order": "(?P<key>[^"]+)", "(?P<status>[A-Z_]+)"'}""")
    brokers.write("x", '{"order": "orders-3", "RECONSUME_LATER"}')
    brokers.write("y", "something else" + "z" * 1000)
    entries.read()
    ((consumer, kind, data),) = brokers.told
    assert (consumer, kind, data["key"], data["status"]) == ("a", "line", "orders-3", "RECONSUME_LATER")
    assert data["line"] == '{"order": "orders-3", "RECONSUME_LATER"}'
    assert entries.seen("a")["entries"] == 2


def test_of_several_the_one_has_written_it_whose_address_it_came_from(brokers: Brokers, begin: Begin) -> None:
    entries = begin()
    brokers.write("orders-1")
    brokers.write("orders-2", born="198.18.0.41:5")
    entries.read()
    assert brokers.keys == [("a", "orders-1"), ("b", "orders-2")]
    # Killed meanwhile: its connection is known already.
    brokers.consumers["a"].started = False
    brokers.write("orders-3")
    entries.read()
    assert brokers.keys[-1] == ("a", "orders-3")


def test_an_entry_of_nobody_is_reported_and_counts_for_nobody(brokers: Brokers, begin: Begin) -> None:
    entries = begin()
    brokers.write("orders-1", born="198.18.0.99:5")
    entries.read()
    ((_, kind, data),) = brokers.told
    assert (kind, data["line"]) == ("line-of-no-message", "orders-1")
    assert data["reason"] == "a, b write into handled, and none of them has the address 198.18.0.99:5"
    assert entries.seen("a")["entries"] == 0


def test_a_broker_that_is_away_is_read_later(
    brokers: Brokers, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = begin()
    brokers.write("orders-1")

    def refuse(_address: str, _request: PullRequest) -> Pulled:
        raise ConnectionRefusedError

    monkeypatch.setattr(stored_entries, "pull", refuse)
    entries.read()
    assert brokers.told == []
    monkeypatch.setattr(stored_entries, "pull", brokers.pull)
    monkeypatch.setattr(stored_entries, "undispatched_bytes", brokers.dispatch)
    monkeypatch.setattr(stored_entries, "_DISPATCH_LIMIT_S", 0.1)
    brokers.addresses.clear()
    entries.read()
    assert brokers.told == []
    brokers.addresses["broker-a"] = "127.0.0.1:1"
    entries.read()
    assert brokers.keys == [("a", "orders-1")]
