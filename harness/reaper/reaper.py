"""The harness's handle on its reaper, and the tokens that say whose a process is.

Every process that the harness starts carries `ROCKETCHAOS_OWNER=<pid>-<created>-<random>` in its environment:
the harness's process id, when that process was created (Unix time in centiseconds), and a secret. So anybody
can tell whether the harness that started a process is still there, and nobody mistakes one for another.
"""

import contextlib
import fcntl
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.core.process_state import runs
from rocketchaos.harness.reaper import reaper_process as reaper_process
from rocketchaos.harness.reaper.reaper_process import OWNER_VARIABLE, kill, owned_processes, same_process

__all__ = ["OWNER_VARIABLE", "OwnedProcess", "Reaper", "end", "find_owned", "harness_alive", "new_owner"]

_TOKEN = re.compile(r"(\d+)-(\d+)-[0-9a-f]{32}")
_START_LIMIT_S = 20.0
_END_LIMIT_S = 10.0
_KILL_LIMIT_S = 20
_LOOK_EVERY_S = 0.005
_ENGINES = "engines"


def new_owner() -> str:
    """A new token of this process; one for the harness itself, one more for each cluster that stays up."""
    created_s = psutil.Process().create_time()
    return f"{os.getpid()}-{round(created_s * 100)}-{secrets.token_hex(16)}"


def is_owner(text: str) -> bool:
    """Whether the text has the form of a token."""
    return _TOKEN.fullmatch(text) is not None


def harness_alive(owner: str) -> bool:
    """Whether the harness that made this token still runs; also for what is no token, to be left alone."""
    found = _TOKEN.fullmatch(owner)
    return found is None or same_process(int(found[1]), int(found[2]) / 100) is not None


def held(folder: Path) -> bool:
    """Whether a living harness holds this scratch folder, be it one whose processes can't be seen from here."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        # A file system without locks says nothing.
        return False
    finally:
        os.close(descriptor)
    return False


def engines_of(folder: Path) -> list[str]:
    """The addresses of the container engines in which this scratch folder's owner created containers."""
    try:
        return (folder / _ENGINES).read_text(encoding="utf-8").split()
    except OSError:
        return []


@dataclass(frozen=True, slots=True)
class OwnedProcess:
    """A running process that some harness started."""

    pid: int
    created_s: float
    """Unix time."""
    owner: str
    command: str

    def end(self) -> None:
        """Kill it, and wait until it is gone; nothing if it is already. Raises as `end`."""
        process = same_process(self.pid, self.created_s)
        if process is not None:
            end(process)


def end(process: psutil.Process) -> None:
    """Kill this process, and wait until it is gone.

    Raises:
        EnvironmentNotReady: the process is still there after SIGKILL.
    """
    kill(process)
    if not look_until(lambda: _has_ended(process), bool, _KILL_LIMIT_S, _LOOK_EVERY_S):
        raise EnvironmentNotReady(
            f"process {process.pid} outlived SIGKILL by {_KILL_LIMIT_S} s",
            "It may hang in a call to the disk.",
        )


def _has_ended(process: psutil.Process) -> bool:
    """Whether it is gone, or a zombie: an orphan stays one until PID 1 asks for its end, which some never do.

    The first thread can be a zombie while others still hold files and ports.
    """
    try:
        return not runs(process) and process.num_threads() <= 1
    except psutil.NoSuchProcess:
        return True


def find_owned(predicate: Callable[[str], bool]) -> list[OwnedProcess]:
    """This user's processes that carry an owner's token for which the predicate holds."""
    found = []
    for process, owner in owned_processes(predicate):
        try:
            command = " ".join(process.cmdline()[:1]) or process.name()
            found.append(OwnedProcess(process.pid, process.create_time(), owner, command))
        except psutil.Error:
            continue
    return found


