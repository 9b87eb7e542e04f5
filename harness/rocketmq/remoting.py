"""RocketMQ's remoting protocol, as far as it is needed without a Java client.

`ask` is one request, one answer, one connection; `harness.clients.connection` keeps one open. The frame is that
of `RemotingCommand` with JSON headers, the same in 4.9.x and 5.x: length, header length, header, body.
"""

import json
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass

from rocketchaos.harness.rocketmq import reach

UPDATE_BROKER_CONFIG = 25
"""To a broker: change settings; the body is the text of a properties file."""
GET_BROKER_CONFIG = 26
"""To a broker: all its settings, as the text of a properties file."""
GET_BROKER_RUNTIME_INFO = 28
"""To a broker: its state, as a table of texts."""
GET_ALL_TOPIC_CONFIG = 21
"""To a broker: its topics."""
GET_ALL_CONSUMER_OFFSET = 43
"""To a broker: the offsets of all groups."""
GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201
"""To a broker: its groups."""
GET_BROKER_CLUSTER_INFO = 106
"""To a name server: the brokers that are registered."""
GET_CONTROLLER_CONFIG = 1010
"""To a controller: its settings, as the text of a properties file."""
GET_SYNC_STATE_DATA = 1006
"""To a controller: the nodes of brokers, and which of them could be the master; the body is a list of names."""
SUCCESS = 0
UNSUPPORTED = 3
"""ResponseCode.REQUEST_CODE_NOT_SUPPORTED."""
RESPONSE, ONE_WAY = 1, 2
"""Bits of a frame's flag."""

# `MQVersion` of 4.9.4: from then on servers answer as they do to current clients.
_CLIENT_VERSION = 401
_LARGEST_FRAME_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answers to one request."""

    code: int
    """0 is success; see `ResponseCode`."""
    remark: str
    fields: Mapping[str, str]
    body: bytes


def ask(
    address: str,
    code: int,
    fields: Mapping[str, str] | None = None,
    body: bytes = b"",
    *,
    limit_s: float = 3.0,
) -> Answer:
    """Send one request to `host:port` and wait for the answer to it, at most `limit_s` in all.

    Raises:
        OSError: no connection, no answer in time, or bytes that are no RocketMQ frame.
    """
    deadline = time.monotonic() + limit_s
    opaque = 1
    with connect(address, limit_s) as connection:
        connection.sendall(frame(code, opaque, fields or {}, body))
        while True:
            answer = read_frame(connection, deadline)
            # Servers may send requests of their own over the connection; only the answer is of interest.
            if answer.is_response and answer.opaque == opaque:
                return answer.answer


@dataclass(frozen=True, slots=True)
class Frame:
    """A request or a response, as it came over a connection."""

    opaque: int
    """Its number; a response has that of its request."""
    flag: int
    answer: Answer
    """What is in it; `code` is a request's RequestCode, or a response's ResponseCode."""

    @property
    def is_response(self) -> bool:
        """It answers a request; otherwise it is one."""
        return bool(self.flag & RESPONSE)

    @property
    def wants_response(self) -> bool:
        """It is a request whose sender waits for an answer."""
        return not self.flag & (RESPONSE | ONE_WAY)


def connect(address: str, limit_s: float) -> socket.socket:
    """A connection to `host:port`, wherever that is reached from this host.

    Raises:
        OSError: there is none within the limit.
    """
    host, _, port = reach.reachable(address).rpartition(":")
    return socket.create_connection((host, int(port)), timeout=limit_s)


def frame(code: int, opaque: int, fields: Mapping[str, str], body: bytes = b"", flag: int = 0) -> bytes:
    """A request, or with the flag `RESPONSE` an answer, as bytes."""
    header = json.dumps(
        {
            "code": code,
            "language": "OTHER",
            "version": _CLIENT_VERSION,
            "opaque": opaque,
            "flag": flag,
            "extFields": dict(fields),
            "serializeTypeCurrentRPC": "JSON",
        }
    ).encode()
    return struct.pack(">ii", 4 + len(header) + len(body), len(header)) + header + body


def read_frame(connection: socket.socket, deadline: float | None) -> Frame:
    """The next frame; `deadline` is by `time.monotonic`, None: however long it takes.

    Raises:
        OSError: no whole frame in time, the connection was closed, or bytes that are no RocketMQ frame.
    """
    header_length, body_length = lengths(_read(connection, 8, deadline))
    header = _read(connection, header_length, deadline)
    return decoded(header, _read(connection, body_length, deadline))


def lengths(begin: bytes) -> tuple[int, int]:
    """Of a frame's first 8 bytes: how many bytes of header and how many of body follow.

    Raises:
        ConnectionError: no RocketMQ frame with a JSON header begins so.
    """
    length, mark = struct.unpack(">ii", begin)
    header_length = mark & 0xFFFFFF
    if mark >> 24 != 0 or not header_length + 4 <= length <= _LARGEST_FRAME_BYTES:
        raise ConnectionError("the answer is no RocketMQ frame with a JSON header")
    return header_length, length - 4 - header_length


def decoded(header: bytes, body: bytes) -> Frame:
    """A frame of header and body.

    Raises:
        ConnectionError: the header is no JSON of RocketMQ's.
    """
    try:
        read = json.loads(header)
        content = Answer(
            int(read["code"]), str(read.get("remark") or ""), dict(read.get("extFields") or {}), body
        )
        return Frame(int(read.get("opaque", 0)), int(read.get("flag", 0)), content)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ConnectionError("the header of the answer is no JSON") from error


def _read(connection: socket.socket, count: int, deadline: float | None) -> bytes:
    received = bytearray()
    while len(received) < count:
        remaining_s = None if deadline is None else deadline - time.monotonic()
        if remaining_s is not None and remaining_s <= 0:
            raise TimeoutError("no whole answer in time")
        connection.settimeout(remaining_s)
        chunk = connection.recv(count - len(received))
        if not chunk:
            raise ConnectionError("the connection was closed in mid-answer")
        received += chunk
    return bytes(received)
