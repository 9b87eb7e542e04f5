"""Files that a scenario names: jars of the user's programs, bodies of messages."""

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rocketchaos.harness.core.errors import EnvironmentNotReady


def user_file(
    name: str, scenario_file: str, what: str, hint: str, is_there: Callable[[Path], bool] = Path.is_file
) -> Path:
    """Where a file is: a relative path is looked up from the scenario's file, then from the current folder.

    The scenario of a run folder is seen from where it lay when it ran, too.

    Args:
        name: as the scenario has it.
        scenario_file: where that lies.
        what: the file is, for the message: `the program`.
        hint: the way out if it isn't there.
        is_there: whether it is at a path.

    Raises:
        EnvironmentNotReady: it isn't there.
    """
    given = Path(name).expanduser()
    folders = (Path(scenario_file).absolute().parent, *_of_recorded(scenario_file), Path.cwd())
    places = list(dict.fromkeys(folder / given for folder in folders))
    for place in places:
        if is_there(place):
            return place
    raise EnvironmentNotReady(f"{what} doesn't exist: {', '.join(map(str, places))}", hint)


def user_class_path(entries: Sequence[str], scenario_file: str, hint: str) -> tuple[str, ...]:
    """Where the entries of a class path are, each as `user_file`: jars, folders, and `folder/*` for its jars.

    Raises:
        EnvironmentNotReady: one isn't there.
    """
    found = []
    for entry in entries:
        folder = entry.removesuffix("/*")
        is_there = Path.exists if folder == entry else _has_jars
        place = user_file(folder, scenario_file, f"`{entry}` of the class path", hint, is_there)
        found.append(f"{place}{entry.removeprefix(folder)}")
    return tuple(found)


def _has_jars(folder: Path) -> bool:
    return any(folder.glob("*.jar"))


def user_command(words: Sequence[str], scenario_file: str, path: str | None = None) -> tuple[str, ...]:
    """A command with its program's whole path: a first word with a `/` as `user_file`, others from the PATH.

    Args:
        words: as the scenario has them.
        scenario_file: where that lies.
        path: the PATH; None: that of the harness.

    Raises:
        EnvironmentNotReady: the program isn't there, or can't be executed.
    """
    first, *rest = words
    hint = "Build or install it first, or correct `command` in the scenario."
    if "/" not in first:
        found = shutil.which(first, path=path)
        if found is None:
            raise EnvironmentNotReady(
                f"the program `{first}` is not on the PATH",
                f"{hint} For a file next to the scenario, write `./{first}`.",
            )
        return found, *rest
    file = user_file(first, scenario_file, "the program", hint)
    if not os.access(file, os.X_OK):
        raise EnvironmentNotReady(f"the program can't be executed: {file}", f"`chmod +x {file}`")
    return str(file.absolute()), *rest


def folder_of(scenario_file: str) -> Path:
    """The folder of the scenario's file, now or when it ran; without a file the current folder.

    What a night or `shrink` makes has no file, and an absolute path in the folder from which it names files.
    """
    recorded, path = _of_recorded(scenario_file), Path(scenario_file)
    given = path.absolute().parent if path.is_file() or path.is_absolute() else Path.cwd()
    return next((folder for folder in (*recorded, given) if folder.is_dir()), Path.cwd())


def recorded_file(record: Mapping[str, Any]) -> str:
    """Where the scenario's file of a run lay, by `run.json`: an absolute path; empty: none is recorded."""
    file = record.get("scenario_file")
    # A relative path starts where the run was started; runs from before that was recorded lack it.
    return str((Path(record.get("working_folder", "")) / file).absolute()) if file else ""


def _of_recorded(scenario_file: str) -> tuple[Path, ...]:
    """The folder of the original of this file, which is a copy in a run folder."""
    try:
        file = recorded_file(
            json.loads(Path(scenario_file).with_name("run.json").read_text(encoding="utf-8"))
        )
    except (OSError, ValueError, AttributeError, TypeError):
        return ()
    return (Path(file).parent,) if file else ()
