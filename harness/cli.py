"""The command line: puts the commands together, and turns every ending into a message and an exit code."""

from __future__ import annotations

import functools
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import typer

import harness
from harness.commands.check import check
from harness.commands.clean import clean
from harness.commands.common import ERR
from harness.commands.doctor import doctor
from harness.commands.down import down
from harness.commands.explain import explain
from harness.commands.list import list_scenarios
from harness.commands.matrix_option import MatrixCommand
from harness.commands.new import new
from harness.commands.reproduce import reproduce
from harness.commands.run import run
from harness.commands.schema import schema
from harness.commands.up import up
from harness.commands.validate import validate
from harness.errors import ExitCode, RocketchaosError

COMMANDS: tuple[tuple[str, Callable[..., ExitCode]], ...] = (
    ("reproduce", reproduce),
    ("run", run),
    ("check", check),
    ("validate", validate),
    ("list", list_scenarios),
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


class Terminated(KeyboardInterrupt):
    """SIGTERM: ends the command as Ctrl-C does, with an exit code of its own."""

    def __str__(self) -> str:
        return "SIGTERM"


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
        app.command(name, cls=MatrixCommand)(_ending_in_a_code(command))
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rocketchaos {harness.__version__}")
        raise typer.Exit


def _ending_in_a_code(command: Callable[..., ExitCode]) -> Callable[..., None]:
    @functools.wraps(command)
    def run_it(**arguments: Any) -> None:
        raise typer.Exit(_code_of(command, arguments))

    return run_it


def _code_of(command: Callable[..., ExitCode], arguments: Mapping[str, Any]) -> ExitCode:
    """Run the command; whatever happens becomes a message and a code."""
    try:
        code = command(**arguments)
        sys.stdout.flush()  # here, where it is no failure that the reader has gone
        return code
    except RocketchaosError as problem:
        ERR.print(f"rocketchaos: {problem}", markup=False)
        return problem.exit_code
    except Terminated:
        ERR.print("rocketchaos: terminated; what was started has been ended")
        return ExitCode.TERMINATED
    except KeyboardInterrupt:
        ERR.print("rocketchaos: interrupted; what was started has been ended")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does; that is no failure of ours. What is still in the
        # buffer goes nowhere, or Python would complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.AS_EXPECTED
    except Exception:
        ERR.print(traceback.format_exc(), markup=False)
        ERR.print("rocketchaos: this is a defect of rocketchaos; please report it with the lines above")
        return ExitCode.HARNESS


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        application()(arguments, prog_name="rocketchaos")
    except SystemExit as end:
        return int(end.code or 0)
    return ExitCode.AS_EXPECTED


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise Terminated
