"""The channel to a program in a container, against a socket that speaks as an engine does."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rocketchaos.harness.workers.attachment import Attachment
from rocketchaos.harness.workers.container_program import SHELL, held_back

LIMIT_S = 10.0
STDOUT, STDERR = 1, 2


def frame(stream: int, data: bytes) -> bytes:
    return struct.pack(">BxxxL", stream, len(data)) + data


class Attached:
    """An engine's end of the socket, and this end."""

    def __init__(self, folder: Path) -> None:
        self.errors = folder / "b.log"
        self.may_end = threading.Event()
        self.may_end.set()
        self.seen_at_end = b"?"
        self.engine, given = socket.socketpair()
        # As docker-py leaves it: with a timeout, and nobody else who holds it.
        given.settimeout(60)
        api = SimpleNamespace(attach_socket=lambda container, params: given)
        engine: Any = SimpleNamespace(client=SimpleNamespace(api=api))
        self.attachment = Attachment(engine, "c" * 64, self.errors, self._on_end)
        given.close()

    def _on_end(self) -> None:
        self.may_end.wait(LIMIT_S)
        self.seen_at_end = self.errors.read_bytes()


@pytest.fixture
def attached(tmp_path: Path) -> Iterator[Attached]:
    attached = Attached(tmp_path)
    yield attached
    attached.may_end.set()
    attached.engine.close()
    attached.attachment.close()


def test_pieces_of_two_streams_are_put_together_each_in_its_order(attached: Attached) -> None:
    bytes_ = (
        frame(STDOUT, b"one\ntw") + frame(STDERR, b"warning\n") + frame(STDOUT, b"o\n") + frame(STDERR, b"!")
    )
    for position in range(len(bytes_)):  # as torn as can be
        attached.engine.sendall(bytes_[position : position + 1])
    assert attached.attachment.output.readline() == b"one\n"
    assert attached.attachment.output.readline() == b"two\n"
    attached.engine.close()
    assert attached.attachment.output.readline() == b""
    assert attached.seen_at_end == b"warning\n!"


def test_whatever_comes_is_taken_though_nobody_reads(attached: Attached) -> None:
    """An engine that can't get rid of a dead program's last words drops them after 2 s."""
    lines = b"".join(b"%099d\n" % number for number in range(100_000))
    attached.engine.settimeout(LIMIT_S)
    for start in range(0, len(lines), 32_768):
        attached.engine.sendall(frame(STDOUT, lines[start : start + 32_768]))
    attached.engine.close()
    assert attached.attachment.output.read() == lines


def test_the_output_ends_after_the_end_was_seen_to(attached: Attached) -> None:
    attached.may_end.clear()
    attached.engine.sendall(frame(STDOUT, b"last\n"))
    attached.engine.close()
    assert attached.attachment.output.readline() == b"last\n"
    end: list[bytes] = []
    reader = threading.Thread(target=lambda: end.append(attached.attachment.output.readline()))
    reader.start()
    reader.join(0.2)
    assert reader.is_alive()
    attached.may_end.set()
    reader.join(LIMIT_S)
    assert end == [b""]


def test_a_frame_that_is_cut_off_by_the_engines_death_is_delivered_as_far_as_it_came(
    attached: Attached,
) -> None:
    attached.engine.sendall(frame(STDOUT, b"whole\nhalf")[:-2])
    attached.engine.close()
    assert attached.attachment.output.read() == b"whole\nha"


def test_the_end_of_input_is_reported_while_output_goes_on(attached: Attached) -> None:
    os.write(attached.attachment.input.fileno(), b"command\n")
    attached.attachment.input.close()
    attached.attachment.input.close()
    attached.engine.settimeout(LIMIT_S)
    assert attached.engine.makefile("rb").read() == b"command\n"
    attached.engine.sendall(frame(STDOUT, b"still here\n"))
    assert attached.attachment.output.readline() == b"still here\n"


def test_a_program_says_nothing_before_somebody_listens() -> None:
    def run(said: bytes) -> subprocess.CompletedProcess[bytes]:
        command = [SHELL, *held_back([SHELL, "-c", 'echo event >&3; echo "$0" printed; cat >&3', "a b"])]
        return subprocess.run(command, input=said, capture_output=True, timeout=LIMIT_S, check=False)

    begun = run(b"\ncommands\n")
    assert (begun.stdout, begun.stderr) == (b"event\ncommands\n", b"a b printed\n")
    assert run(b"").stdout == b""
    assert run(b"").returncode != 0
