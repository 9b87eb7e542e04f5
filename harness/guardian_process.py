"""The guardian: a small process that outlives the harness, and ends what the harness left running.

Run as a program (`python -P guardian_process.py`) by `harness.guardian`, with a pipe as its standard input
whose other end only the harness holds. Each line there is a JSON object: `{"token": T}` and `{"forget": T}`
say which owner's processes are its charge, `{"own": [PID, CREATED]}` one process besides, `{"remove": PATH}`
a folder, and `{"release": true}` that the harness ended well. At the end of the pipe without a release,
whatever the reason, everything in its charge is killed and removed.

Nothing of the harness is imported here: the standard library and psutil.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator

import psutil

OWNER_VARIABLE = "ROCKETCHAOS_OWNER"
"""The environment variable of every process that the harness starts; its children inherit it."""

OWNER_LABEL = "rocketchaos.owner"
"""The label of every container, network and volume that the harness makes; its value is the owner's token."""

CREATED_TOLERANCE_S = 2.0
"""How far two readings of a process's start may differ: psutil reckons it from the wall clock at boot."""

_LIMIT_S = 4.5
_BETWEEN_SCANS_S = 0.35
# A child that was forked but hasn't become its program yet doesn't carry the token yet: three scans, two
# pauses, 0.7 s without a find.
_SCANS_WITHOUT_FIND = 3


def owned_processes(is_owner: Callable[[str], bool]) -> Iterator[tuple[psutil.Process, str]]:
    """Processes, with their owner's token, that this user may see and whose owner is asked for."""
    for process in psutil.process_iter():
        # Gone meanwhile, dead already, or another user's.
        with contextlib.suppress(psutil.Error, OSError):
            token = process.environ().get(OWNER_VARIABLE)
            if token is not None and is_owner(token) and process.pid != os.getpid():
                yield process, token


def same_process(pid: int, created_s: float) -> psutil.Process | None:
    """The process with this id, if it is the one that was started then (Unix time), and not a zombie."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        is_same = abs(process.create_time() - created_s) <= CREATED_TOLERANCE_S
        if is_same and process.status() != psutil.STATUS_ZOMBIE:
            return process
    return None


def kill(process: psutil.Process) -> None:
    """Continue the process, should it be stopped, and SIGKILL it; nothing if it is gone."""
    with contextlib.suppress(psutil.Error, ProcessLookupError):
        process.send_signal(signal.SIGCONT)
        process.kill()


class Charge:
    """What the guardian looks after."""

    def __init__(self) -> None:
        self._tokens: set[str] = set()
        self._own: dict[int, float] = {}
        self._folders: list[str] = []
        self.released = False

    def hear(self, line: bytes) -> None:
        """Take one line from the harness; half a line, its last, is no message."""
        with contextlib.suppress(ValueError, KeyError, TypeError):
            message = json.loads(line)
            if "token" in message:
                self._tokens.add(str(message["token"]))
            elif "forget" in message:
                self._tokens.discard(str(message["forget"]))
            elif "own" in message:
                pid, created_s = message["own"]
                self._own[int(pid)] = float(created_s)
            elif "remove" in message:
                self._folders.append(str(message["remove"]))
            elif "release" in message:
                self.released = True

    def end_everything(self) -> None:
        """Kill until nothing is found for a while, at most for `_LIMIT_S`; then remove the folders."""
        deadline = time.monotonic() + _LIMIT_S
        without_find = 0
        while without_find < _SCANS_WITHOUT_FIND and time.monotonic() < deadline:
            found = list(self._find())
            for process in found:
                kill(process)
            without_find = 0 if found else without_find + 1
            if without_find < _SCANS_WITHOUT_FIND:
                # No condition to await: this is for what can't be seen yet.
                time.sleep(_BETWEEN_SCANS_S)
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    def _find(self) -> Iterator[psutil.Process]:
        for process, _ in owned_processes(self._tokens.__contains__):
            if process.status() != psutil.STATUS_ZOMBIE:
                yield process
        for pid, created_s in self._own.items():
            if process_or_none := same_process(pid, created_s):
                yield process_or_none


def main() -> int:
    """Listen until the harness is gone, then act."""
    # What ends the harness (Ctrl-C, a closed terminal, a polite kill) is no reason for the guardian to end.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    print("ready", flush=True)
    charge = Charge()
    for line in sys.stdin.buffer:
        charge.hear(line)
        if charge.released:
            return 0
    charge.end_everything()
    return 0


if __name__ == "__main__":
    sys.exit(main())
