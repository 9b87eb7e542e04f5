"""A minimal client of RocketMQ's remoting protocol: one request, one answer, one connection.

Enough to ask a server whether it is ready, without a Java client. The frame is that of `RemotingCommand`
with JSON headers, the same in 4.9.x and 5.x: length, header length, header, body.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

UPDATE_BROKER_CONFIG = 25
"""To a broker: change settings; the body is the text of a properties file."""
GET_BROKER_CONFIG = 26
"""To a broker: all its settings, as the text of a properties file."""
GET_BROKER_CLUSTER_INFO = 106
"""To a name server: the brokers that are registered."""
SUCCESS = 0

# `MQVersion` of 4.9.4: from then on servers answer as they do to current clients.
_CLIENT_VERSION = 401
_LARGEST_FRAME_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer to one request."""

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
    host, _, port = address.rpartition(":")
    opaque = 1
    header = json.dumps(
        {
            "code": code,
            "language": "OTHER",
            "version": _CLIENT_VERSION,
            "opaque": opaque,
            "flag": 0,
            "extFields": dict(fields or {}),
            "serializeTypeCurrentRPC": "JSON",
        }
    ).encode()
    with socket.create_connection((host, int(port)), timeout=limit_s) as connection:
        connection.sendall(struct.pack(">ii", 4 + len(header) + len(body), len(header)) + header + body)
        while True:
            answer_header, answer_body = _read_frame(connection, deadline)
            # Servers may send requests of their own over the connection; only the answer is of interest.
            if answer_header.get("opaque") == opaque and int(answer_header.get("flag", 0)) & 1:
                return Answer(
                    int(answer_header["code"]),
                    str(answer_header.get("remark") or ""),
                    dict(answer_header.get("extFields") or {}),
                    answer_body,
                )


def _read_frame(connection: socket.socket, deadline: float) -> tuple[dict[str, Any], bytes]:
    length, mark = struct.unpack(">ii", _read(connection, 8, deadline))
    header_length = mark & 0xFFFFFF
    if mark >> 24 != 0 or not header_length + 4 <= length <= _LARGEST_FRAME_BYTES:
        raise ConnectionError("the answer is no RocketMQ frame with a JSON header")
    try:
        header = json.loads(_read(connection, header_length, deadline))
    except ValueError as error:
        raise ConnectionError("the header of the answer is no JSON") from error
    return header, _read(connection, length - 4 - header_length, deadline)


def _read(connection: socket.socket, count: int, deadline: float) -> bytes:
    received = bytearray()
    while len(received) < count:
        remaining_s = deadline - time.monotonic()
        if remaining_s <= 0:
            raise TimeoutError("no whole answer in time")
        connection.settimeout(remaining_s)
        chunk = connection.recv(count - len(received))
        if not chunk:
            raise ConnectionError("the connection was closed in mid-answer")
        received += chunk
    return bytes(received)