class Reaper:
    """Ends what this harness started, within 5 s, should the harness end before it could do so itself.

    As a context manager it is released where the block ends well, and set to work where it doesn't. A process
    that was forked from this one without becoming another program holds the reaper's pipe open: the
    reaper acts when the last of them is gone.
    """

    def __init__(self, process: subprocess.Popen[bytes], owner: str) -> None:
        self._owner = owner
        self._process = process
        self._lock = threading.Lock()
        self._ready = False
        self._watched: set[str] = set()
        self._scratch_lock = threading.Lock()
        self._held: dict[Path, int] = {}
        self._engines: list[str] = []

    @property
    def owner(self) -> str:
        """The token for the environment of everything that is started. The reaper is ready by then.

        Raises:
            EnvironmentNotReady: the reaper can't be started, or has ended.
        """
        self._await_ready()
        if self._process.stdin is None or self._process.stdin.closed:
            raise EnvironmentNotReady("nothing is started any more: the command is ending", "Run it again.")
        return self._owner

    @classmethod
    def start(cls) -> Self:
        """Start a reaper for this process, in a session of its own. `owner` waits for it.

        Raises:
            EnvironmentNotReady: no process can be started.
        """
        environment = {key: value for key, value in os.environ.items() if key != OWNER_VARIABLE}
        process = subprocess.Popen(
            # -P: no module of the folder it is in, or is run from, may stand in for another.
            [sys.executable, "-P", reaper_process.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            # An outer harness's reaper must not end this one, whose charge would then be nobody's.
            env=environment,
            start_new_session=True,
        )
        return cls(process, new_owner())

    def watch(self, owner: str) -> None:
        """Look after another owner's processes too: a cluster that is to stay up, until it is recorded.

        Raises, as all that tell the reaper something:
            EnvironmentNotReady: the reaper is gone.
        """
        # Noted first: a release at this moment must not miss it.
        self._watched.add(owner)
        self._tell({"token": owner})

    def unwatch(self, owner: str) -> None:
        """Leave an owner's processes alone from now on."""
        self._watched.discard(owner)
        self._tell({"forget": owner})

    def own(self, pid: int) -> None:
        """Look after a process whose environment can't carry the token; nothing if it is gone already."""
        try:
            created_s = psutil.Process(pid).create_time()
        except psutil.NoSuchProcess:
            return
        self._tell({"own": [pid, created_s]})

    def watch_engine(self, base_url: str) -> None:
        """Look after what its owners make in this container engine (`unix:///var/run/docker.sock`) too.

        To be called before anything is made there.
        """
        self._tell({"engine": base_url})
        with self._scratch_lock:
            if base_url not in self._engines:
                self._engines.append(base_url)
            for folder in self._held:
                self._note_engines(folder)

    def scratch(self, owner: str) -> Path:
        """The owner's scratch folder, made if need be.

        It is removed, should the harness die, and locked while it lives: a harness on another machine, or in
        another container, that shares this cache can see no process, but it can see the lock.

        Raises:
            EnvironmentNotReady: it can't be made.
        """
        # Told before it is made, so that no moment is left in which nobody would remove it.
        self.remove_at_death(paths.scratch_root() / owner)
        folder = paths.scratch_folder(owner)
        with self._scratch_lock:
            if folder not in self._held:
                self._held[folder] = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
                with contextlib.suppress(OSError):  # a file system without locks
                    fcntl.flock(self._held[folder], fcntl.LOCK_SH | fcntl.LOCK_NB)
                self._note_engines(folder)
        return folder

    def remove_scratch(self, owner: str) -> None:
        """Remove the owner's scratch folder, whose processes are gone. Idempotent."""
        folder = paths.scratch_root() / owner
        shutil.rmtree(folder, ignore_errors=True)
        with self._scratch_lock:
            descriptor = self._held.pop(folder, None)
        if descriptor is not None:
            os.close(descriptor)

    def remove_at_death(self, path: Path) -> None:
        """Remove this folder, should the harness die, after its processes."""
        self._tell({"remove": str(path.absolute())})

    def release(self) -> None:
        """The harness has ended everything itself: the reaper goes, and touches nothing. Idempotent.

        If another owner is still watched, the harness has not: a cluster that was starting when a second Ctrl-C
        broke off the wait for it. Then the reaper ends it.
        """
        self._close(b"" if self._watched else b'{"release": true}\n')

    def end_all(self) -> None:
        """Something may be left: the reaper ends all that was started, and goes. Idempotent."""
        self._close(b"")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.release()
        else:
            self.end_all()

    def _note_engines(self, folder: Path) -> None:
        """For `rocketchaos clean`, should the reaper die too. A folder that is gone needs no note."""
        if self._engines:
            with contextlib.suppress(FileNotFoundError):
                (folder / _ENGINES).write_text("\n".join(self._engines), encoding="utf-8")

    def _close(self, last_words: bytes) -> None:
        """Close the pipe and wait until the reaper is gone."""
        with contextlib.suppress(EnvironmentNotReady):
            self._await_ready()
        with self._scratch_lock:
            while self._held:
                os.close(self._held.popitem()[1])
        pipe = self._process.stdin
        with self._lock:
            if pipe is None or pipe.closed:
                return
            try:
                pipe.write(last_words)
                pipe.close()
            except BrokenPipeError:
                # It is gone: nothing to release.
                pass
        try:
            self._process.wait(_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            # Removing folders may take longer on a slow disk. It goes on by itself.
            return

    def _await_ready(self) -> None:
        with self._lock:
            if not self._ready:
                _await_ready(self._process)
                self._ready = True
                self._write({"token": self._owner})

    def _tell(self, message: dict[str, object]) -> None:
        self._await_ready()
        with self._lock:
            self._write(message)

    def _write(self, message: dict[str, object]) -> None:
        pipe = self._process.stdin
        try:
            if pipe is None or pipe.closed:
                raise BrokenPipeError
            pipe.write(json.dumps(message).encode() + b"\n")
            pipe.flush()
        except BrokenPipeError as error:
            raise EnvironmentNotReady(
                "the reaper, which ends what the harness starts, is gone",
                "Something killed it. Run again; `rocketchaos clean` ends what was left.",
            ) from error


def _await_ready(process: subprocess.Popen[bytes]) -> None:
    """Wait until the reaper ignores signals and listens."""
    assert process.stdout is not None
    # A reaper that hangs says nothing for ever; killing it ends the reading.
    watchdog = threading.Timer(_START_LIMIT_S, process.kill)
    watchdog.start()
    with process.stdout as output:
        said: Sequence[bytes] = [output.readline()]
        if said[0].strip() != b"ready":
            said = [*said, *output]
    watchdog.cancel()
    if said[0].strip() != b"ready":
        process.kill()
        process.wait()
        lines = b"".join(said).decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else "it says nothing"
        raise EnvironmentNotReady(
            f"the reaper, which ends what the harness starts, can't be started: {reason}",
            "Check the installation, and the memory that is left on this machine.",
        )
