"""Runs the commands that `check-command` asks for, while the run is alive, and writes down how they ended."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketchaos.assertions.check_command import CheckCommand
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.events.observed import CommandObserved
from rocketchaos.harness.core.user_files import folder_of, user_command
from rocketchaos.harness.language.app_spec import NAMESERVER, fill

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext

_KEPT_BYTES = 2000
"""Of what it prints the end; so much says why."""
_READ_BYTES = 64 * 1024
_LOOK_EVERY_S = 0.1


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    exit_code: int | None
    """None: it didn't, or a signal ended it."""
    why_none: str
    output: str
    """The end of what it printed."""
    seconds: float


def run_commands(context: ProbeContext, name: str, moment: str) -> None:
    """Run the command of each `check-command` for this observation, one after the other.

    Args:
        context: of the run.
        name: the observation's, as checks say it.
        moment: the same with its iteration.
    """
    asked = {
        (check.command, check.within): None
        for _, _, check in context.scenario.checks()
        if isinstance(check, CheckCommand) and check.at == name
    }
    for command, within_ms in asked:
        file = context.scenario.file
        began_ns = context.now_ns()
        words = [fill(word, {NAMESERVER: context.servers.cluster.nameserver}) for word in command]
        try:
            found = user_command(words, file)
        except EnvironmentNotReady as failure:
            ended = Ended(None, failure.message, "", 0.0)
        else:
            ended = run_command(context, found, str(folder_of(file)), within_ms / 1000)
        data = {
            "command": list(command),
            "within_ms": within_ms,
            "exit_code": ended.exit_code,
            "why_none": ended.why_none,
            "output": ended.output,
            "seconds": ended.seconds,
        }
        context.observations.write(
            f"command {command} {within_ms}", CommandObserved.kind, data, moment, began_ns
        )


def run_command(context: ProbeContext, command: Sequence[str], folder: str, limit_s: float) -> Ended:
    """Run a command to its end, or to the limit; nothing of it is left then.

    Raises:
        EnvironmentNotReady: something of the run died meanwhile.
        KeyboardInterrupt: the run was interrupted.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        return Ended(None, f"it can't be started: {error}", "", 0.0)
    kept = bytearray()
    try:
        while process.poll() is None and time.monotonic() - began < limit_s:
            context.check_alive()
            _read(process, kept, _LOOK_EVERY_S)
        code = process.poll()
    finally:
        # With what it has started.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _read(process, kept, 0)
        if process.stdout is not None:
            process.stdout.close()
    why_none = ""
    if code is None:
        why_none = f"it had not ended after {limit_s:g} s, and was killed"
    elif code < 0:
        why_none = f"it was ended by {signal.Signals(-code).name}"
        code = None
    output = kept.decode(errors="replace").strip()
    return Ended(code, why_none, output, round(time.monotonic() - began, 3))


def _read(process: subprocess.Popen[bytes], kept: bytearray, wait_s: float) -> None:
    """The end of its output by now."""
    assert process.stdout is not None
    output = process.stdout.fileno()
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while selector.select(wait_s):
            data = os.read(output, _READ_BYTES)
            if not data:
                # It has closed its output, and may run on.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(wait_s)
                return
            kept += data
            del kept[:-_KEPT_BYTES]
            if wait_s:
                return
