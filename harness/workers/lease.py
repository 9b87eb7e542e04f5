"""A client's place in a shared worker: asked like a worker of its own, as far as that can be."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn

from rocketchaos.harness.core.errors import (
    EnvironmentNotReady,
    HarnessDefect,
    RequestFailed,
    RocketchaosError,
)
from rocketchaos.harness.workers.in_process import InProcess
from rocketchaos.harness.workers.joint_process import JointConsumer
from rocketchaos.harness.workers.program import ending
from rocketchaos.harness.workers.worker import Worker

if TYPE_CHECKING:
    from rocketchaos.harness.workers.shared_workers import SharedWorkers

LEAVE_LIMIT_S = 40.0
"""How long a client's graceful shutdown may take. It tells name server and brokers at once, but then joins its
RebalanceService, which now and then sleeps through its notice: 1 s in compressed timing, 20 s in RocketMQ's own
(ServiceThread.waitForRunning resets its latch after the notice was given, 4.9.4)."""


class Lease(InProcess):
    """The share of one client of one run in a shared worker.

    Its commands carry the client's name behind the run's token, so that two runs' clients of one name are two.
    It can't be killed, terminated, paused or resumed: that would hit all clients of the process.
    """

    process: ClassVar[Literal["shared"]] = "shared"

    def __init__(self, workers: SharedWorkers, worker: Worker, run: str, name: str) -> None:
        self.run = run
        self.name = name
        self.over = False
        """The client leaves, or has left."""
        self.leaving: Future[None] | None = None
        """Done when a client that was released has left."""
        self._workers = workers
        self._worker = worker
        self._stop_command: str | None = None

    @property
    def _process(self) -> Worker:
        return self._worker

    @property
    def alive(self) -> bool:
        """Whether the process runs, and the client has not left it."""
        return not self.over and self._worker.alive

    def wait_ready(self, limit_s: float) -> None:
        """As `Worker.wait_ready`."""
        try:
            self._worker.wait_ready(limit_s)
        except RocketchaosError as error:
            self._workers.condemn(self._worker, str(error))
            raise

    def request(self, do: str, limit_s: float, /, **with_: Any) -> dict[str, Any]:
        """As `Worker.request`. A worker that fails other than by RocketMQ's refusal takes no more clients.

        Nor does one in which a client failed to start: a part of it may run on (DefaultMQPushConsumerImpl.start
        throws after its MQClientInstance has started, where a broker refuses its expression, 4.9.4).
        """
        if "name" in with_:
            with_ = {**with_, "name": f"{self.run}:{with_['name']}"}
        verb, _, what = do.partition("-")
        try:
            answer = self._worker.request(do, limit_s, **with_)
        except RocketchaosError as error:
            if verb in ("start", "stop") or not isinstance(error, RequestFailed):
                self._workers.condemn(self._worker, str(error))
            if isinstance(error, EnvironmentNotReady) and not self._worker.alive:
                raise self._died(do) from error
            raise
        if verb == "start":
            self._stop_command = f"stop-{what}"
        elif verb == "stop":
            self._stop_command = None
        return answer

    def _died(self, do: str) -> EnvironmentNotReady:
        how = ending(self.returncode or 0)
        return EnvironmentNotReady(
            f"the worker {self.name} died: {how} (process {self.pid}, shared with other runs), before it answered "
            f"`{do}`",
            "Its log is in the run folder, logs/.",
        )

    def stop(self, limit_s: float) -> None:
        """Leave; the process lives on. The client was stopped before, or is stopped now."""
        if self.over:
            return
        if self._stop_command is not None and self._worker.alive:
            self.request(self._stop_command, limit_s, name=self.name)
        self.over = True
        self._workers.give_back(self)

    def release(self) -> None:
        """Leave, whatever state the client is in, without waiting for it; for the tear-down."""
        if not self.over:
            self.over = True
            self.leaving = self._workers.in_background(self._leave_in_good_order)

    def _leave_in_good_order(self) -> None:
        try:
            if self._stop_command is not None and self._worker.alive:
                self.request(self._stop_command, LEAVE_LIMIT_S, name=self.name)
        except RocketchaosError:
            # It is condemned, and gone with the last who lives in it: nothing of this run polls on after that.
            pass
        finally:
            self._workers.give_back(self)

    def kill(self) -> NoReturn:
        """Impossible."""
        self._refuse("killed")

    def terminate(self) -> NoReturn:
        """Impossible."""
        self._refuse("terminated")

    def wait_terminated(self, limit_s: float) -> NoReturn:
        """Impossible."""
        del limit_s
        self._refuse("terminated")

    def pause(self) -> NoReturn:
        """Impossible."""
        self._refuse("paused")

    def resume(self) -> NoReturn:
        """Impossible."""
        self._refuse("resumed")

    def _refuse(self, what: str) -> NoReturn:
        raise HarnessDefect(
            f"{self.name} shares its process with other runs, and can't be {what}",
            "Give it a process of its own: `process: own`.",
        )


WorkerProcess = Worker | Lease | JointConsumer
"""What drives a client: a process of its own, or a place in one that others live in too."""
