"""The command line: puts the commands together."""

import os
from collections.abc import Mapping

import typer

import rocketchaos
from rocketchaos.harness.cli.ending import run_application
from rocketchaos.harness.cli.lazy import CommandEntry, lazy_group
from rocketchaos.harness.core.errors import ExitCode

COMMANDS: Mapping[str, CommandEntry] = {
    "reproduce": CommandEntry(
        "rocketchaos.harness.cli.reproduce:reproduce",
        "Run a scenario on a real RocketMQ, and report whether its anomaly shows.",
        words=True,
    ),
    "nightly": CommandEntry(
        "rocketchaos.harness.cli.nightly:nightly",
        "Generate scenarios from a seed, run them in parallel, and check what must always hold.",
    ),
    "shrink": CommandEntry(
        "rocketchaos.harness.cli.shrink:shrink",
        "Reduce a finding to the smallest scenario that still shows it, and write a readable file.",
    ),
    "run": CommandEntry(
        "rocketchaos.harness.cli.run:run",
        "Run scenarios. Every file is validated before anything starts.",
        words=True,
    ),
    "bisect": CommandEntry(
        "rocketchaos.harness.cli.bisect:bisect",
        "Find the first version of RocketMQ on which a scenario ends differently, by bisection.",
        words=True,
    ),
    "diagnose": CommandEntry(
        "rocketchaos.harness.cli.diagnose:diagnose",
        "Find what is wrong in a live cluster, and prove it. It only reads the cluster.",
    ),
    "check": CommandEntry(
        "rocketchaos.harness.cli.check:check",
        "Judge stored histories again. The same history gives the same outcome, on any machine.",
    ),
    "validate": CommandEntry(
        "rocketchaos.harness.cli.validate:validate",
        "Report all mistakes in scenarios, and warn of likely slips. It starts nothing.",
    ),
    "list": CommandEntry(
        "rocketchaos.harness.cli.list:list_scenarios",
        "List scenarios by theme, or those that match words.",
    ),
    "symptoms": CommandEntry(
        "rocketchaos.harness.cli.symptoms:symptoms",
        "List reported symptoms by how they show, or find one by the text that you paste.",
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
        "Check whether this machine can run scenarios, and show what to do if it can't.",
    ),
    "up": CommandEntry(
        "rocketchaos.harness.cli.up:up",
        "Start a RocketMQ that stays up; `reproduce` and `run` use it if version and timing match.",
    ),
    "down": CommandEntry(
        "rocketchaos.harness.cli.down:down",
        "Stop clusters that `up` or `--keep` left up, and delete all that they store.",
    ),
    "clean": CommandEntry(
        "rocketchaos.harness.cli.clean:clean",
        "Stop and remove what a power cut or a SIGKILL left behind. It touches nothing else.",
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
"""In the order of the help; a new command is registered here."""

EPILOG = (
    f"Exit codes: {', '.join(f'{int(code)} {code.meaning}' for code in ExitCode)}.\n\n"
    "Example: rocketchaos reproduce same-group-different-tags"
)


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
        rich_markup_mode=None,
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
