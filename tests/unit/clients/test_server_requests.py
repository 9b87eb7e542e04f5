"""Requests over connections that stay open: late answers, servers that are gone and back, signatures.

The servers here are sockets of the test; they are never called brokers.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rocketchaos.harness.clients.server_requests import DirectRequests, names_in
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.rocketmq.remoting import RESPONSE, Frame, frame, read_frame
from rocketchaos.harness.rocketmq.signature import Secrets

LIMIT_S = 5.0


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.settimeout(LIMIT_S)
        yield made


@pytest.fixture
def requests() -> Iterator[DirectRequests]:
    made = DirectRequests()
    yield made
    made.close()


def address_of(server: socket.socket) -> str:
    return f"127.0.0.1:{server.getsockname()[1]}"


def read(peer: socket.socket) -> Frame:
    return read_frame(peer, time.monotonic() + LIMIT_S)


def answer(peer: socket.socket, request: Frame, body: bytes = b"") -> None:
    peer.sendall(frame(0, request.opaque, {}, body, RESPONSE))


def test_a_late_answer_costs_the_connection_and_nobody_else_his_answer(
    server: socket.socket, requests: DirectRequests
) -> None:
    address = address_of(server)
    with ThreadPoolExecutor() as pool:
        patient = pool.submit(requests.ask, address, 1, {}, limit_s=LIMIT_S)
        first, _ = server.accept()
        asked = read(first)
        with pytest.raises(RequestFailed, match=f"{address} doesn't answer request 2 within 0.1 s") as late:
            requests.ask(address, 2, {}, limit_s=0.1)
        assert late.value.code is None
        assert not late.value.is_refusal
        again = pool.submit(requests.ask, address, 3, {}, limit_s=LIMIT_S)
        second, _ = server.accept()
        answer(second, read(second), b"new")
        assert again.result(LIMIT_S).body == b"new"
        answer(first, asked, b"old")
        assert patient.result(LIMIT_S).body == b"old"
    first.close()
    second.close()


def test_one_connection_serves_all_until_the_server_closes_it(
    server: socket.socket, requests: DirectRequests
) -> None:
    address = address_of(server)
    with ThreadPoolExecutor() as pool:
        for _ in range(2):
            asking = pool.submit(requests.ask, address, 1, {}, limit_s=LIMIT_S)
            peer, _ = server.accept()
            for _ in range(2):
                answer(peer, read(peer))
                assert asking.result(LIMIT_S).code == 0
                asking = pool.submit(requests.ask, address, 1, {}, limit_s=LIMIT_S)
            read(peer)
            peer.close()
            with pytest.raises(RequestFailed, match=r"can't be asked: the connection to .* is gone"):
                asking.result(LIMIT_S)


def test_nobody_there(server: socket.socket, requests: DirectRequests) -> None:
    address = address_of(server)
    server.close()
    with pytest.raises(RequestFailed, match=f"{address} can't be asked: Connection refused"):
        requests.ask(address, 1, {}, limit_s=LIMIT_S)


def test_requests_are_signed_with_their_bodies(server: socket.socket) -> None:
    secrets = Secrets("key", "secret")
    requests = DirectRequests(secrets)
    with ThreadPoolExecutor() as pool:
        asking = pool.submit(requests.ask, address_of(server), 1, {"a": "b"}, b"body", limit_s=LIMIT_S)
        peer, _ = server.accept()
        asked = read(peer)
        answer(peer, asked)
        assert asking.result(LIMIT_S).code == 0
    assert asked.answer.fields == secrets.signed({"a": "b"}, b"body")
    assert asked.answer.fields["Signature"] != secrets.signed({"a": "b"})["Signature"]
    requests.close()
    peer.close()


def test_names_that_only_a_file_has(server: socket.socket, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("127.0.0.1 localhost\n127.0.0.1 broker-a\n")
    requests = DirectRequests(names=names_in(tmp_path / "hosts"))
    with ThreadPoolExecutor() as pool:
        port = server.getsockname()[1]
        asking = pool.submit(requests.ask, f"broker-a:{port}", 1, {}, limit_s=LIMIT_S)
        peer, _ = server.accept()
        answer(peer, read(peer))
        assert asking.result(LIMIT_S).code == 0
    requests.close()
    peer.close()
    assert names_in(None) == {}
