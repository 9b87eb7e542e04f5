"""What a shared process's logs say of one run."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

READ_LIMIT_BYTES = 32 * 1024 * 1024
"""The part of a shared log that is read at most, from the run's beginning."""

_BEGINNING = re.compile(rb"\d{4}-\d{2}-\d{2}[ T]")
"""The beginning of an entry in RocketMQ's client logs. A line that begins otherwise, as in a stack trace,
continues the entry before."""


class SharedLogs:
    """The entries of a worker's client logs, from now on, that name a run.

    A run's topics, groups and client ids carry its token; lines without one of them, such as Netty's own, are left
    out.
    """

    def __init__(self, folder: Path, printed: Path, run: str) -> None:
        """
        Args:
            folder: where the worker's clients log.
            printed: what the process itself prints.
            run: the run's token.
        """
        self._folder = folder
        self._printed = printed
        self._token = run.encode()
        self._begin = {path: _size(path) for path in _logs(folder)}

    def collect(self, target: Path, *, whole: bool) -> None:
        """Copy the entries, into files of the same names; `whole`: what the process printed as well.

        Best effort: a log that can't be copied must not cost the outcome.
        """
        with suppress(OSError):
            target.mkdir(parents=True, exist_ok=True)
            for path in _logs(self._folder):
                with path.open("rb") as source:
                    source.seek(self._begin.get(path, 0))
                    lines = source.read(READ_LIMIT_BYTES).splitlines(keepends=True)
                chosen = b"".join(entries_with(self._token, lines))
                if chosen:
                    (target / path.name).write_bytes(chosen)
            if whole:
                target.with_suffix(".log").write_bytes(self._printed.read_bytes())


def entries_with(token: bytes, lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of those entries in which the token occurs, stack traces included."""
    entry: list[bytes] = []
    for line in lines:
        if _BEGINNING.match(line) and entry:
            if any(token in part for part in entry):
                yield from entry
            entry = []
        entry.append(line)
    if any(token in part for part in entry):
        yield from entry


def _logs(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.log"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
