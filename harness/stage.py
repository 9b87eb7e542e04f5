"""The stage of a run: its workers and clients, from the first process to the last log."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from contextlib import suppress

from harness.clients.consumer import Consumer
from harness.clients.producer import NAME as PRODUCER
from harness.clients.producer import Producer
from harness.cluster.topics import create_routed_topic
from harness.context import RunContext
from harness.errors import EnvironmentNotReady, PreconditionNotMet, RocketchaosError, UsageProblem
from harness.history import History
from harness.model import Trouble
from harness.names import Names
from harness.probes.moment import observe_moment
from harness.record import NodeLogs
from harness.scenario import Scenario
from harness.session import Session
from harness.store import RunFolder
from harness.workers.events import WorkerEvent
from harness.workers.handle import Worker


class Stage:
    """The clients of one run: provisioned before its first step, torn down after its last."""

    def __init__(
        self, scenario: Scenario, session: Session, folder: RunFolder, history: History, names: Names
    ) -> None:
        self.scenario = scenario
        self.session = session
        self.folder = folder
        self.history = history
        self.names = names
        self.context: RunContext | None = None
        self._early_deaths: list[tuple[str, str, Trouble]] = []
        self._consumers: dict[str, Consumer] = {}
        self._producer: Producer | None = None
        self._logs: NodeLogs | None = None

    def provision(self) -> RunContext:
        """Workers warm up while the cluster starts; then topics, producer, and a record of it all."""
        self.history.append(
            "harness", "run-started", {"scenario": self.scenario.name, "timing": self.session.timing.name}
        )
        self.session.begin()
        for name, spec in self.scenario.consumers.items():
            self._consumers[name] = Consumer(
                name,
                spec,
                history=self.history,
                timing=self.session.timing,
                spawn=self._spawn,
                real=self.names.real,
                nameserver=self._nameserver,
                instance=self.names.token,
            )
            self._consumers[name].prepare()
        self._producer = Producer(
            history=self.history,
            worker=self._spawn(PRODUCER),
            real=self.names.real,
            nameserver=self._nameserver,
            instance=self.names.token,
        )
        return self._connect(self._producer)

    def _connect(self, producer: Producer) -> RunContext:
        cluster, admin = self.session.ready()
        self._logs = NodeLogs(cluster)
        context = RunContext(
            self.scenario,
            cluster=cluster,
            history=self.history,
            names=self.names,
            admin=admin,
            producer=producer,
            consumers=self._consumers,
            interrupted=self.session.interrupted,
        )
        self.context = context
        for name, reason, trouble in self._early_deaths:
            context.worker_died(name, reason, trouble)
        for node in cluster.nodes:
            self.history.append(
                node.name, "node-ready", {"role": node.role, "address": node.address, "pid": node.pid}
            )
        for topic, spec in self.scenario.topics.items():
            real = self.names.real(topic)
            create_routed_topic(admin, real, spec.queues, context.broker_addresses)
            self.history.append(
                "harness", "topic-created", {"topic": topic, "real": real, "queues": spec.queues}
            )
        producer.start()
        return context

    def _nameserver(self) -> str:
        return self.session.ready()[0].nameserver

    def _spawn(self, name: str) -> Worker:
        return self.session.spawn("java", name, self.folder.logs, self._on_event(name), self._on_death)

    def _on_event(self, name: str) -> Callable[[WorkerEvent], None]:
        def tell(event: WorkerEvent) -> None:
            if self.context is not None:
                self.context.worker_event(name, event)

        return tell

    def _on_death(self, name: str, reason: str, trouble: Trouble) -> None:
        if self.context is not None:
            self.context.worker_died(name, reason, trouble)
        else:
            self._early_deaths.append((name, reason, trouble))

    def note_failure(self, failure: BaseException) -> None:
        """Write down what kept the run from being completed. What is no `Exception` is an interruption.

        Where something has died, that is the cause, whatever it was first noticed by.
        """
        if isinstance(failure, PreconditionNotMet | EnvironmentNotReady) and self.context is not None:
            failure = self.context.deeper_cause() or failure
        if isinstance(failure, PreconditionNotMet):
            self.note(Trouble.PRECONDITION, str(failure))
            self.observe_what_can_be()
        elif isinstance(failure, UsageProblem):
            self.note(Trouble.USAGE, str(failure))
        elif isinstance(failure, EnvironmentNotReady):
            self.note(Trouble.ENVIRONMENT, str(failure))
        elif isinstance(failure, RocketchaosError):
            self.note(Trouble.HARNESS, str(failure))
        elif isinstance(failure, Exception):
            self.note(Trouble.HARNESS, f"{type(failure).__name__}: {failure}")
            text = "".join(traceback.format_exception(failure))
            (self.folder.logs / "harness-traceback.txt").write_text(text, encoding="utf-8")
        else:
            self.note(Trouble.INTERRUPTED, f"interrupted: {str(failure) or 'Ctrl-C'}")

    def note(self, trouble: Trouble, message: str) -> None:
        """Write down why the run could not be completed; a history that can't be written stays as it is."""
        with suppress(EnvironmentNotReady):
            self.history.append("harness", "trouble", {"trouble": trouble, "message": message})

    def observe_what_can_be(self) -> None:
        """After a condition was not reached: what the brokers say now helps to find out why."""
        if self.context is not None:
            with suppress(RocketchaosError):
                self.context.check_alive()
                observe_moment(self.context, "end")
                self.history.append("harness", "run-ended")

    def tear_down(self) -> None:
        """End every client, heal faults, collect the servers' logs.

        In this order: a paused consumer that came back to life now would consume what nobody asked it to.
        """
        for consumer in self._consumers.values():
            consumer.release()
        if self._producer is not None:
            self._producer.release()
        if self.context is not None:
            with suppress(RocketchaosError):
                self.context.faults.heal_all()
        if self._logs is not None:
            self._logs.collect(self.folder.logs)
