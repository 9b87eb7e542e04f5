"""The messages in the answer to a raw pull: their form on the wire, as far as it is needed.

After `MessageDecoder.decode` (4.9.4 and 5.3.3): one message after the other, each with its size first.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_MAGIC_WITH_LONG_TOPIC = -626843477
"""MESSAGE_MAGIC_CODE_V2 of 5.x: the topic's length has two bytes."""
_BORN_IS_IPV6, _STORED_IS_IPV6 = 1 << 4, 1 << 5
_COMPRESSED = 1
"""Bit of sysFlag (MessageSysFlag, 4.9.4); the three bits from `_COMPRESSION_SHIFT` on say how, since 5.0."""
_COMPRESSION_SHIFT = 8
_ZLIB = (0, 3)
_BORN_MS_AT, _BORN_AT = 40, 48
_KEY_END, _VALUE_END = "\x01", "\x02"


@dataclass(frozen=True, slots=True)
class PulledMessage:
    """What is read of one message."""

    queue_offset: int
    key: str | None
    """KEYS; of the harness's own messages their name."""
    tag: str | None
    body: bytes = b""
    """Unpacked, unless by a method that isn't zlib's."""
    born: str = ""
    """The `host:port` from which it was sent; empty: by IPv6."""
    stored_ms: int = 0
    """When the broker stored it, by its clock: milliseconds since 1970."""
    born_ms: int = 0
    """When its producer sent it, by its clock."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Its own, and RocketMQ's."""
    queue_id: int = 0
    offset_msg_id: str = ""
    """Where the broker stored it (MessageDecoder.createMessageId)."""


def decode(body: bytes) -> list[PulledMessage]:
    """All messages of an answer's body.

    Raises:
        ValueError: the bytes are no messages.
    """
    try:
        return list(_messages(body))
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"the body of a pull's answer can't be read: {error}") from error


def _messages(body: bytes) -> Iterator[PulledMessage]:
    start = 0
    while start < len(body):
        (size,) = struct.unpack_from(">i", body, start)
        if not 0 < size <= len(body) - start:
            raise ValueError(f"a message of {size} bytes where {len(body) - start} are left")
        yield _message(body[start : start + size])
        start += size


def _message(data: bytes) -> PulledMessage:
    magic, _crc, queue_id, _flag, offset, physical, flags = struct.unpack_from(">iiiiqqi", data, 4)
    stored_at = _BORN_AT + _host(flags, _BORN_IS_IPV6) + 8
    place = stored_at + _host(flags, _STORED_IS_IPV6)
    stored_host = data[stored_at:place]
    place += 4 + 8
    (body_length,) = struct.unpack_from(">i", data, place)
    body = data[place + 4 : place + 4 + body_length]
    place += 4 + body_length
    form = ">H" if magic == _MAGIC_WITH_LONG_TOPIC else ">B"
    (topic_length,) = struct.unpack_from(form, data, place)
    place += struct.calcsize(form) + topic_length
    (properties_length,) = struct.unpack_from(">H", data, place)
    text = data[place + 2 : place + 2 + properties_length].decode()
    properties = dict(entry.split(_KEY_END, 1) for entry in text.split(_VALUE_END) if _KEY_END in entry)
    (born_ms,) = struct.unpack_from(">q", data, _BORN_MS_AT)
    (stored_ms,) = struct.unpack_from(">q", data, _BORN_AT + _host(flags, _BORN_IS_IPV6))
    return PulledMessage(
        offset,
        properties.get("KEYS"),
        properties.get("TAGS"),
        _unpacked(body, flags),
        _born(data, flags),
        stored_ms,
        born_ms,
        properties,
        queue_id,
        (stored_host + physical.to_bytes(8, "big", signed=True)).hex().upper(),
    )


def _unpacked(body: bytes, flags: int) -> bytes:
    if not flags & _COMPRESSED or (flags >> _COMPRESSION_SHIFT) & 7 not in _ZLIB:
        return body
    try:
        return zlib.decompress(body)
    except zlib.error as error:
        raise ValueError(f"a message's body can't be unpacked: {error}") from error


def _born(data: bytes, flags: int) -> str:
    if flags & _BORN_IS_IPV6:
        return ""
    *address, port = struct.unpack_from(">BBBBi", data, _BORN_AT)
    return f"{'.'.join(map(str, address))}:{port}"


def _host(flags: int, ipv6: int) -> int:
    """Bytes of an address and its port."""
    return 20 if flags & ipv6 else 8
