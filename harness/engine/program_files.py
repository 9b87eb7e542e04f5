"""Configuration files of the user's programs: templates with their placeholders replaced."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.user_files import user_file
from rocketchaos.harness.language.app_spec import PROXY, App, Places, fill


def templates(app: App, scenario_file: str) -> Mapping[str, str]:
    """The templates' texts, by the names of their files.

    Raises:
        EnvironmentNotReady: one isn't there, or is no text.
    """
    found = {}
    for name, template in app.files.items():
        file = user_file(
            template, scenario_file, f"the template of {name}", "Correct `files` in the scenario."
        )
        try:
            found[name] = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise EnvironmentNotReady(f"the template of {name} can't be read: {file}: {error}") from error
    return found


def write_files(app: App, scenario_file: str, folder: Path, places: Places) -> None:
    """Make the files in a folder of this host.

    Raises:
        EnvironmentNotReady: a template isn't there or wants a proxy where there is none, or a file can't be
            written.
    """
    for name, text in templates(app, scenario_file).items():
        if PROXY in text and PROXY not in places:
            raise EnvironmentNotReady(
                f"the template of {name} has `{PROXY}`, and the cluster has no proxy",
                "Write `cluster: {proxy: local}` into the scenario, and run it on RocketMQ 5.",
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(fill(text, places), encoding="utf-8")
        except OSError as error:
            raise EnvironmentNotReady(f"the program's file {name} can't be written: {error}") from error
