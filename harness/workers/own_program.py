"""A worker's program that isn't Python: what is started, and the folder that it needs."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocketchaos.harness.core.errors import EnvironmentNotReady

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class OwnProgram:
    """A program of its own; it is called with `--events-fd N --folder FOLDER`."""

    command: tuple[str, ...]
    """The program and its first arguments; files by absolute paths."""
    folder: Path
    """All that it needs; mounted at the same place where it lives in a container."""


def own_program(command: Sequence[str], folder: Path) -> OwnProgram:
    """The program of a manifest. A path is relative to its folder; a plain name is searched on the PATH.

    Raises:
        EnvironmentNotReady: it isn't there, or can't be executed.
    """
    first = command[0]
    where = str(folder / first) if "/" in first else first
    found = shutil.which(where)
    if found is None:
        raise EnvironmentNotReady(
            f"the worker's program isn't there, or can't be executed: {where}",
            f"`command` in {folder / 'worker.yaml'} names it, from that folder or on the PATH.",
        )
    files = [str(folder / word) if (folder / word).is_file() else word for word in command[1:]]
    return OwnProgram((str(Path(found).absolute()), *files), folder)
