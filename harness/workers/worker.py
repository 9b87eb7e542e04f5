"""The parent's side of a worker: start it, ask it, hear it, kill it.

One thread per worker reads its event pipe, and hands on every event that was written, also those written just
before a kill.
"""

from __future__ import annotations

import contextlib
import json
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from rocketchaos.harness.core.errors import (
    EnvironmentNotReady,
    HarnessDefect,
    PreconditionNotMet,
    RequestFailed,
)
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.workers.command_pipe import CommandPipe
from rocketchaos.harness.workers.foreign_clock import ForeignClock
from rocketchaos.harness.workers.own_program import OwnProgram
from rocketchaos.harness.workers.program import InContainer, Program, WorkerHome, WorkerPlan
from rocketchaos.harness.workers.program_log import last_lines
from rocketchaos.harness.workers.protocol import TERMINATED
from rocketchaos.harness.workers.worker_events import GarbageError, WorkerEvent, read_events
from rocketchaos.harness.workers.worker_kinds import WorkerKind
from rocketchaos.harness.workers.worker_requests import Requests

OnEvent = Callable[[WorkerEvent], None]
OnDeath = Callable[[str, str, Trouble], None]
"""Called with the worker's name, the reason, and whether the environment or the harness failed."""

_END_LIMIT_S = 10.0
"""How long a process may take to be gone once it was killed, or has closed its pipe."""
_FIRST_PROCESS = (
    "The first process of a container ends on SIGTERM only if it has a handler for it. A shell script must "
    "start the program with `exec`."
)
_DEAF = (
    "It must end on SIGTERM by itself. A real deployment kills it after a grace period: `kill` shows what becomes "
    "of its messages then."
)
_CLOCK_REQUEST = 0
"""The number of the request that asks for a foreign clock; others count from 1."""


def result_of(reply: Mapping[str, Any], what: str, name: str) -> dict[str, Any]:
    """The result in a worker's reply.

    Args:
        reply: the data of an event `reply`.
        what: failed where it has no result: the begin of the message.
        name: the worker's, whose log says more.

    Raises:
        RequestFailed: RocketMQ, or the network, refused.
        HarnessDefect: the worker failed where it should not have.
    """
    if reply["ok"]:
        return dict(reply["result"])
    message = f"{what}: {reply['error']}"
    if reply["defect"]:
        defect = HarnessDefect(message)
        defect.add_note(f"In the worker {name}:\n{reply['traceback']}")
        raise defect
    raise RequestFailed(message, reply["code"], reply.get("exceptions") or (), about=(name,))


