"""Spare workers: client processes that stay with a cluster that is up, ready before a command needs them.

A command takes them in place of processes that it starts, and leaves new ones when it ends. So each process serves
one command, but no command waits for its JVM. Without spares everything works, only slower.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from rocketchaos.harness.core import process_state
from rocketchaos.harness.jars.java_home import Java
from rocketchaos.harness.reaper.reaper_process import OWNER_VARIABLE, kill
from rocketchaos.harness.workers.adopted_process import AdoptedProcess
from rocketchaos.harness.workers.on_host import LocalProgram, OnHost
from rocketchaos.harness.workers.program import WorkerPlan

_TAKEN_FOR_S = 60.0
"""Who takes a spare connects at once: one that is taken for so long has been abandoned."""
_CODE = ("worker_kinds.py", "protocol.py", "jpype_without_numpy.py", "child")
_ENVIRONMENT = ("JAVA", "JDK_", "_JAVA", "NAMESRV", "ROCKETMQ", "PYTHON", "LD_", "LANG", "LC_", "TZ")
"""The beginnings of the names of those variables that a client's process heeds."""


@dataclass(frozen=True, slots=True)
class _Socket:
    """A spare, by its file `<kin>.<name>.<pid>.<state>`; see `child.spare`."""

    file: Path
    kin: str
    """The code, options and environment of its start: `Spares._kin`."""
    name: str
    pid: int
    state: str
    """`starting`, `ready`, `taken`."""

    @classmethod
    def of(cls, file: Path) -> _Socket:
        kin, name, pid, state = file.name.split(".")
        return cls(file, kin, name, int(pid), state)

    @property
    def abandoned(self) -> bool:
        """Whether the command that renamed it has died before it connected."""
        try:
            return self.state == "taken" and time.time() - self.file.lstat().st_ctime > _TAKEN_FOR_S
        except OSError:
            return False


@dataclass(frozen=True, slots=True)
class Spare:
    """A spare worker that this process has taken."""

    program: LocalProgram
    log: Path
    """What it prints; its client's logs are in the folder of the same name."""


class Spares:
    """The spare workers of one cluster.

    Those that were started with other code, options or environment than this command's are ended and replaced.
    """

    def __init__(
        self, folder: Path, owner: str, java: Java | None, plan: Callable[[str], WorkerPlan]
    ) -> None:
        """
        Args:
            folder: of their sockets; it is removed when the cluster is taken down.
            owner: the cluster's: who ends what carries it ends the spares.
            java: for their JVMs.
            plan: of the spare of this name.
        """
        self._folder = folder
        self._owner = owner
        self._home = OnHost(owner, java)
        self._plan = plan

    @property
    def ready_count(self) -> int:
        """How many can be taken."""
        return len(self._ready())

    def take(self) -> Spare | None:
        """Take one; None: none is ready."""
        for item in self._ready():
            # Renamed first: no other command takes it then. An error: one has, or it or the cluster is gone.
            with suppress(OSError, psutil.NoSuchProcess):
                return self._connect(_Socket.of(item.file.rename(item.file.with_suffix(".taken"))))
        return None

    def leave(self, count: int) -> None:
        """Start as many as are missing. Nothing if the cluster is gone.

        Raises:
            EnvironmentNotReady: they can't be started.
        """
        kin = self._kin()
        there = 0
        for item in self._sockets():
            process = self._process(item)
            if process is not None and item.kin == kin and not item.abandoned:
                there += item.state != "taken"
                continue
            item.file.unlink(missing_ok=True)
            if process is not None:
                kill(process)
        if self._folder.is_dir():
            for _ in range(count - there):
                name = os.urandom(3).hex()
                self._home.leave(self._plan(name), "--spare", str(self._folder / f"{kin}.{name}"))

    def _ready(self) -> Sequence[_Socket]:
        kin = self._kin()
        return [
            item
            for item in self._sockets()
            if (item.kin, item.state) == (kin, "ready") and self._process(item) is not None
        ]

    def _process(self, item: _Socket) -> psutil.Process | None:
        """None: it is gone, and its id may be another process's."""
        with suppress(psutil.Error):
            process = psutil.Process(item.pid)
            if process_state.runs(process) and process.environ().get(OWNER_VARIABLE) == self._owner:
                return process
        return None

    def _sockets(self) -> Sequence[_Socket]:
        with suppress(OSError):
            return [_Socket.of(file) for file in sorted(self._folder.iterdir())]
        return ()

    def _connect(self, item: _Socket) -> Spare:
        with socket.socket(socket.AF_UNIX) as commands, socket.socket(socket.AF_UNIX) as events:
            commands.connect(str(item.file))
            events.connect(str(item.file))
            item.file.unlink()
            process = AdoptedProcess(item.pid, os.fdopen(commands.detach(), "wb", buffering=0))
            program = LocalProgram(item.name, process, os.fdopen(events.detach(), "rb"))
        return Spare(program, self._plan(item.name).log)

    def _kin(self) -> str:
        """A digest of the code, options and environment of a spare that starts now."""
        plan = self._plan("")
        here = Path(__file__).parent
        code = [file for name in _CODE for file in (here / name, *(here / name).glob("*.py"))]
        heeded = {key: value for key, value in os.environ.items() if key.startswith(_ENVIRONMENT)}
        whole = [
            self._home.command(plan)(0),
            [str(jar) for jar in plan.classpath],
            sorted(heeded.items()),
            [file.stat().st_mtime_ns for file in code],
        ]
        return hashlib.sha256(json.dumps(whole).encode()).hexdigest()[:6]
