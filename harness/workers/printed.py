"""The output of a worker's process."""

from __future__ import annotations

from pathlib import Path

_TAIL_BYTES = 4096


def last_lines(log: Path, count: int = 12) -> str:
    """The end of a log, indented; with a note if it is empty."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()[-count:]
    except OSError as error:
        return f"its log can't be read: {error}"
    if not lines:
        return f"it printed nothing: {log}"
    return "\n".join([f"the end of {log}:", *(f"    {line}" for line in lines)])
