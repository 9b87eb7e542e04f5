"""What programs list as handled when they are asked by HTTP: here a server of the test answers in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.engine.answered_entries import AnsweredEntries
from rocketchaos.harness.engine.context import RunContext
from rocketchaos.harness.workers.program import InContainer
from rocketchaos.harness.workers.worker_events import WorkerEvent
from tests.unit.history_builder import scenario_of

TEXT = """\
name: own
title: a program lists what it has handled
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, subscribe: {orders: tagA}, app: {command: [./a], sees: {http: "http://$host:PORT/handled"MORE}}}
steps: [{start: a}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""


class Program:
    """What a program answers, and what was told of it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.status, self.answer = 200, ""
        self.asked: list[str] = []
        self.told: list[dict[str, Any]] = []
        self.consumer = SimpleNamespace(started=True, paused=False, container=None)
        self.cluster: Any = None

    def begin(self, more: str = "", *, port: int | None = None) -> AnsweredEntries:
        text = TEXT.replace("PORT", str(port or self.port)).replace("MORE", more)
        entries = AnsweredEntries(scenario_of(text), self._tell)
        context = SimpleNamespace(
            consumers={"a": self.consumer}, servers=SimpleNamespace(cluster=self.cluster)
        )
        entries.begin(cast("RunContext", context))
        return entries

    def _tell(self, consumer: str, event: WorkerEvent) -> None:
        assert (consumer, event.kind) == ("a", "line")
        self.told.append(dict(event.data))

    @property
    def keys(self) -> list[str]:
        return [data["key"] for data in self.told]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    # Read when a test says so.
    monkeypatch.setattr(AnsweredEntries, "look_every_s", 60)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append(self.path)
            self.send_response(made.status)
            self.end_headers()
            self.wfile.write(made.answer.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made = Program(server.server_port)
        Thread(target=server.serve_forever, daemon=True).start()
        yield made
        server.shutdown()


def test_what_is_listed_counts_once(program: Program) -> None:
    entries = program.begin()
    program.answer = '["orders-1", "orders-2"]'
    entries.read()
    program.answer = "orders-1\norders-2,orders-3\n"
    entries.read()
    assert program.keys == ["orders-1", "orders-2", "orders-3"]
    assert set(program.asked) == {"/handled"}
    where = f"found in the answers of http://$host:{program.port}/handled"
    seen = entries.seen("a")
    assert (seen["where"], seen["entries"], seen["failure"]) == (where, 3, "")
    assert "orders-3" in seen["last"]
    entries.close()


def test_a_pattern_may_find_it_and_tell_more(program: Program) -> None:
    entries = program.begin(""", body: '"id": "(?P<key>[^"]+)", "result": "(?P<status>[^"]*)"'""")
    program.answer = '[{"id": "orders-1", "result": "RECONSUME_LATER"}, {"id": "orders-2"}]'
    entries.read()
    ((told),) = program.told
    assert (told["key"], told["status"]) == ("orders-1", "RECONSUME_LATER")
    # It is handled after all: that is another finding.
    program.answer = '[{"id": "orders-1", "result": "CONSUME_SUCCESS"}]'
    entries.read()
    assert [item["status"] for item in program.told] == ["RECONSUME_LATER", "CONSUME_SUCCESS"]
    entries.close()


def spoils_status(program: Program) -> None:
    program.status = 500


def stops(program: Program) -> None:
    program.consumer.started = False


def is_paused(program: Program) -> None:
    program.consumer.paused = True


@pytest.mark.parametrize(
    ("spoil", "failure"), [(spoils_status, "HTTP Error 500"), (stops, ""), (is_paused, "")]
)
def test_without_an_answer_nothing_is_reported(
    program: Program, spoil: Callable[[Program], None], failure: str
) -> None:
    program.answer = "orders-1"
    spoil(program)
    entries = program.begin()
    entries.read()
    assert program.keys == []
    assert failure in entries.seen("a")["failure"]
    assert bool(entries.seen("a")["failure"]) == bool(failure)
    program.status, program.consumer.started, program.consumer.paused = 200, True, False
    entries.read()
    assert (program.keys, entries.seen("a")["failure"]) == (["orders-1"], "")
    entries.close()


def test_where_nobody_listens_the_failure_says_so(program: Program) -> None:
    entries = program.begin(port=1)
    entries.read()
    assert "refused" in entries.seen("a")["failure"]
    entries.close()


def test_the_host_of_an_image_is_its_container(program: Program) -> None:
    program.consumer.container = InContainer("id", "name", "127.0.0.2")
    entries = program.begin()
    entries.read()
    # The server of the test listens on 127.0.0.1 alone.
    assert "refused" in entries.seen("a")["failure"]
    program.cluster = SimpleNamespace(only_inside=True, worker_home=print, place=print)
    inside = program.begin()
    with pytest.raises(EnvironmentNotReady, match="the container engine runs in a VM"):
        inside.read()
    for item in (entries, inside):
        item.close()
