"""`rocketchaos new`: a scenario to start from."""

import re
from pathlib import Path
from typing import Annotated

import typer

from rocketchaos.harness.cli.completing import scenario_names
from rocketchaos.harness.cli.terminal import OUT
from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode, UsageProblem
from rocketchaos.harness.engine.recorded_scenario import scenario_name
from rocketchaos.harness.plan.library import SUFFIX, find
from rocketchaos.harness.scenario import load_scenario, parse_scenario
from rocketchaos.harness.scenario.file_text import read_text

_TEMPLATE = Path(__file__).with_name("new.yaml")


def new(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="Its name: small letters, digits, `-`.")
    ] = "my-scenario",
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="SCENARIO",
            help="Start with a copy of this scenario, a name or a file.",
            autocompletion=scenario_names,
        ),
    ] = None,
) -> ExitCode:
    """Write a commented scenario to start from into NAME.scenario.yaml, here."""
    if name != scenario_name(name):
        raise UsageProblem(
            f"a scenario can't be called `{name}`", f"Small letters, digits and `-`: `{scenario_name(name)}`."
        )
    path = Path(f"{name}{SUFFIX}")
    origin = _TEMPLATE if source is None else find(source)
    if source is not None:
        load_scenario(origin)
    text = re.sub(r"(?m)^name:.*$", lambda _: f"name: {name}", read_text(origin), count=1)
    parse_scenario(text, str(path))
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageProblem(f"{path} exists already", "Give another name, or move it away.") from None
    except OSError as error:
        raise EnvironmentNotReady(
            f"{path} can't be written: {(error.strerror or str(error)).lower()}"
        ) from None
    commands = {
        f"rocketchaos validate {path}": "is it right?",
        f"rocketchaos reproduce {path}": "run it",
        "rocketchaos explain": "what every word means",
    }
    width = max(map(len, commands))
    hints = "\n".join(f"  {command:{width}}   {what}" for command, what in commands.items())
    OUT.print(f"Wrote {path}. Edit it, then:\n{hints}")
    return ExitCode.AS_EXPECTED
