"""How a worker's process is started: its command line, environment, pipes and log."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import harness
from harness.cluster.java_home import Java
from harness.errors import EnvironmentNotReady, HarnessDefect
from harness.workers.kinds import WorkerKind, log_properties

OWNER_VARIABLE = "ROCKETCHAOS_OWNER"
"""Says in a process's environment which run of the harness it belongs to."""

_TAIL_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Spawned:
    """A process that has just been started, and the parent's end of its event pipe."""

    process: subprocess.Popen[bytes]
    events: BinaryIO


def spawn(
    kind: WorkerKind,
    name: str,
    *,
    java: Java | None,
    classpath: Iterable[Path],
    jvm_options: Iterable[str],
    folder: Path,
    log: Path,
    owner: str,
) -> Spawned:
    """Start the worker's program; what it prints goes to `log`, what its client writes to `folder`.

    It gets a session of its own, so that a Ctrl-C in the terminal doesn't reach it: the harness decides.

    Raises:
        EnvironmentNotReady: the folder can't be written, or no process can be started.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Neither end is inheritable; pass_fds makes the child's end so in that one child.
        read_fd, write_fd = os.pipe()
        try:
            command = [sys.executable, "-P", "-m", kind.module, "--events-fd", str(write_fd)]
            if kind.classpath_role is not None:
                command += _jvm_arguments(kind, name, java, classpath, jvm_options, folder)
            with log.open("ab") as output:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=output,
                    env=_environment(os.environ, owner),
                    pass_fds=(write_fd,),
                    start_new_session=True,
                    bufsize=0,
                )
        except BaseException:
            os.close(read_fd)
            raise
        finally:
            os.close(write_fd)
    except OSError as error:
        raise EnvironmentNotReady(f"worker {name} can't be started: {error}") from error
    return Spawned(process, os.fdopen(read_fd, "rb"))


def _jvm_arguments(
    kind: WorkerKind,
    name: str,
    java: Java | None,
    classpath: Iterable[Path],
    jvm_options: Iterable[str],
    folder: Path,
) -> list[str]:
    if java is None:
        raise HarnessDefect(f"worker {name} of kind {kind.name} needs a Java")
    # A class path of 5.x has a hundred jars: too long for a command line that people read.
    classpath_file = folder / "classpath.json"
    classpath_file.write_text(json.dumps([str(jar.absolute()) for jar in classpath]))
    options = (*kind.jvm_options, *log_properties(folder.absolute()), *jvm_options)
    return [
        "--libjvm",
        str(java.libjvm),
        "--classpath-file",
        str(classpath_file.absolute()),
        # One word each: argparse takes what begins with a dash for an option of its own.
        *(f"--jvm-option={option}" for option in options),
    ]


def _environment(inherited: Mapping[str, str], owner: str) -> dict[str, str]:
    """The harness's environment, with its own packages first: `-P` keeps the current folder out."""
    packages = str(Path(harness.__file__).absolute().parent.parent)
    path = os.pathsep.join(filter(None, (packages, inherited.get("PYTHONPATH"))))
    return {**inherited, "PYTHONPATH": path, OWNER_VARIABLE: owner}


def ending(returncode: int) -> str:
    """How a process ended: `exit code 1`, `signal SIGKILL`."""
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        return f"signal {signal.Signals(-returncode).name}"
    except ValueError:
        return f"signal {-returncode}"


def last_lines(log: Path, count: int = 12) -> str:
    """The end of a log, indented; says so where there is nothing."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()[-count:]
    except OSError as error:
        return f"its log can't be read: {error}"
    if not lines:
        return f"it printed nothing: {log}"
    return "\n".join([f"the end of {log}:", *(f"    {line}" for line in lines)])
