"""Which member of a group a program is, and what is taken for known of its client."""

from __future__ import annotations

import os
import socket
from collections.abc import Collection, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.cluster.base import Proxy
from rocketchaos.harness.core.errors import EnvironmentNotReady, RequestFailed
from rocketchaos.harness.engine import program_start
from rocketchaos.harness.engine.program_start import begun, client_among, connections_of, local_ports
from rocketchaos.harness.probes.context import ProbeContext
from rocketchaos.harness.workers.lease import WorkerProcess
from rocketchaos.harness.workers.program import InContainer
from tests.unit.history_builder import scenario_of

TEXT = """\
name: own
title: a is a program
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, subscribe: {orders: tagA}, app: {command: [./a], sees: {log: '(?P<key>.)'}}}
  b: {group: g, subscribe: {orders: tagA}}
steps: [{start: [a, b]}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""
STORED = {"orders": {"expression": "tagB", "type": "TAG"}, "%RETRY%g": {"expression": "*", "type": "TAG"}}


class Broker:
    """What a broker tells of the group, as far as a start asks."""

    def __init__(self, *connections: tuple[str, str, int], consume_type: str = "CONSUME_PASSIVELY") -> None:
        self.connections = [
            {"client_id": name, "language": language, "address": f"127.0.0.1:{port}", "version_name": "4.9.4"}
            for name, language, port in connections
        ]
        self.consume_type = consume_type
        self.stored: dict[str, Any] = dict(STORED)
        self.proxy: Proxy | None = None
        self.running: dict[str, Any] | None = {
            "orders": {"expression": "tagA", "type": "TAG", "sub_version": 1}
        }

    def connection(self, _group: str, _address: str) -> dict[str, Any]:
        if not self.connections:
            raise RequestFailed("not online", 206)
        return {
            "connections": self.connections,
            "subscriptions": self.stored,
            "consume_type": self.consume_type,
        }

    def running_info(self, *_asked: object) -> dict[str, Any]:
        if self.running is None:
            raise RequestFailed("no answer", None)
        return {"subscriptions": self.running}

    @property
    def context(self) -> ProbeContext:
        """In which b is online."""
        consumers = {name: SimpleNamespace(client_id=f"{name}@t", printed=lambda: None) for name in "ab"}
        context = SimpleNamespace(
            scenario=scenario_of(TEXT),
            admin=self,
            consumers=consumers,
            members=SimpleNamespace(online=lambda _group: ("b",)),
            hand_made=SimpleNamespace(ids=lambda _group: []),
            names=SimpleNamespace(real=str, scenario=str),
            servers=SimpleNamespace(
                keepers_of_group=lambda _group: {"broker-a": "127.0.0.1:1"},
                cluster=SimpleNamespace(nodes=[], proxy=self.proxy),
            ),
            check_alive=lambda: None,
        )
        return cast("ProbeContext", context)

    def begun(
        self, former: Collection[tuple[str, str]] = (), container: InContainer | None = None
    ) -> dict[str, Any]:
        worker = cast("WorkerProcess", SimpleNamespace(pid=os.getsid(0), container=container))
        return dict(begun(self.context, "a", worker, 0.3, former))


@pytest.fixture
def port() -> Iterator[int]:
    """The port from which a process of this session has a connection."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as connection,
    ):
        yield connection.getsockname()[1]


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_start, "_ASKED_S", 0.2)


def test_the_member_that_speaks_from_its_sockets_is_the_program(port: int) -> None:
    assert port in local_ports(os.getsid(0))
    found = Broker(("b@t", "JAVA", 1), ("x@t", "JAVA", port)).begun()
    assert (found["client_id"], found["client_version"]) == ("x@t", "4.9.4")
    assert found["subscribe"] == {"orders": "tagA"}
    assert found["traits"]["filters_by"] == "stored"
    assert found["traits"]["tells_queues"] is True


@pytest.mark.parametrize(
    ("ids", "found"), [(["x@t"], "x@t"), (["x@t", "y@t"], None), ([], None)], ids=["one", "two", "none"]
)
def test_its_next_client_is_the_one_that_speaks_from_its_sockets(
    port: int, ids: list[str], found: str | None
) -> None:
    """A supervisor has started its program again, so that brokers know another client."""
    worker = cast("WorkerProcess", SimpleNamespace(pid=os.getsid(0), container=None))
    own = [{"client_id": name, "address": f"127.0.0.1:{port}"} for name in ids]
    assert client_among(worker, [{"client_id": "b@t", "address": "127.0.0.1:1"}, *own]) == found


