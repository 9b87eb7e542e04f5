"""The harness's own connection to a broker: answers, requests of the other side, and the end.

The other side here is a socket of the test; it is never called a broker.
"""

from __future__ import annotations

import queue
import socket
import struct
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from rocketchaos.harness.clients.connection import Connection
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.remoting import Answer, frame, read_frame
from rocketchaos.harness.rocketmq.stored_messages import decode


@dataclass
class OtherSide:
    connection: Connection
    peer: socket.socket
    asked: queue.Queue[Answer]


@pytest.fixture
def other() -> Iterator[OtherSide]:
    asked: queue.Queue[Answer] = queue.Queue()
    with socket.create_server(("127.0.0.1", 0)) as server:
        connection = Connection(f"127.0.0.1:{server.getsockname()[1]}", asked.put)
        peer, _ = server.accept()
        yield OtherSide(connection, peer, asked)
        peer.close()
        connection.close()


def soon() -> float:
    return time.monotonic() + 5


def test_a_request_of_the_other_side_is_handed_on_and_refused_only_where_it_wants_an_answer(
    other: OtherSide,
) -> None:
    other.peer.sendall(frame(40, 7, {"consumerGroup": "g"}, flag=remoting.ONE_WAY))
    other.peer.sendall(frame(307, 8, {}))
    assert [other.asked.get(timeout=5).code for _ in range(2)] == [40, 307]
    refusal = read_frame(other.peer, soon())
    assert (refusal.is_response, refusal.opaque, refusal.answer.code) == (True, 8, remoting.UNSUPPORTED)


def test_an_answer_finds_its_request_whatever_comes_between(other: OtherSide) -> None:
    def reply() -> None:
        request = read_frame(other.peer, soon())
        assert not request.is_response
        assert request.wants_response
        other.peer.sendall(frame(0, 99, {}, flag=remoting.RESPONSE))
        other.peer.sendall(frame(40, request.opaque, {}, flag=remoting.ONE_WAY))
        other.peer.sendall(frame(0, request.opaque, {"offset": "5"}, b"body", flag=remoting.RESPONSE))

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(reply)
        answer = other.connection.ask(30, {"topic": "orders"}, limit_s=5)
        done.result()
    assert (answer.code, answer.fields, answer.body) == (0, {"offset": "5"}, b"body")
    assert other.asked.get(timeout=5).code == 40


def test_an_answer_that_does_not_come_is_a_limit_that_passes(other: OtherSide) -> None:
    with pytest.raises(TimeoutError):
        other.connection.ask(30, limit_s=0.05)


def test_an_answer_that_nobody_has_taken_yet_keeps_the_end_from_nobody(other: OtherSide) -> None:
    answered: Future[Answer] = Future()
    answered.set_result(Answer(0, "", {}, b""))
    waiting: Future[Answer] = Future()
    other.connection._waiting |= {-2: answered, -1: waiting}
    other.peer.shutdown(socket.SHUT_RDWR)
    assert isinstance(waiting.exception(timeout=5), ConnectionError)


def test_whoever_waits_hears_of_the_end(other: OtherSide) -> None:
    other.peer.shutdown(socket.SHUT_RDWR)
    with pytest.raises(ConnectionError):
        other.connection.ask(30)
    with pytest.raises(ConnectionError, match="is gone"):
        other.connection.ask(30)
    assert other.connection.closed


def message(
    *,
    topic_length: str = ">B",
    magic: int = -626843481,
    hosts: int = 8,
    flags: int = 0,
    born: bytes | None = None,
    body: bytes = b"body",
) -> bytes:
    properties = b"KEYS\x01orders-1 more\x02TAGS\x01tagA\x02"
    topic = b"orders"
    rest = struct.pack(">iiiiqqi", magic, 0, 3, 0, 41, 0, flags)
    rest += bytes(8) + (born or bytes(hosts)) + bytes(8 + hosts + 4 + 8)
    rest += struct.pack(">i", len(body)) + body + struct.pack(topic_length, len(topic)) + topic
    rest += struct.pack(">H", len(properties)) + properties
    return struct.pack(">i", 4 + len(rest)) + rest


@pytest.mark.parametrize(
    "item",
    [
        message(),
        message(topic_length=">H", magic=-626843477),
        message(hosts=20, flags=(1 << 4) | (1 << 5)),
    ],
    ids=["plain", "long topic", "IPv6"],
)
def test_messages_are_decoded(item: bytes) -> None:
    found = decode(item * 2)
    assert [(each.queue_offset, each.key, each.tag) for each in found] == [(41, "orders-1 more", "tagA")] * 2
    assert decode(b"") == []


def test_a_body_is_unpacked_and_it_is_reported_where_it_was_sent() -> None:
    born = struct.pack(">BBBBi", 198, 18, 0, 40, 51234)
    # Compressed as by 4.9.4, and as by 5.x; not a method that isn't zlib's.
    packed = zlib.compress(b"order 17")
    bodies = [
        decode(message(born=born, flags=flags, body=packed))[0].body for flags in (1, 1 | 3 << 8, 1 | 1 << 8)
    ]
    assert bodies == [b"order 17", b"order 17", packed]
    assert decode(message(born=born))[0].born == "198.18.0.40:51234"
    assert decode(message(hosts=20, flags=(1 << 4) | (1 << 5)))[0].born == ""


@pytest.mark.parametrize(
    "wrong", [message(flags=1), b"\0\0\0\x08abcd", b"\0\0\1\0", b"\xff\xff\xff\xff", message()[:-3]]
)
def test_what_is_no_message_is_refused(wrong: bytes) -> None:
    with pytest.raises(ValueError, match=r"message|read"):
        decode(wrong)
