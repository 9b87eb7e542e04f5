"""The output of a worker's process."""

from __future__ import annotations

import re
from pathlib import Path

_TAIL_BYTES = 65_536
_LONGEST = 300
_FRAME = re.compile(r"\s+at [\w.$/@<>]+\(|\s*\.\.\. \d+ (more|common frames omitted)")
"""A line of a Java stack trace that names a method, not a cause."""


def last_lines(log: Path, count: int = 12) -> str:
    """The end of a log, indented, long lines cut and without the frames of Java's stack traces: they would push
    its causes out. With a note if the log is empty."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError as error:
        return f"its log can't be read: {error}"
    if not lines:
        return f"it printed nothing: {log}"
    telling = [line for line in lines if line.strip() and not _FRAME.match(line)] or lines
    return "\n".join([f"the end of {log}:", *(f"    {_cut(line)}" for line in telling[-count:])])


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …"
