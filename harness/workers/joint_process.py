"""One process of a single run that holds several of its consumers, like the listeners of one application."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar, Literal

from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.workers.in_process import InProcess
from rocketchaos.harness.workers.worker import OnDeath, OnEvent, Worker
from rocketchaos.harness.workers.worker_events import WorkerEvent


class JointProcess:
    """The process, and its consumers. It ends with the last that leaves, or with the first that is killed."""

    def __init__(self, spawn: Callable[[OnEvent, OnDeath], Worker]) -> None:
        """
        Args:
            spawn: begins the process, with what is called for its events and for its death.
        """
        self._lock = threading.Lock()
        self._listeners: dict[str, tuple[OnEvent, OnDeath]] = {}
        self._living: set[str] = set()
        self._early: dict[str, list[WorkerEvent]] = {}
        """Events of those who have no place yet: a program starts all its consumers at once."""
        self.ended = False
        """A step has ended the process, or the last one has left it."""
        self.worker = spawn(self._tell, self._died)

    def join(self, name: str, on_event: OnEvent, on_death: OnDeath) -> JointConsumer:
        """A place for the consumer `name`; see `harness.workers.worker.Worker` for the callbacks."""
        with self._lock:
            self._listeners[name] = on_event, on_death
            self._living.add(name)
            for event in self._early.pop(name, ()):
                on_event(event)
        return JointConsumer(self, name)

    def leave(self, name: str) -> bool:
        """Whether all its consumers have left."""
        with self._lock:
            self._living.discard(name)
            self.ended |= not self._living
            return not self._living

    def _tell(self, event: WorkerEvent) -> None:
        with self._lock:
            # What names nobody, as `ready`, is the process's own: the first one tells it.
            first = next(iter(self._listeners), "")
            name = str(event.data.get("consumer", first))
            shown = self._listeners.get(name)
            if shown is None:
                self._early.setdefault(name, []).append(event)
        if shown is not None:
            shown[0](event)

    def _died(self, _worker: str, reason: str, trouble: Trouble) -> None:
        with self._lock:
            living = [(name, self._listeners[name][1]) for name in sorted(self._living)]
        for name, on_death in living:
            on_death(name, reason, trouble)


class JointConsumer(InProcess):
    """A consumer's place in a joint process: asked like a worker of its own.

    A fault hits all consumers of the process. A scenario names all of them then, one after the other:
    the first does it, and the others find it done.
    """

    process: ClassVar[Literal["own"]] = "own"

    def __init__(self, joint: JointProcess, name: str) -> None:
        self.name = name
        self._joint = joint
        self._gone = False
        """It has been killed, terminated or stopped, or has left."""

    @property
    def _process(self) -> Worker:
        return self._joint.worker

    @property
    def alive(self) -> bool:
        """Whether this consumer hasn't left, and its process runs, or ended because of another consumer in it."""
        return not self._gone and (self._process.alive or self._joint.ended)

    def wait_ready(self, limit_s: float) -> None:
        """As `Worker.wait_ready`."""
        self._process.wait_ready(limit_s)

    def request(self, do: str, limit_s: float, /, **with_: Any) -> dict[str, Any]:
        """As `Worker.request`."""
        return self._process.request(do, limit_s, **with_)

    def stop(self, limit_s: float) -> None:
        """Leave; the last one takes the process along."""
        self._gone = True
        if self._joint.leave(self.name):
            self._process.stop(limit_s)

    def release(self) -> None:
        """Leave, whatever state it is in; the last one takes the process along."""
        if not self._gone:
            self._gone = True
            if self._joint.leave(self.name):
                self._process.release()

    def kill(self) -> None:
        """As `Worker.kill`."""
        self._gone = self._joint.ended = True
        self._process.kill()

    def terminate(self) -> None:
        """As `Worker.terminate`."""
        first, self._joint.ended = not self._joint.ended, True
        self._gone = True
        if first:
            self._process.terminate()

    def wait_terminated(self, limit_s: float) -> None:
        """As `Worker.wait_terminated`."""
        self._process.wait_terminated(limit_s)

    def pause(self) -> None:
        """As `Worker.pause`."""
        self._process.pause()

    def resume(self) -> None:
        """As `Worker.resume`."""
        self._process.resume()
