"""One consumer of a scenario, in a worker process of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.errors import EnvironmentNotReady, HarnessDefect
from harness.history import History
from harness.scenario import Consumer as ConsumerSpec
from harness.timing import TimingProfile
from harness.workers.handle import Worker

START_LIMIT_S = 30.0
STOP_LIMIT_S = 20.0
ANSWER_LIMIT_S = 10.0


class Consumer:
    """Starts, stops and kills the consumer; the worker process is spawned ahead, so that its JVM is warm.

    `spawn` makes a new worker process for this consumer. `real` translates the scenario's topic and group
    names into those of the run.
    """

    def __init__(
        self,
        name: str,
        spec: ConsumerSpec,
        *,
        history: History,
        timing: TimingProfile,
        spawn: Callable[[str], Worker],
        real: Callable[[str], str],
        nameserver: Callable[[], str],
        instance: str,
    ) -> None:
        self.name = name
        self.spec = spec
        self.client_id = f"{spec.client_id or name}@{instance}"
        self.paused = False
        self.started = False
        self._history = history
        self._timing = timing
        self._spawn = spawn
        self._real = real
        self._nameserver = nameserver
        self._instance = instance
        self._worker: Worker | None = None
        self._killed = False

    def prepare(self) -> None:
        """Spawn the worker process, without waiting for it."""
        if self._worker is None:
            self._worker = self._spawn(self.name)

    def start(self) -> None:
        """Start consuming; returns when the client's own `start()` has returned."""
        if self._killed:
            self._worker, self._killed = None, False
        self.prepare()
        worker = self._alive_worker()
        worker.wait_ready(START_LIMIT_S)
        self._history.append(
            self.name, "consumer-starting", {"pid": worker.pid, "subscribe": self.spec.subscribe}
        )
        answer = worker.request(
            "start-consumer",
            START_LIMIT_S,
            name=self.name,
            group=self._real(self.spec.group),
            nameserver=self._nameserver(),
            client_ip=self.spec.client_id or self.name,
            instance=self._instance,
            subscribe={self._real(topic): text for topic, text in self.spec.subscribe.items()},
            settings=dict(self._timing.client_settings),
        )
        self.client_id = str(answer["client_id"])
        self.started = True
        self._history.append(
            self.name,
            "consumer-started",
            {
                "client_id": self.client_id,
                "group": self.spec.group,
                "client": self.spec.client,
                "pid": worker.pid,
            },
        )

    def stop(self) -> None:
        """Shut the client down gracefully, then end its process."""
        worker = self._alive_worker()
        worker.request("stop-consumer", STOP_LIMIT_S, name=self.name)
        self.started = False
        self._history.append(self.name, "consumer-stopped")
        self._worker = None
        worker.stop(STOP_LIMIT_S)

    def kill(self) -> None:
        """SIGKILL its process; every event that it wrote is in the history when this returns."""
        worker = self._alive_worker()
        self.started = self.paused = False
        self._killed = True
        worker.kill()

    def pause(self) -> None:
        """SIGSTOP its process."""
        self._alive_worker().pause()
        self.paused = True

    def resume(self) -> None:
        """SIGCONT its process."""
        self._alive_worker().resume()
        self.paused = False

    def flush_events(self) -> None:
        """Return when every event that its listener wrote before now is in the history."""
        self._alive_worker().request("ping", ANSWER_LIMIT_S)

    def pull_counts(self, topic: str) -> dict[str, Any]:
        """The client's own counts for a topic: `found_pulls`, `passed_messages`."""
        answer = self._alive_worker().request(
            "pull-counts", ANSWER_LIMIT_S, name=self.name, topic=self._real(topic)
        )
        return {"found_pulls": answer["found_pulls"], "passed_messages": answer["passed_messages"]}

    def release(self) -> None:
        """End the process, if any, whatever state it is in; for the tear-down."""
        worker, self._worker, self.started, self.paused = self._worker, None, False, False
        if worker is not None and worker.alive:
            worker.kill()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._any_worker().pid

    @property
    def alive(self) -> bool:
        """Whether the process runs (or is paused)."""
        return self._worker is not None and self._worker.alive

    @property
    def returncode(self) -> int | None:
        """How the process ended; negative: by that signal."""
        return self._any_worker().returncode

    def _any_worker(self) -> Worker:
        if self._worker is None:
            raise HarnessDefect(f"the consumer {self.name} has no process")
        return self._worker

    def _alive_worker(self) -> Worker:
        worker = self._any_worker()
        if not worker.alive:
            raise EnvironmentNotReady(
                f"the process of consumer {self.name} is gone", "Its log is in the run folder, logs/."
            )
        return worker