class Worker:
    """One worker process, on this host or in a container. Every method may be called from any thread.

    Callbacks come from the worker's own reader thread, one at a time, and should be quick: `on_event` for
    every event but replies, in the order of writing; `on_death` at most once, after the last event, when the
    process ended unexpectedly (`Trouble.ENVIRONMENT`), or wrote garbage (`Trouble.HARNESS`; everything after the
    garbage is left out, and the process is killed then). An exception in `on_event` counts as the latter, unless
    it is an EnvironmentNotReady.
    """

    process: ClassVar[Literal["own"]] = "own"

    def __init__(
        self, kind: WorkerKind, name: str, program: Program, log: Path, on_event: OnEvent, on_death: OnDeath
    ) -> None:
        self.name = name
        self.kind = kind.name
        self._users_program = kind.users_program
        self.log = log
        """What the process printed."""
        self._program = program
        self._on_event = on_event
        self._on_death = on_death
        self._requests = Requests()
        self._ready = threading.Event()
        self._killed = self._terminated = self._stopped = self._paused = False
        self._last_seen: tuple[str, float] | None = None
        self._clock: ForeignClock | None = None
        self._held: list[WorkerEvent] = []
        self._asked_ns = 0
        self._commands = CommandPipe(program.commands)
        self._reader = threading.Thread(target=self._read, name=f"events-of-{name}", daemon=True)
        self._reader.start()

    @classmethod
    def spawn(
        cls,
        kind: WorkerKind,
        name: str,
        *,
        home: WorkerHome,
        log_folder: Path,
        on_event: OnEvent,
        on_death: OnDeath,
        classpath: Iterable[Path] = (),
        jvm_options: Iterable[str] = (),
        packages: Path | None = None,
        library: Path | None = None,
        program: OwnProgram | None = None,
    ) -> Worker:
        """Start a worker; returns at once, see `wait_ready`.

        Args:
            kind: from `harness.workers.worker_kinds.KINDS`.
            name: unique within the run; its output goes to `<name>.log`, its client's logs to the folder `<name>`.
            home: where it lives: `OnHost`, `InContainers`.
            log_folder: where those are.
            on_event: see the class.
            on_death: see the class.
            classpath: RocketMQ's jars, of the kind's `classpath_role`.
            jvm_options: added to the kind's own, and winning over them.
            packages: the folder of the kind's `packages`.
            library: the native library that the kind loads.
            program: what is started in place of the kind's module.

        Raises:
            EnvironmentNotReady: no process can be started.
        """
        log = log_folder / f"{name}.log"
        options = tuple(classpath), tuple(jvm_options), packages, library, program
        plan = WorkerPlan(kind, name, log_folder / name, log, *options)
        return cls(kind, name, home.launch(plan), log, on_event, on_death)

    @property
    def pid(self) -> int:
        """The process id; in a container, as the engine's kernel counts, which may not be this host's."""
        return self._program.pid

    @property
    def where(self) -> str:
        """`process 4711`, or `container rocketchaos-...`, for messages."""
        return self._program.where

    @property
    def container(self) -> InContainer | None:
        """Its container; None: it is a process of this host."""
        return self._program.container

    @property
    def alive(self) -> bool:
        """Whether the process runs, or is paused."""
        return self._program.poll() is None

    @property
    def returncode(self) -> int | None:
        """How the process ended; negative: by that signal; None: it hasn't."""
        return self._program.poll()

    def wait_ready(self, limit_s: float) -> None:
        """Wait until the worker has said that it is ready.

        Raises:
            EnvironmentNotReady: it has died, or the limit has passed; with the end of its log.
        """
        if not self._ready.wait(limit_s):
            raise EnvironmentNotReady(
                f"worker {self.name} was not ready within {limit_s:g} s; {last_lines(self.log)}",
                about=(self.name,),
            )
        if self._requests.over.is_set():
            how = self._how_it_ended()
            raise EnvironmentNotReady(
                f"worker {self.name} died: {how}; {last_lines(self.log)}", about=(self.name,)
            )

    def request(self, do: str, limit_s: float, /, **with_: Any) -> dict[str, Any]:
        """Send a command and wait for its answer.

        Every event that the worker wrote before its answer has been handed on when this returns.

        Raises:
            RequestFailed: RocketMQ, or the network, refused.
            EnvironmentNotReady: the worker has died, or dies meanwhile, or the limit has passed.
            HarnessDefect: the worker failed where it should not have.
        """
        deadline = time.monotonic() + limit_s
        with self._requests.begin() as request:
            if request is None:
                raise self._died(do)
            command = {"id": request.number, "do": do, "with": with_}
            try:
                sent = self._commands.write((json.dumps(command) + "\n").encode(), deadline)
                answered = sent and request.done.wait(max(0.0, deadline - time.monotonic()))
            except OSError as error:
                # Its standard input is closed: it has just died, or was stopped.
                self._requests.over.wait(_END_LIMIT_S)
                raise self._died(do) from error
        if not answered:
            raise EnvironmentNotReady(
                f"worker {self.name} did not answer `{do}` within {limit_s:g} s; {self._seen()}",
                about=(self.name,),
            )
        if request.reply is None:
            raise self._died(do)
        what = f"the program of {self.name}" if self._users_program else f"worker {self.name}: `{do}` failed"
        return result_of(request.reply, what, self.name)

    def _died(self, do: str) -> EnvironmentNotReady:
        how = self._how_it_ended()
        return EnvironmentNotReady(
            f"worker {self.name} died ({how}) before it answered `{do}`", about=(self.name,)
        )

    def _how_it_ended(self) -> str:
        return "it is still ending" if self.alive else self._program.ending

    def _seen(self) -> str:
        paused = "; it is paused" if self._paused else ""
        if self._last_seen is None:
            return f"last seen: nothing yet{paused}"
        kind, when = self._last_seen
        return f"last seen: `{kind}` {time.monotonic() - when:.1f} s ago{paused}"

    def kill(self) -> None:
        """SIGKILL; returns when the process is gone and every event that it wrote was handed on.

        Raises:
            EnvironmentNotReady: it isn't gone after 10 s (it hangs in the kernel).
        """
        self._killed = True
        self._program.kill()
        self._await_end()

    def terminate(self) -> None:
        """SIGTERM, on which it shuts its clients down and ends; returns at once, see `wait_terminated`.

        Raises:
            EnvironmentNotReady: a container engine refuses.
        """
        self._terminated = True
        self._program.terminate()

    def wait_terminated(self, limit_s: float) -> None:
        """Wait until it has ended by itself after a SIGTERM, and every event that it wrote was handed on.

        Raises:
            PreconditionNotMet: it still runs after the limit, or something else has ended it.
        """
        if not self._requests.over.wait(limit_s):
            way_out = _DEAF if self.container is None else _FIRST_PROCESS
            sent = f"got {self._program.stop_signal} {limit_s:g} s ago"
            raise PreconditionNotMet(
                f"the {self.where} of {self.name} {sent} and has not ended; {self._seen()}",
                way_out if self._users_program else "",
            )
        if not self._ended_on_sigterm(self.returncode):
            raise PreconditionNotMet(
                f"the {self.where} of {self.name} got {self._program.stop_signal} and did not end by itself, "
                f"with exit code {TERMINATED}, but with {self._how_it_ended()}"
            )

    def stop(self, limit_s: float) -> None:
        """Close the worker's standard input, which ends it; SIGKILL after the limit, at once if it is paused.

        Returns when the process is gone and every event that it wrote was handed on.

        Raises:
            EnvironmentNotReady: it isn't gone 10 s after the kill (it hangs in the kernel).
        """
        self._stopped = True
        self._commands.close()
        with contextlib.suppress(TimeoutError):
            self._program.wait(0 if self._paused else limit_s)
        self._program.kill()
        self._await_end()

    def release(self) -> None:
        """SIGKILL it if it is there, in whatever state."""
        if self.alive:
            self.kill()

    def _await_end(self) -> None:
        if threading.current_thread() is self._reader:
            return  # called by a callback: the end comes after it
        if not self._requests.over.wait(_END_LIMIT_S):
            state = "still runs" if self.alive else "has ended, but its event pipe has not"
            raise EnvironmentNotReady(f"worker {self.name} was killed {_END_LIMIT_S:g} s ago and {state}")

    def pause(self) -> None:
        """Let it stand still, by SIGSTOP or by the container engine; returns when that shows.

        Raises:
            EnvironmentNotReady: it has died, or still runs after 5 s.
        """
        self._program.pause()
        self._paused = True

    def resume(self) -> None:
        """Let it go on; returns when that shows.

        Raises:
            EnvironmentNotReady: it has died, or still stands after 5 s.
        """
        self._program.resume()
        self._paused = False

    def _read(self) -> None:
        """The reader thread: passes events on, and handles the end of the worker."""
        trouble: tuple[str, Trouble] | None = None
        try:
            for event in read_events(self._program.events, self.name):
                self._deliver(event)
        except GarbageError as error:
            trouble = f"it wrote {error}", Trouble.HARNESS
        except EnvironmentNotReady as error:
            trouble = f"its events can't be recorded: {error.message}", Trouble.ENVIRONMENT
        except Exception as error:  # a callback's defect must not pass for a quiet worker
            trouble = f"its event can't be handled: {type(error).__name__}: {error}", Trouble.HARNESS
        try:
            trouble = trouble or self._ended()
            if trouble is not None:
                self._on_death(self.name, *trouble)
        finally:
            self._finish()

    def _deliver(self, event: WorkerEvent) -> None:
        self._last_seen = event.kind, time.monotonic()
        if self._clock is not None:
            event = self._clock.here(event)
        elif self._program.foreign_clock:
            self._find_clock(event)
            return
        if event.kind != "reply":
            self._on_event(event)
            if event.kind == "ready":
                self._ready.set()
            return
        self._requests.answer(event)

    def _find_clock(self, event: WorkerEvent) -> None:
        """Keep what comes first, `ready`, until the worker's clock is known from the answer to a request."""
        self._held.append(event)
        if len(self._held) == 1:
            self._asked_ns = time.monotonic_ns()
            command = json.dumps({"id": _CLOCK_REQUEST, "do": "ping", "with": {}})
            with contextlib.suppress(OSError):  # it has died: so says the end of its events
                self._commands.write(command.encode() + b"\n", time.monotonic() + _END_LIMIT_S)
        elif event.kind == "reply" and event.data.get("id") == _CLOCK_REQUEST:
            self._clock = ForeignClock.measured(self._asked_ns, event.mono_ns, time.monotonic_ns())
            ready, *others = self._held[:-1]
            data = {**ready.data, "clock_uncertainty_ms": self._clock.uncertainty_ns / 1_000_000}
            for held in (replace(ready, data=data), *others):
                self._deliver(held)

    def _ended(self) -> tuple[str, Trouble] | None:
        """After the end of the pipe: what is wrong with this end, if anything."""
        try:
            code = self._program.wait(_END_LIMIT_S)
        except TimeoutError:
            return "it closed its event pipe and went on running", Trouble.HARNESS
        by_kill = self._killed and code == -signal.SIGKILL
        if self._stopped or by_kill or (self._terminated and self._ended_on_sigterm(code)):
            return None
        said = f"; {last_lines(self.log)}" if self._users_program or not self._ready.is_set() else ""
        return f"{self._program.ending}{said}", Trouble.ENVIRONMENT

    def _ended_on_sigterm(self, code: int | None) -> bool:
        """Whether that is how it ends by itself; a user's program has an exit code of its own, or none."""
        number = signal.Signals.__members__.get(self._program.stop_signal, signal.SIGTERM)
        by_default = code == -number
        return code == TERMINATED or (self._users_program and code is not None and (code >= 0 or by_default))

    def _finish(self) -> None:
        with contextlib.suppress(TimeoutError, EnvironmentNotReady):
            self._program.kill()
            self._program.wait(_END_LIMIT_S)
        self._commands.close()
        # What a container engine refuses now, the reaper tries again.
        with contextlib.suppress(EnvironmentNotReady):
            self._program.close()
        self._requests.end()
        self._ready.set()
