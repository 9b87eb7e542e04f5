"""What a container prints, against a socket that speaks as an engine does."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from rocketchaos.harness.workers.container_output import ContainerOutput
from tests.unit.workers.test_attachment import STDERR, STDOUT, frame


class Attached:
    """An engine's end of the socket, and this end."""

    def __init__(self) -> None:
        self.ended = False
        self.engine, given = socket.socketpair()
        api = SimpleNamespace(attach_socket=lambda container, params: given)
        engine: Any = SimpleNamespace(client=SimpleNamespace(api=api))
        self.output = ContainerOutput(engine, "c" * 64, self._on_end)
        given.close()

    def _on_end(self) -> None:
        self.ended = True


@pytest.fixture
def attached() -> Iterator[Attached]:
    attached = Attached()
    yield attached
    attached.engine.close()
    attached.output.close()


def test_a_line_of_one_stream_is_never_torn_by_the_other(attached: Attached) -> None:
    pieces = frame(STDOUT, b"handled or") + frame(STDERR, b"warn") + frame(STDOUT, b"ders-1\nhand")
    pieces += frame(STDERR, b"ing\n") + frame(STDOUT, b"led orders-2\n") + frame(STDERR, b"no end")
    for position in range(len(pieces)):
        attached.engine.sendall(pieces[position : position + 1])
    attached.engine.close()
    assert attached.output.pipe.readall() == b"handled orders-1\nwarning\nhandled orders-2\nno end"
    assert attached.ended


def test_a_long_line_goes_on_before_its_end_is_known(attached: Attached) -> None:
    attached.engine.sendall(frame(STDOUT, b"x" * 40_000) + frame(STDOUT, b"y" * 40_000))
    assert os.read(attached.output.pipe.fileno(), 40_000) == b"x" * 40_000


def test_its_end_is_seen_where_nobody_reads(attached: Attached) -> None:
    attached.output.pipe.close()
    attached.engine.sendall(frame(STDOUT, b"handled orders-1\n" * 100))
    attached.engine.close()
    attached.output.close()
    assert attached.ended


def test_it_is_given_up_before_its_start(attached: Attached) -> None:
    attached.output.close()
    assert attached.ended
