"""The command line: puts the commands together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType

import typer

import harness
from harness.commands.ending import run_application
from harness.commands.lazy import CommandEntry, lazy_group
from harness.errors import ExitCode

COMMANDS: Mapping[str, CommandEntry] = MappingProxyType(
    {
        "reproduce": CommandEntry(
            "harness.commands.reproduce:reproduce",
            "Run a scenario on a real RocketMQ, and say whether its anomaly is there.",
            matrix=True,
        ),
        "nightly": CommandEntry(
            "harness.commands.nightly:nightly",
            "Draw scenarios from a seed, run them side by side, and hold each against what must always be so.",
        ),
        "shrink": CommandEntry(
            "harness.commands.shrink:shrink",
            "Reduce a finding to the smallest scenario that still shows it, and write that as one would by hand.",
        ),
        "run": CommandEntry(
            "harness.commands.run:run",
            "Run scenarios. Every file is validated before anything starts.",
            matrix=True,
        ),
        "check": CommandEntry(
            "harness.commands.check:check",
            "Judge stored histories again. The same history gives the same outcome, on any machine.",
        ),
        "validate": CommandEntry(
            "harness.commands.validate:validate",
            "Say what is wrong with scenarios, all at once. Nothing is started.",
        ),
        "list": CommandEntry(
            "harness.commands.list:list_scenarios", "List scenarios by theme, or those that fit words."
        ),
        "versions": CommandEntry(
            "harness.commands.versions:list_versions", "List the releases of RocketMQ that can be run here."
        ),
        "new": CommandEntry(
            "harness.commands.new:new",
            "Write a commented scenario to start from into NAME.scenario.yaml, here.",
        ),
        "explain": CommandEntry(
            "harness.commands.explain:explain", "Explain a word of scenarios and reports."
        ),
        "schema": CommandEntry(
            "harness.commands.schema:schema",
            "Print the JSON Schema of scenario files, for completion and checking in an editor.",
        ),
        "doctor": CommandEntry(
            "harness.commands.doctor:doctor",
            "Say whether this machine can run scenarios, and what to do where it can't.",
        ),
        "up": CommandEntry(
            "harness.commands.up:up",
            "Start a RocketMQ that stays up, and that `reproduce` and `run` use where version and timing fit.",
        ),
        "down": CommandEntry(
            "harness.commands.down:down",
            "End clusters that `up` or `--keep` left up, with all that they store.",
        ),
        "clean": CommandEntry(
            "harness.commands.clean:clean",
            "End and remove what a power cut, or a kill of everything, left. Nothing else is touched.",
        ),
        "claims": CommandEntry(
            "harness.commands.claims:claims_application",
            "Claims about RocketMQ, measured: run them, write CLAIMS.md, compare two sets of runs.",
            group=True,
        ),
        "report": CommandEntry(
            "harness.commands.report:report_application",
            "Reports over many runs, on Spark: how flaky, how different, how fast.",
            group=True,
        ),
    }
)
"""In the order of the help; a new command is registered here."""

EPILOG = f"Exit codes: {', '.join(f'{int(code)} {code.meaning}' for code in ExitCode)}."


def application() -> typer.Typer:
    """The application with all commands."""
    app = typer.Typer(
        name="rocketchaos",
        cls=lazy_group(COMMANDS),
        help="Reproduces, on real RocketMQ, what happens when the members of one consumer group disagree "
        "about their subscription.",
        epilog=EPILOG,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def common(
        version: bool = typer.Option(
            False, "--version", is_eager=True, callback=_print_version, help="The version."
        ),
    ) -> None:
        del version

    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rocketchaos {harness.__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    # pydantic would look through all installed packages for plugins of its own, each time; we use none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    return run_application(application(), arguments)
