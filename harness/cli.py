"""The command line: puts the commands together."""

from __future__ import annotations

from collections.abc import Callable

import typer

import harness
from harness.commands.check import check
from harness.commands.claims import claims_application
from harness.commands.clean import clean
from harness.commands.doctor import doctor
from harness.commands.down import down
from harness.commands.ending import ending_in_a_code, run_application
from harness.commands.explain import explain
from harness.commands.list import list_scenarios
from harness.commands.matrix_option import MatrixCommand
from harness.commands.new import new
from harness.commands.nightly import nightly
from harness.commands.report import report_application
from harness.commands.reproduce import reproduce
from harness.commands.run import run
from harness.commands.schema import schema
from harness.commands.shrink import shrink
from harness.commands.up import up
from harness.commands.validate import validate
from harness.commands.versions import list_versions
from harness.errors import ExitCode

COMMANDS: tuple[tuple[str, Callable[..., ExitCode]], ...] = (
    ("reproduce", reproduce),
    ("nightly", nightly),
    ("shrink", shrink),
    ("run", run),
    ("check", check),
    ("validate", validate),
    ("list", list_scenarios),
    ("versions", list_versions),
    ("new", new),
    ("explain", explain),
    ("schema", schema),
    ("doctor", doctor),
    ("up", up),
    ("down", down),
    ("clean", clean),
)
"""In the order of the help; a new command is registered here."""

EPILOG = f"Exit codes: {', '.join(f'{int(code)} {code.meaning}' for code in ExitCode)}."


def application() -> typer.Typer:
    """The application with all commands."""
    app = typer.Typer(
        name="rocketchaos",
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

    for name, command in COMMANDS:
        app.command(name, cls=MatrixCommand)(ending_in_a_code(command))
    app.add_typer(claims_application(), name="claims")
    app.add_typer(report_application(), name="report")
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rocketchaos {harness.__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    return run_application(application(), arguments)
