from __future__ import annotations

import os
import random
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketchaos.harness.cluster import ports
from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def test_no_port_is_chosen_twice_and_all_are_below_the_outgoing_range() -> None:
    chosen = ports.choose(20)
    every = [*chosen.name_servers, *(port for each in chosen.brokers for port in ports.broker_ports(each))]
    assert len(set(every)) == 1 + 20 * 3
    first_outgoing = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert max(every) < first_outgoing


def test_the_neighbours_of_a_brokers_port_must_be_free_too(monkeypatch: pytest.MonkeyPatch) -> None:
    # In the order of the draws 20000 would be the port for replicas, for clients, the fast one, and none.
    draws = iter([19_999, 20_000, 20_002, 20_001])
    monkeypatch.setattr(random, "randint", lambda _low, _high: next(draws))
    monkeypatch.setattr(ports, "is_free", lambda port: port != 20_000)
    assert ports.choose(1, nameserver=1).brokers == [20_001]


def test_a_proxy_gets_two_ports_of_its_own_and_each_name_server_one() -> None:
    chosen = ports.choose(2, with_proxy=True, name_servers=3)
    assert chosen.proxy is not None
    every = [
        *chosen.proxy,
        *chosen.name_servers,
        *(broker_port for each in chosen.brokers for broker_port in ports.broker_ports(each)),
    ]
    assert len(set(every)) == 2 + 3 + 2 * 3
    assert ports.choose(2).proxy is None


def test_a_controller_gets_a_port_of_its_own() -> None:
    chosen = ports.choose(2, with_controller=True)
    assert chosen.controller not in (None, *chosen.name_servers, *chosen.brokers)
    assert ports.choose(2).controller is None


def test_a_port_that_the_user_asked_for_is_not_given_to_a_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = iter([23456, 23456 + 2, 24567])
    monkeypatch.setattr(random, "randint", lambda _low, _high: next(draws))
    monkeypatch.setattr(ports, "is_free", lambda _port: True)
    assert ports.choose(1, nameserver=23456) == ports.ServerPorts([23456], [24567])


def test_a_taken_port_is_refused_with_the_name_of_its_holder(taken: int) -> None:
    with pytest.raises(EnvironmentNotReady, match=rf"port {taken} is taken by \S+ \(pid {os.getpid()}\)"):
        ports.require_free(taken)


def test_a_port_is_free_again_when_its_holder_is_gone() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        assert not ports.is_free(port)
    ports.require_free(port)


@pytest.mark.parametrize("port", [0, -1, 65_536])
def test_what_is_no_port_is_wrong_usage(port: int) -> None:
    with pytest.raises(UsageProblem):
        ports.require_free(port)


def test_when_nothing_is_free_the_search_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "is_free", lambda _port: False)
    with pytest.raises(EnvironmentNotReady, match="no free ports"):
        ports.choose(1)
