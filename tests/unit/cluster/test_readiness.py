"""Whether a proxy speaks gRPC, by what answers at its port."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from rocketchaos.harness.cluster.readiness import why_no_grpc

SETTINGS = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))


@pytest.fixture
def answering() -> Iterator[Callable[[bytes], str]]:
    """Starts a server that answers whoever connects; its `host:port`."""
    servers: list[socket.socket] = []

    def start(answer: bytes) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(100)
                connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        return f"127.0.0.1:{server.getsockname()[1]}"

    yield start
    for server in servers:
        server.close()


def test_one_that_answers_with_settings_is_ready(answering: Callable[[bytes], str]) -> None:
    assert why_no_grpc(answering(SETTINGS)) is None


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", SETTINGS[:5]])
def test_anything_else_isn_t(answering: Callable[[bytes], str], answer: bytes) -> None:
    assert "doesn't speak gRPC" in (why_no_grpc(answering(answer)) or "")


def test_nobody_there_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"127.0.0.1:{server.getsockname()[1]}"
    assert "Connection refused" in (why_no_grpc(endpoint) or "")
