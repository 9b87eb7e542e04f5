"""Turns every ending of a command into a message and an exit code."""

import contextlib
import errno
import functools
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

import typer

from rocketchaos.harness.cli.terminal import ERR
from rocketchaos.harness.core.errors import ExitCode, RocketchaosError

_FULL = {errno.ENOSPC, errno.EDQUOT}


class Terminated(KeyboardInterrupt):
    """SIGTERM: ends the command as Ctrl-C does, with an exit code of its own."""

    def __str__(self) -> str:
        return "SIGTERM"


def run_application(app: typer.Typer, arguments: list[str] | None) -> int:
    """Run a command of the application; returns its exit code."""
    terminated = False

    def terminate(_signal: int, _frame: FrameType | None) -> None:
        nonlocal terminated
        # `timeout` sends it twice, for example: a second one would break off the ending.
        if not terminated:
            terminated = True
            raise Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        app(arguments, prog_name="rocketchaos")
    except SystemExit as end:
        # Before the command runs, Typer takes every KeyboardInterrupt for Ctrl-C.
        interrupted = end.code == ExitCode.INTERRUPTED
        return ExitCode.TERMINATED if terminated and interrupted else int(end.code or 0)
    return ExitCode.AS_EXPECTED


def ending_in_a_code(command: Callable[..., ExitCode]) -> Callable[..., None]:
    """The command for Typer: whatever happens in it becomes a message and an exit code."""

    @functools.wraps(command)
    def run_it(**arguments: Any) -> None:
        raise typer.Exit(_code_of(command, arguments))

    return run_it


@contextlib.contextmanager
def reader_may_go() -> Iterator[None]:
    """If the reader of what is printed in it has gone, as `head` does, the command goes on, to its exit code."""
    try:
        yield
    except BrokenPipeError:
        _write_nowhere()


def _write_nowhere() -> None:
    """From now on, to the streams whose reader has gone, or whose disk is full. It empties their buffers too,
    or Python would complain at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _code_of(command: Callable[..., ExitCode], arguments: Mapping[str, Any]) -> ExitCode:
    """Run the command; whatever happens becomes a message and a code."""
    try:
        code = command(**arguments)
        with reader_may_go():
            sys.stdout.flush()
        return code
    except RocketchaosError as problem:
        ERR.print(f"rocketchaos: {problem}")
        return problem.exit_code
    except Terminated:
        ERR.print("rocketchaos: terminated; everything that it started has been stopped")
        return ExitCode.TERMINATED
    except KeyboardInterrupt:
        ERR.print("rocketchaos: interrupted; everything that it started has been stopped")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        _write_nowhere()
        return ExitCode.AS_EXPECTED
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            _write_nowhere()
            ERR.print(f"rocketchaos: nothing more can be written: {error.strerror}\n  Make room on the disk.")
            return ExitCode.ENVIRONMENT
        ERR.print(traceback.format_exc())
        ERR.print("rocketchaos: this is a defect of rocketchaos; please report it with the lines above")
        return ExitCode.HARNESS
