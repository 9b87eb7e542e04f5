"""Files and folders that commands write where the user chooses."""

from pathlib import Path
from tempfile import TemporaryFile

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.run_folder import runs_folder


def runs_or_default(runs: Path | None) -> Path:
    """The chosen folder for runs, or the default one."""
    return runs_folder() if runs is None else runs


def write_text(path: Path, text: str, way_out: str) -> None:
    """Write a file whose place the user chose, and its folder if it is missing.

    Raises:
        EnvironmentNotReady: it can't be written; `way_out` says what to do then.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EnvironmentNotReady(f"{path} can't be written: {error.strerror}", way_out) from error


def require_writable(path: Path, way_out: str) -> None:
    """Make sure that a file can be written later, and its folder if it is missing.

    Raises:
        EnvironmentNotReady: it can't; `way_out` says what to do then.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            path.open("ab").close()
        else:
            TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise EnvironmentNotReady(f"{path} can't be written: {error.strerror}", way_out) from error


def require_folder(path: Path, way_out: str) -> None:
    """Make sure that a folder is there, and that files can be written in it.

    Raises:
        EnvironmentNotReady: it isn't, or they can't; `way_out` says what to do then.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=path).close()
    except OSError as error:
        raise EnvironmentNotReady(f"{path} can't be written: {error.strerror}", way_out) from error
