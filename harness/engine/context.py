"""A provisioned run: its scenario, servers, clients and history.

Steps get it as `StepContext`, conditions and probes as `ProbeContext`, faults as `FaultContext`: each says what it
needs.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.clients.consumer import Consumer
from rocketchaos.harness.clients.hand_made import HandMadeClients
from rocketchaos.harness.clients.members import Members
from rocketchaos.harness.clients.producer import Producer
from rocketchaos.harness.clients.variables import Variables
from rocketchaos.harness.cluster.base import Cluster
from rocketchaos.harness.cluster.run_servers import Servers
from rocketchaos.harness.core.events.run import StepEnded, StepStarted
from rocketchaos.harness.core.history import History
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.engine.health import Health
from rocketchaos.harness.faults.base import Faults
from rocketchaos.harness.language.producer_spec import PRODUCER
from rocketchaos.harness.language.words import Word
from rocketchaos.harness.probes.logs_probe import Logs
from rocketchaos.harness.probes.observations import Observations
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps.performing import BranchEnded
from rocketchaos.harness.steps.step_place import Place


class RunContext:
    """The `StepContext` of a run."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        cluster: Cluster,
        history: History,
        names: Names,
        admin: Admin,
        producers: Mapping[str, Producer],
        consumers: dict[str, Consumer],
        health: Health,
        logs: Path,
    ) -> None:
        self.scenario = scenario
        self.names = names
        self.history = history
        self.observations = Observations(history)
        self.admin = admin
        self.producer = producers[PRODUCER]
        self.consumers = consumers
        self.members = Members(scenario, consumers, producers)
        self.servers = Servers(scenario, cluster, self.members, history)
        self.variables = Variables(history, consumers)
        self.hand_made = HandMadeClients(history, names)
        self.faults = Faults(history)
        self.logs = Logs(logs, cluster.nodes)
        self.health = health
        self.place = Place()
        self._ends: tuple[threading.Event, ...] = ()

    def within(self, place: Place, end: threading.Event | None = None) -> RunContext:
        """The same context for another step. `end` ends that step at its next check of the processes."""
        inner = copy.copy(self)
        inner.place = place
        inner._ends = self._ends if end is None else (*self._ends, end)
        return inner

    def record_step(self, step: Word, kind: type[StepStarted | StepEnded]) -> None:
        """Record the run's place. For a step inside another, also the place in that, and the iteration."""
        indices, iteration = self.place.indices, self.place.iteration
        body = kind(
            index=indices[0],
            step=step.word,
            line=self.scenario.line_of("steps", *indices),
            place=tuple(indices) if len(indices) > 1 else (),
            iteration=iteration,
        )
        self.history.append("harness", body)

    def check_alive(self) -> None:
        """Raise if a process ended unexpectedly, or if the run, or this branch of it, must end.

        Raises:
            EnvironmentNotReady, HarnessDefect: a worker or a server died.
            KeyboardInterrupt: the run was interrupted.
            BranchEnded: another branch of the same `parallel` failed.
        """
        if any(end.is_set() for end in self._ends) and not self.health.interrupted.is_set():
            raise BranchEnded
        self.health.check()

    def now_ns(self) -> int:
        """CLOCK_MONOTONIC, as events have it."""
        return time.monotonic_ns()

    def let_time_pass(self, duration_ms: int) -> None:
        """Wait for this time, and watch that everything stays alive."""
        end_ns = self.now_ns() + duration_ms * 1_000_000
        while (left_s := (end_ns - self.now_ns()) / 1e9) > 0:
            self.check_alive()
            self.health.interrupted.wait(min(left_s, 0.1))