def test_the_client_over_c_filters_by_its_own(port: int) -> None:
    found = Broker(("x@t", "CPP", port)).begun()
    assert (found["client_version"], found["traits"]["filters_by"]) == ("cpp", "own")


def test_one_that_does_not_answer_subscribes_to_what_the_broker_holds_where_it_is_alone(port: int) -> None:
    alone, together = Broker(("x@t", "JAVA", port)), Broker(("b@t", "JAVA", 1), ("x@t", "JAVA", port))
    alone.running = together.running = None
    assert alone.begun()["subscribe"] == {"orders": "tagB"}
    found = together.begun()
    assert found["subscribe"] is None
    assert found["traits"]["tells_queues"] is False


@pytest.mark.parametrize(("language", "how"), [("DOTNET", "CONSUME_PASSIVELY"), ("JAVA", "CONSUME_ACTIVELY")])
def test_of_another_client_nothing_is_taken_for_known(port: int, language: str, how: str) -> None:
    broker = Broker(("b@t", "JAVA", 1), ("x@t", language, port), consume_type=how)
    found = broker.begun()
    assert (found["client_id"], found["subscribe"], found["traits"]) == ("x@t", None, {})


def test_a_grpc_client_is_not_the_remoting_one_of_its_language(port: int) -> None:
    broker = Broker(("x@t", "JAVA", port))
    broker.running = None
    for server, traits in ((local_ports(os.getsid(0))[port], {}), (1, {"filters_itself": True})):
        broker.proxy = Proxy("local", f"127.0.0.1:{server}", "127.0.0.1:1")
        found = broker.begun()
        assert found["subscribe"] == {"orders": "tagB"}
        assert found["traits"].items() >= traits.items()
        assert bool(found["traits"]) == bool(traits)
        assert found["client_version"] == ("4.9.4" if traits else "java")


def test_a_grpc_client_without_subscriptions_is_not_there_yet(port: int) -> None:
    broker = Broker(("x@t", "JAVA", port))
    broker.stored = {}
    broker.proxy = Proxy("local", f"127.0.0.1:{local_ports(os.getsid(0))[port]}", "127.0.0.1:1")
    with pytest.raises(EnvironmentNotReady, match="has not become a member"):
        broker.begun()


def test_one_without_a_socket_of_its_own_is_known_by_being_new_alone() -> None:
    found = Broker(("b@t", "JAVA", 1), ("x@t", "JAVA", 2)).begun()
    assert (found["client_id"], found["subscribe"], found["traits"]) == ("x@t", None, {})


@pytest.mark.parametrize("client_id", ["old@t", "fixed@t"])
def test_a_connection_of_a_process_that_is_gone_is_not_the_program(port: int, client_id: str) -> None:
    """It may have the same client id: that is the user's to choose."""
    gone = (client_id, "JAVA", 1)
    former = connections_of(Broker(gone).context, "a")
    with pytest.raises(EnvironmentNotReady, match="has not become a member"):
        Broker(gone).begun(former)
    new = "fixed@t" if client_id == "fixed@t" else "new@t"
    found = Broker(gone, (new, "JAVA", port)).begun(former)
    assert (found["client_id"], found["subscribe"]) == (new, {"orders": "tagA"})


def test_a_container_is_known_by_its_address() -> None:
    broker = Broker(("b@t", "JAVA", 1), ("y@t", "JAVA", 2), ("x@t", "GO", 3))
    broker.connections[2]["address"] = "198.18.0.40:51234"
    found = broker.begun(container=InContainer("id", "name", "198.18.0.40"))
    assert (found["client_id"], found["client_version"]) == ("x@t", "go")
    broker.connections.pop(1)
    other = InContainer("id", "name", "198.18.0.4")
    # It may come by another way, as through a proxy: then nothing is taken for known.
    assert broker.begun(container=other)["traits"] == {}
    broker.connections.pop()
    with pytest.raises(EnvironmentNotReady, match="within 120 s: it has printed nothing") as error:
        broker.begun(container=other)
    assert "has no connection" not in str(error.value)


def test_several_consumers_of_one_program_can_not_be_told_apart(port: int) -> None:
    with pytest.raises(EnvironmentNotReady, match="has started 2 consumers of the group g, x@t, y@t"):
        Broker(("x@t", "JAVA", port), ("y@t", "JAVA", port)).begun()


@pytest.mark.parametrize("connections", [(), (("b@t", "JAVA", 1),)])
def test_one_that_does_not_come_in_time_is_one_message(connections: tuple[tuple[str, str, int], ...]) -> None:
    with pytest.raises(EnvironmentNotReady, match="has not become a member of its group g within 120 s"):
        Broker(*connections).begun()
