"""The command `rocketchaos`: makes sure that rocketchaos's own packages are found, then starts it.

The packages are called `harness`, `assertions` and `spark_reports`, names that a user's own project may have
too. So this module needs nothing but Python, and imports none of them before it knows whose they are.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

PACKAGES = ("harness", "assertions", "spark_reports")
_USAGE, _ENVIRONMENT, _INTERRUPTED = 2, 4, 130
"""As `harness.errors.ExitCode` has them, which can't be imported here."""


@dataclass(frozen=True)
class Stranger:
    """A package or module of somebody else that has the name of one of ours."""

    name: str
    path: Path


def home() -> Path:
    """The folder with our packages: beside this file in a wheel, two levels up in an editable install."""
    folder = Path(__file__).resolve().parent
    return folder if (folder / "harness" / "cli.py").is_file() else folder.parent.parent


def hiding() -> Stranger | None:
    """A stranger that would be imported in place of one of our packages, or has been already."""
    for name in PACKAGES:
        spec = _spec(name)
        path = None if spec is None else _place(spec)
        if path is not None and not _is_ours(name, path):
            return Stranger(name, path)
    return None


def hidden(folders: Iterable[Path]) -> Stranger | None:
    """A stranger, in one of these folders or on Python's path, that ours would be imported in place of."""
    places = dict.fromkeys([*map(str, folders), *(entry or str(Path.cwd()) for entry in sys.path)])
    for place in places:
        for name in PACKAGES:
            spec = PathFinder.find_spec(name, [place])
            path = None if spec is None else _place(spec)
            if path is not None and not _is_ours(name, path) and _can_be_meant(path):
                return Stranger(name, path)
    return None


def missing() -> str | None:
    """The name of a package of ours that isn't there at all: the installation is broken."""
    return next((name for name in PACKAGES if not (home() / name / "__init__.py").is_file()), None)


def explain_hiding(stranger: Stranger) -> str:
    """What is wrong, and the way out."""
    folder = stranger.path.parent
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if folder in [Path(entry).resolve() for entry in entries if entry]:
        keep_away = f"take {folder} off PYTHONPATH"
    elif folder == Path.cwd():
        keep_away = f"run from another folder than {folder}"
    else:
        keep_away = "install rocketchaos in an environment of its own (pipx does)"
    return (
        f"{stranger.path} hides rocketchaos's own package `{stranger.name}` ({home() / stranger.name})\n"
        f"  Rename it, or {keep_away}."
    )


def explain_hidden(stranger: Stranger) -> str:
    """What is wrong the other way round, and the way out."""
    return (
        f"{stranger.path} can't be imported beside rocketchaos, whose own package `{stranger.name}` "
        f"({home() / stranger.name}) has the same name\n"
        f"  Rename it."
    )


def _spec(name: str) -> ModuleSpec | None:
    """What `import name` gives, without importing it."""
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__spec__ is not None:
        return loaded.__spec__
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None


def _place(spec: ModuleSpec) -> Path | None:
    """The folder of a package, or the file of a module."""
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations))).resolve()
    return Path(spec.origin).resolve() if spec.has_location and spec.origin else None


def _is_ours(name: str, path: Path) -> bool:
    return path == home() / name


def _can_be_meant(path: Path) -> bool:
    """Whether something in it can be imported; a folder without `__init__.py` may just hold tests or data."""
    if path.is_file() or (path / "__init__.py").is_file():
        return True
    return any(
        not (file.name == "conftest.py" or file.stem.startswith("test_") or file.stem.endswith("_test"))
        for file in path.glob("*.py")
    )


def main() -> int:
    """Run the command line; returns the exit code."""
    lacking = missing()
    if lacking is not None:
        return _refuse(f"its package `{lacking}` is missing from {home()}\n  Install it again.", _ENVIRONMENT)
    stranger = hiding()
    if stranger is not None:
        return _refuse(explain_hiding(stranger), _USAGE)
    try:
        from harness.cli import main as run

        return run()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] in PACKAGES:
            raise
        return _refuse(
            f"the package `{error.name}`, which it needs, is not installed\n  Install it again with pip or pipx.",
            _ENVIRONMENT,
        )
    except KeyboardInterrupt:
        return _INTERRUPTED


def _refuse(message: str, code: int) -> int:
    print(f"rocketchaos: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
