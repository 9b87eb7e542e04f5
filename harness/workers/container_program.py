"""A worker's program as the first process of a container."""

import os
import signal
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from docker.errors import NotFound
from docker.models.containers import Container

from rocketchaos.harness.containers.container_engine import Engine, refusals, until_frozen
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.workers.attachment import Attachment
from rocketchaos.harness.workers.program import InContainer, ending
from rocketchaos.harness.workers.protocol import TERMINATED

SHELL = "/bin/sh"
_WAITS_FOR_A_LINE = 'read -r _ && exec 3>&1 1>&2 && exec "$@"'
EVENTS_FD = 3
"""Text written there is standard output outside; printed text is standard error."""

_STATE_LIMIT_S = 5.0
_LOOK_EVERY_S = 0.01
_SIGNALLED = frozenset(range(129, 193)) - {TERMINATED}
"""Exit codes by which an engine says that a signal ended a program: 128 and its number. SIGTERM ends no first
process of a container that doesn't want it: one with that code has ended by itself."""
_KILLED = 128 + signal.SIGKILL
_OOM_LIMIT_S = 2.0
"""An engine hears of the end and of its reason, lack of memory, in either order.

With cgroup v1, containerd 1.6 never passes the reason on if the container's cgroup is gone by then.
"""
_UNEXPLAINED = ", perhaps out of memory: the container engine gives no reason"
_LOST = 125
"""What `docker run` gives back where the engine, not the program, has failed."""


def held_back(command: list[str]) -> list[str]:
    """Arguments of a `SHELL` that becomes the command once a first line comes in, when somebody listens."""
    return ["-c", _WAITS_FOR_A_LINE, SHELL, *command]


class Contained:
    """The first process of a container, as far as `harness.workers.program.Program` is about its life.

    Where the engine itself ends, so do its containers: that is seen as their death, with exit code 125.
    """

    pid = 0
    stop_signal = "SIGTERM"

    def __init__(
        self, engine: Engine, container: Container, worker: str, address: str, on_gone: Callable[[], None]
    ) -> None:
        """
        Args:
            engine: on this host.
            container: has been made.
            worker: its name, for messages.
            address: its address.
            on_gone: called when the container is removed.
        """
        self._engine = engine
        self._api = engine.client.api
        self._id = str(container.id)
        self._worker = worker
        self._on_gone = on_gone
        self._lock = threading.Lock()
        self._gone = False
        self._ended = threading.Event()
        self._returncode: int | None = None
        self._killed_here = False
        self._ending = ""
        self.container = InContainer(self._id, str(container.name), address)
        self.where = f"container {self.container.name}"

    def _learn_pid(self) -> None:
        with refusals(f"worker {self._worker} can't be started"):
            self.pid = int(self._state()["Pid"])

    @property
    def ending(self) -> str:
        self._ended.wait()
        return self._ending

    def poll(self) -> int | None:
        return self._returncode

    def wait(self, limit_s: float) -> int:
        if not self._ended.wait(limit_s):
            raise TimeoutError(f"{self.where} runs on")
        assert self._returncode is not None
        return self._returncode

    def kill(self) -> None:
        self._killed_here = True
        self._signal("SIGKILL", "killed")

    def terminate(self) -> None:
        self._signal(self.stop_signal, "terminated")

    def _signal(self, name: str, word: str) -> None:
        if self._ended.is_set():
            return
        try:
            with refusals(f"worker {self._worker} can't be {word}"):
                self._api.kill(self._id, name)
        except (NotFound, EnvironmentNotReady):
            # It may have ended just now, which the engine takes for a mistake.
            if self._runs():
                raise

    def pause(self) -> None:
        """The engine's own pause (the cgroup freezer): no signal, so that no process could notice."""
        self._switch(self._api.pause, "paused", pauses=True)

    def resume(self) -> None:
        self._switch(self._api.unpause, "resumed", pauses=False)

    def _switch(self, switch: Callable[[str], Any], word: str, *, pauses: bool) -> None:
        what = f"worker {self._worker} can't be {word}"

        def done(state: Mapping[str, Any]) -> bool:
            return not state["Running"] or state["Paused"] == pauses

        try:
            if not self._runs():
                raise EnvironmentNotReady(f"{what}: it is gone")
            with refusals(what):
                until_frozen(partial(switch, self._id))
                state = look_until(self._state, done, _STATE_LIMIT_S, _LOOK_EVERY_S)
        except NotFound as error:
            raise EnvironmentNotReady(f"{what}: it is gone") from error
        if not done(state):
            raise EnvironmentNotReady(
                f"{what}: within {_STATE_LIMIT_S:g} s nothing came of it; last seen: {state['Status']}"
            )

    def _runs(self) -> bool:
        if self._ended.is_set():
            return False
        try:
            with refusals(f"worker {self._worker} can't be looked at"):
                return bool(self._state()["Running"])
        except NotFound:
            return False

    def _state(self) -> Mapping[str, Any]:
        state: Mapping[str, Any] = self._api.inspect_container(self._id)["State"]
        return state

    def _see_end(self) -> None:
        """To be called when the attached socket has ended, which happens after the last output."""
        try:
            code = int(self._api.wait(self._id, timeout=None)["StatusCode"])
            unexplained = code == _KILLED and not self._killed_here
            limit_s = _OOM_LIMIT_S if unexplained else 0
            state = look_until(self._state, lambda seen: bool(seen["OOMKilled"]), limit_s, _LOOK_EVERY_S)
        except NotFound:
            self._end(_LOST, "somebody removed its container")
        except Exception as error:  # whatever it was, nobody may wait for this end any more
            self._end(_LOST, f"the container engine doesn't answer: {error}")
        else:
            returncode = 128 - code if code in _SIGNALLED else code
            why = ", out of memory" if state["OOMKilled"] else _UNEXPLAINED if unexplained else ""
            self._end(returncode, ending(returncode) + why)

    def _end(self, returncode: int, how: str) -> None:
        self._ending, self._returncode = how, returncode
        self._ended.set()

    def close(self) -> None:
        with self._lock:
            if self._gone:
                return
            self._gone = True
        try:
            with refusals(f"the container of worker {self._worker} can't be removed"):
                self._api.remove_container(self._id, v=True, force=True)
        except NotFound:
            pass
        self._on_gone()
        self._release()

    def _release(self) -> None:
        """Close what is attached to it."""


class ContainerProgram(Contained):
    """A container that runs `held_back(...)`; see `harness.workers.program.Program`."""

    def __init__(
        self,
        engine: Engine,
        container: Container,
        worker: str,
        address: str,
        log: Path,
        on_gone: Callable[[], None],
    ) -> None:
        """
        Args:
            engine: on this host.
            container: has just been started, with `keeps_stdin`.
            worker: its name, for messages.
            address: its address.
            log: for what it prints.
            on_gone: called when the container is removed.

        Raises:
            EnvironmentNotReady: the engine refuses.
        """
        super().__init__(engine, container, worker, address, on_gone)
        self.foreign_clock = engine.in_vm
        self._learn_pid()
        self._attachment = Attachment(engine, self._id, log, self._see_end)
        self.events = self._attachment.output
        self.commands = self._attachment.input
        os.write(self.commands.fileno(), b"\n")

    def _release(self) -> None:
        self._attachment.close()
