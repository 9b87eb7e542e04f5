"""The user's own programs, templates and messages that a scenario names, and that are not there yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.user_files import user_class_path, user_command, user_file
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.word_entries import flat, understood
from rocketchaos.harness.scenario.yaml_places import Document, Path
from rocketchaos.harness.steps.send import Send


def missing_files(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """What is missing now, each at its place. A run needs it; a build may still make it."""
    for path, look in (*_looks(scenario), *_bodies(document, scenario)):
        try:
            look()
        except EnvironmentNotReady as missing:
            yield document.report(path, f"{missing.message}. {missing.hint}")


def _bodies(document: Document, scenario: Scenario) -> Iterator[tuple[Path, Callable[[], object]]]:
    for placed in flat(understood(document, "steps")[0]):
        if isinstance(placed.word, Send) and placed.word.body is not None:
            yield (*placed.path, "body"), partial(placed.word.body_text, scenario)


def _looks(scenario: Scenario) -> Iterator[tuple[Path, Callable[[], object]]]:
    for name, consumer in scenario.consumers.items():
        app, path = consumer.app, ("consumers", name, "app")
        if app is None:
            continue
        if app.jar is not None:
            hint = "Build it before the run, or correct `jar`."
            yield (*path, "jar"), partial(user_file, app.jar, scenario.file, "the program", hint)
        if app.main is not None:
            hint = "Build it before the run, or correct `classpath`."
            yield (*path, "classpath"), partial(user_class_path, app.classpath, scenario.file, hint)
        if app.command is not None:
            yield (
                (*path, "command"),
                partial(user_command, app.command, scenario.file, app.env.get("PATH")),
            )
        for made, template in app.files.items():
            what = f"the template of {made}"
            hint = "Write it, or correct `files`."
            yield (*path, "files", made), partial(user_file, template, scenario.file, what, hint)
