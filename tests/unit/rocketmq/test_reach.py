from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from rocketchaos.harness.rocketmq import reach, remoting

HOST = "198.18.0.3"
ADDRESS = f"{HOST}:10911"


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    yield
    reach.withdraw(HOST)


def test_what_is_not_published_is_reached_where_it_is() -> None:
    assert reach.reachable(ADDRESS) == ADDRESS
    assert reach.reachable("broker-a:10911") == "broker-a:10911"


def test_published_ports_are_reached_until_they_are_withdrawn() -> None:
    reach.publish(HOST, {10911: "127.0.0.1:32768"})
    assert reach.reachable(ADDRESS) == "127.0.0.1:32768"
    assert reach.reachable("198.18.0.4:10911") == "198.18.0.4:10911"
    reach.publish(HOST, {10911: "127.0.0.1:32769"})
    assert reach.reachable(ADDRESS) == "127.0.0.1:32769"
    reach.withdraw(HOST)
    reach.withdraw(HOST)
    assert reach.reachable(ADDRESS) == ADDRESS


def test_what_is_down_or_not_published_is_refused_at_once() -> None:
    reach.publish(HOST, {10911: "127.0.0.1:32768"})
    with pytest.raises(ConnectionRefusedError, match=r"198\.18\.0\.3:10909"):
        reach.reachable(f"{HOST}:10909")
    reach.publish(HOST, {})
    with pytest.raises(ConnectionRefusedError):
        remoting.ask(ADDRESS, remoting.GET_BROKER_CONFIG)


def test_requests_go_where_it_is_published() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        reach.publish(HOST, {10911: f"127.0.0.1:{server.getsockname()[1]}"})
        with remoting.connect(ADDRESS, 1.0) as connection, server.accept()[0] as accepted:
            connection.sendall(b"x")
            assert accepted.recv(1) == b"x"
