"""The lines that a program prints, in bounded memory, whatever it prints."""

from __future__ import annotations

from collections.abc import Iterator

LONGEST_LINE_BYTES = 16 * 1024
"""The rest of a line is ignored."""


class Lines:
    """Makes lines of bytes as they come."""

    def __init__(self) -> None:
        self._begun = bytearray()

    def add(self, data: bytes) -> Iterator[str]:
        """The lines that end in this; bytes that are no UTF-8 are replaced."""
        *ended, rest = data.split(b"\n")
        for part in ended:
            self._keep(part)
            yield self._taken()
        self._keep(rest)

    def end(self) -> Iterator[str]:
        """The last line, where it has no end."""
        if self._begun:
            yield self._taken()

    def _keep(self, part: bytes) -> None:
        self._begun += part[: LONGEST_LINE_BYTES - len(self._begun)]

    def _taken(self) -> str:
        line = self._begun.decode(errors="replace").rstrip("\r")
        self._begun.clear()
        return line
