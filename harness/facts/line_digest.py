"""Digests of files of lines, which Spark makes of a file in any number of pieces as Python does of the whole."""

import zlib
from collections.abc import Iterable

EMPTY = "0:0"
"""The digest of an empty file."""


def digest_of(content: bytes) -> str:
    """`<lines>:<sum of their CRC-32>`; a line ends with `\\n`, or with the file."""
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return digest_of_lines(lines)


def digest_of_lines(lines: Iterable[bytes]) -> str:
    """The same of lines without their ends."""
    count = total = 0
    for line in lines:
        count += 1
        total += zlib.crc32(line)
    return digest_text(count, total)


def digest_text(count: int, total: int) -> str:
    """The number of lines, and the sum of their CRC-32."""
    return f"{count}:{total}"
