"""A worker's program that isn't Python: what is started, and the folder that it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class OwnProgram:
    """A program of its own; it is called with `--events-fd N --folder FOLDER`."""

    command: tuple[str, ...]
    """The program and its first arguments; files by absolute paths."""
    folder: Path
    """All that it needs; mounted at the same place where it lives in a container."""
