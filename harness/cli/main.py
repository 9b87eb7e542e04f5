"""The command line: puts the commands together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType

import typer

import rocketchaos
from rocketchaos.harness.cli.ending import run_application
from rocketchaos.harness.cli.lazy import CommandEntry, lazy_group
from rocketchaos.harness.core.errors import ExitCode

COMMANDS: Mapping[str, CommandEntry] = MappingProxyType(
    {
        "reproduce": CommandEntry(
            "rocketchaos.harness.cli.reproduce:reproduce",
            "Run a scenario on a real RocketMQ, and say whether its anomaly is there.",
            words=True,
        ),
        "nightly": CommandEntry(
            "rocketchaos.harness.cli.nightly:nightly",
            "Generate scenarios from a seed, run them in parallel, and check what must always hold.",
        ),
        "shrink": CommandEntry(
            "rocketchaos.harness.cli.shrink:shrink",
            "Reduce a finding to the smallest scenario that still shows it, and write that as one would by hand.",
        ),
        "run": CommandEntry(
            "rocketchaos.harness.cli.run:run",
            "Run scenarios. Every file is validated before anything starts.",
            words=True,
        ),
        "bisect": CommandEntry(
            "rocketchaos.harness.cli.bisect:bisect",
            "Find the first version of RocketMQ on which a scenario ends differently, by halves.",
            words=True,
        ),
        "diagnose": CommandEntry(
            "rocketchaos.harness.cli.diagnose:diagnose",
            "Say what is wrong in a live cluster, and prove it. Nothing of the cluster is changed.",
        ),
        "check": CommandEntry(
            "rocketchaos.harness.cli.check:check",
            "Judge stored histories again. The same history gives the same outcome, on any machine.",
        ),
        "validate": CommandEntry(
            "rocketchaos.harness.cli.validate:validate",
            "Say what is wrong with scenarios, all at once, and warn of likely slips. Nothing is started.",
        ),
        "list": CommandEntry(
            "rocketchaos.harness.cli.list:list_scenarios", "List scenarios by theme, or those that fit words."
        ),
        "symptoms": CommandEntry(
            "rocketchaos.harness.cli.symptoms:symptoms",
            "List what people report by how it is seen, or find it by the text that they paste.",
        ),
        "versions": CommandEntry(
            "rocketchaos.harness.cli.versions:list_versions",
            "List the releases of RocketMQ from 4.9.0 on: those in the cache, and those on Maven Central.",
        ),
        "new": CommandEntry(
            "rocketchaos.harness.cli.new:new",
            "Write a commented scenario to start from into NAME.scenario.yaml, here.",
        ),
        "explain": CommandEntry(
            "rocketchaos.harness.cli.explain:explain", "Explain a word of scenarios and reports."
        ),
        "schema": CommandEntry(
            "rocketchaos.harness.cli.schema:schema",
            "Print the JSON Schema of scenario files, for completion and checking in an editor.",
        ),
        "doctor": CommandEntry(
            "rocketchaos.harness.cli.doctor:doctor",
            "Say whether this machine can run scenarios, and what to do where it can't.",
        ),
        "up": CommandEntry(
            "rocketchaos.harness.cli.up:up",
            "Start a RocketMQ that stays up, and that `reproduce` and `run` use where version and timing fit.",
        ),
        "down": CommandEntry(
            "rocketchaos.harness.cli.down:down",
            "End clusters that `up` or `--keep` left up, with all that they store.",
        ),
        "clean": CommandEntry(
            "rocketchaos.harness.cli.clean:clean",
            "End and remove what a power cut, or a kill of everything, left. Nothing else is touched.",
        ),
        "claims": CommandEntry(
            "rocketchaos.harness.cli.claims:claims_application",
            "Claims about RocketMQ, measured: run them, write CLAIMS.md, compare two sets of runs.",
            group=True,
        ),
        "worker": CommandEntry(
            "rocketchaos.harness.cli.worker:worker_application",
            "Add a client in any language: try a worker of your own against a real RocketMQ.",
            group=True,
        ),
        "report": CommandEntry(
            "rocketchaos.harness.cli.report:report_application",
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
        invoke_without_command=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def common(
        context: typer.Context,
        version: bool = typer.Option(
            False, "--version", is_eager=True, callback=_print_version, help="The version."
        ),
    ) -> None:
        del version
        if context.invoked_subcommand is None:
            from rocketchaos.harness.cli.next_steps import show_next_steps

            show_next_steps()

    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rocketchaos {rocketchaos.__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    # pydantic would look through all installed packages for plugins of its own, each time; we use none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    return run_application(application(), arguments)
