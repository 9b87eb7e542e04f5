"""The test bed of a run: its workers and clients, from the first process to the last log."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from rocketchaos.harness.clients.consumer import Begin, Consumer
from rocketchaos.harness.clients.producer import Producer, Sendings
from rocketchaos.harness.clients.request_mode import set_request_mode
from rocketchaos.harness.cluster.groups import create_group
from rocketchaos.harness.cluster.message_place import locate
from rocketchaos.harness.cluster.topics import create_routed_topic
from rocketchaos.harness.core.errors import (
    EnvironmentNotReady,
    HarnessDefect,
    PreconditionNotMet,
    RocketchaosError,
    UsageProblem,
)
from rocketchaos.harness.core.events.base import BrokenEvent
from rocketchaos.harness.core.events.clients import OutputCut
from rocketchaos.harness.core.events.run import RunEnded, RunStarted, RunTrouble, StepStarted, TopicCreated
from rocketchaos.harness.core.events.servers import GroupConfigured
from rocketchaos.harness.core.history import History
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.engine.answered_entries import AnsweredEntries
from rocketchaos.harness.engine.context import RunContext
from rocketchaos.harness.engine.entries import Entries
from rocketchaos.harness.engine.health import Health
from rocketchaos.harness.engine.managed_cluster import ManagedCluster
from rocketchaos.harness.engine.placement import own_processes
from rocketchaos.harness.engine.printed_events import PrintedEvents
from rocketchaos.harness.engine.program_ready import wait_until_ready
from rocketchaos.harness.engine.program_start import begun, connections_of
from rocketchaos.harness.engine.programs import Programs
from rocketchaos.harness.engine.record import NodeLogs
from rocketchaos.harness.engine.traced_entries import TracedEntries
from rocketchaos.harness.engine.written_entries import WrittenEntries
from rocketchaos.harness.language.consumer_spec import Through
from rocketchaos.harness.language.namespace import whole
from rocketchaos.harness.language.topic import NamedGroup
from rocketchaos.harness.probes.moment import observe_moment
from rocketchaos.harness.rocketmq.allocation import Queue
from rocketchaos.harness.rocketmq.client_kinds import ClientChoice
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps.base import every_step
from rocketchaos.harness.steps.send import Send
from rocketchaos.harness.workers.joint_process import JointProcess
from rocketchaos.harness.workers.lease import WorkerProcess
from rocketchaos.harness.workers.worker import OnDeath, OnEvent, Worker, WorkerFailed
from rocketchaos.harness.workers.worker_events import WorkerEvent

_TROUBLES: Mapping[type[RocketchaosError], Trouble] = {
    PreconditionNotMet: Trouble.PRECONDITION,
    UsageProblem: Trouble.USAGE,
    EnvironmentNotReady: Trouble.ENVIRONMENT,
    RocketchaosError: Trouble.HARNESS,
}


class TestBed:
    """The clients of one run: provisioned before its first step, torn down after its last."""

    __test__ = False
    """pytest collects no tests here."""

    def __init__(
        self,
        scenario: Scenario,
        managed: ManagedCluster,
        folder: RunFolder,
        history: History,
        names: Names,
        *,
        all_own: bool,
    ) -> None:
        """
        Args:
            all_own: every client gets a process of its own, because the steps are not known beforehand.
        """
        self.scenario = scenario
        self.managed = managed
        self.folder = folder
        self.history = history
        self.names = names
        self.context: RunContext | None = None
        self.health = Health(
            history,
            managed.interrupted,
            {name for name, item in scenario.consumers.items() if item.choice.kind.users_program},
        )
        self._all_own = all_own
        self._own = own_processes(scenario)
        self._leaders = scenario.leaders
        self._joint_processes: dict[str, JointProcess] = {}
        self._tenancy = managed.processes.workers.tenancy(names.token)
        self._programs = Programs(scenario)
        self._over = False
        self._consumers: dict[str, Consumer] = {}
        self._printed = PrintedEvents(scenario, history)
        self._printed_lock = threading.Lock()
        self._entries: Mapping[str, Entries] = {
            "topic": WrittenEntries(scenario, self._on_event),
            "http": AnsweredEntries(scenario, self._on_event),
            "trace": TracedEntries(scenario, self._on_event),
        }
        self._producers: dict[str, Producer] = {}
        self._logs: NodeLogs | None = None

    def provision(self) -> RunContext:
        """Workers warm up while the cluster starts. Then topics and producer follow, and the record."""
        self.history.append(
            "harness",
            RunStarted(
                scenario=self.scenario.name,
                timing=self.managed.timing.name,
                rocketmq=self.managed.version,
                client=self.scenario.client_label,
            ),
        )
        self._programs.require(self.managed.processes.progress)
        for step in every_step(self.scenario.steps):
            if isinstance(step, Send):
                step.body_text(self.scenario)
        self.managed.begin()
        for name, spec in self.scenario.consumers.items():
            self._consumers[name] = Consumer(
                name,
                spec,
                history=self.history,
                timing=self.managed.timing,
                rocketmq=self.managed.version,
                spawn=self._spawn,
                real=self.names.real,
                servers=partial(self._servers, spec.choice, spec.through, spec.name_servers),
                instance=self.names.token,
                queues=self._queues,
                set_request_mode=self._set_request_mode,
                **self._start_of_program(name),
            )
            if not spec.choice.kind.users_program:
                self._consumers[name].prepare()
        sendings = Sendings()
        for name, producer in self.scenario.senders.items():
            self._producers[name] = Producer(
                name=name,
                group=producer.group,
                sendings=sendings,
                history=self.history,
                spawn=partial(self._spawn, name, producer.choice),
                real=self.names.real,
                servers=partial(self._servers, producer.choice, name_servers=producer.name_servers),
                locate=self._locate,
                find=self._find,
                transactional=self._transactional(name),
                client_ip=self._leaders.get(name, name),
                instance=self.names.token,
                poll_name_server_ms=self._poll_name_server_ms(producer.choice),
                settings=producer.settings,
                namespace=producer.namespace,
            )
            self._producers[name].prepare()
        return self._connect()

    def _transactional(self, name: str) -> bool:
        """Whether this producer, or another one of its group, sends transactions: brokers ask any of the group."""
        group = self.scenario.senders[name].group or name
        return any(
            (self.scenario.senders[step.producer].group or step.producer) == group
            for step in every_step(self.scenario.steps)
            if isinstance(step, Send) and step.transaction is not None
        )

    def _poll_name_server_ms(self, choice: ClientChoice) -> int | None:
        """How often a producer's client asks for routes; None: its own default."""
        if not choice.kind.compressed:
            return None
        return self.managed.timing.client_settings.get("pollNameServerInterval")

    def _connect(self) -> RunContext:
        cluster, admin = self.managed.ready()
        self._logs = NodeLogs(cluster)
        context = RunContext(
            self.scenario,
            cluster=cluster,
            history=self.history,
            names=self.names,
            admin=admin,
            producers=self._producers,
            consumers=self._consumers,
            health=self.health,
            logs=self.folder.logs,
        )
        self.context, self.health.cluster = context, cluster
        for node in cluster.nodes:
            context.servers.record(node)
        for topic, spec in self.scenario.topics.items():
            if not spec.by_sending:
                self._create(context, topic)
        if any(choice.kind.needs_proxy for choice in self.scenario.choices):
            self.managed.prove_grpc(self.scenario)
        for group in self.scenario.groups:
            self._create_group(context, group)
        for entries in self._entries.values():
            entries.begin(context)
        for name in self._producers:
            self._start_producer(name)
        for consumer in self._consumers.values():
            # A user's program gets the cluster's address; some begin with their consumer's start.
            if not consumer.spec.choice.kind.begins_at_start:
                consumer.prepare()
        return context

    def _start_producer(self, name: str) -> None:
        try:
            self._producers[name].start()
        except WorkerFailed as refusal:
            if not self.scenario.senders[name].may_be_refused or not refusal.is_refusal:
                raise
            self._producers[name].refused(refusal)

    def _create(self, context: RunContext, topic: str) -> None:
        real, spec = self.names.real(topic), self.scenario.topic(topic)
        brokers = self.scenario.brokers_of(topic)
        addresses = {name: context.servers.broker_addresses[name] for name in brokers}
        own_perm = self.scenario.cluster.leaves_permissions
        create_routed_topic(context.admin, real, spec.configuration, addresses, own_perm=own_perm)
        created = TopicCreated(
            topic=topic, real=real, queues=spec.queues, brokers=tuple(brokers), settings=spec.settings
        )
        self.history.append("harness", created)

    def _create_group(self, context: RunContext, group: str) -> None:
        """Create the group if the proxy needs it, if it has settings of its own, or if it is declared and
        brokers create none by themselves. The same holds for its topics."""
        spec = self.scenario.bare_groups.get(group, NamedGroup())
        members = self.scenario.members(group)
        addresses = context.servers.broker_addresses
        by_proxy = any(self.scenario.consumers[member].needs_proxy for member in members)
        cluster = self.scenario.cluster
        by_itself = all(
            cluster.lines_of(broker).get("autoCreateSubscriptionGroup", "true").lower() == "true"
            for broker in cluster.brokers
        )
        if by_proxy or spec.settings or (spec.is_declared and not by_itself):
            create_group(context.admin, self.names.real(group), addresses.values(), spec.settings)
        if spec.settings:
            shown = GroupConfigured(group=group, settings=spec.settings, brokers=tuple(addresses))
            self.history.append("harness", shown)
        for prefix, _ in spec.topics:
            self._create(context, f"{prefix}{group}")

    def _start_of_program(self, name: str) -> Mapping[str, Any]:
        """How to observe a program's start, as arguments of `Consumer`; empty for other consumers."""
        leader = self._leaders.get(name, name)
        app = self.scenario.consumers[leader].app
        if app is None:
            return {}

        def context() -> RunContext:
            if self.context is None:
                raise HarnessDefect("a program starts before its cluster")
            return self.context

        def before_launch() -> Begin:
            former = connections_of(context(), name)
            return lambda worker, limit_s: begun(context(), name, worker, limit_s, former)

        def until_ready(limit_s: float) -> None:
            wait_until_ready(context(), leader, limit_s, self.folder.logs / f"{leader}.log")

        limit = {"start_limit_s": app.ready_within / 1000}
        return {
            **limit,
            "until_ready": until_ready,
            **({"before_launch": before_launch} if app.jar is None else {}),
            "entries": None if app.sees is None else self._entries.get(app.sees.way),
        }

    def _servers(
        self,
        choice: ClientChoice,
        through: Through = "brokers",
        name_servers: Sequence[str] | None = None,
    ) -> Mapping[str, str]:
        """How a client reaches the servers: the proxy answers for routes to itself, as a name server does."""
        cluster = self.managed.ready()[0]
        if not choice.kind.needs_proxy and through == "brokers":
            addresses = {node.name: node.address for node in cluster.nodes}
            chosen = ";".join(addresses[name] for name in name_servers or ())
            return {"nameserver": chosen or cluster.nameserver}
        if cluster.proxy is None:
            raise HarnessDefect("a client needs a proxy, and the cluster has none")
        if through == "proxy":
            return {"nameserver": cluster.proxy.remoting_address}
        return {"nameserver": cluster.nameserver, "endpoint": cluster.proxy.grpc_endpoint}

    def _locate(self, topic: str, msg_id: str) -> Mapping[str, Any]:
        return locate(self.managed.ready()[1], topic, msg_id)

    def _find(self, topic: str, msg_id: str) -> Mapping[str, Any] | None:
        return self.managed.ready()[1].find_message(topic, msg_id)

    def _queues(self, topic: str) -> Sequence[Queue]:
        return () if self.context is None else self.context.servers.queues(topic)

    def _set_request_mode(self, group: str, topic: str, mode: str) -> None:
        if self.context is not None:
            set_request_mode(self.context, group, topic, mode)

    def _spawn(self, name: str, choice: ClientChoice) -> WorkerProcess:
        home = self.managed.worker_home(self.scenario)
        if choice.kind.users_program:
            home = self._programs.home(
                self._leaders.get(name, name), self.managed, self.names, self.folder.logs
            )
        version = choice.version_on(self.managed.version)
        alone = self._all_own or home is not None or name in self._own
        shared = choice.kind.shared_worker
        leader = self._leaders.get(name)
        alone = alone or any(self._leaders[item] == leader for item in self._own & self._leaders.keys())
        if shared is not None and not alone:
            spec = self.scenario.declared[name]
            return self._tenancy.lease(
                name, shared, version, partial(self._on_event, name), self.health.worker_died, spec.beside
            )

        def spawn(on_event: OnEvent, on_death: OnDeath) -> Worker:
            kind = (shared if leader else None) or choice.kind.worker
            return self.managed.processes.spawn(
                kind, version, leader or name, self.folder.logs, on_event, on_death, home=home
            )

        if leader is None:
            return spawn(partial(self._on_event, name), self.health.worker_died)
        if leader not in self._joint_processes or self._joint_processes[leader].ended:
            self._joint_processes[leader] = JointProcess(spawn)
        return self._joint_processes[leader].join(
            name, partial(self._on_event, name), self.health.worker_died
        )

    def _on_event(self, name: str, event: WorkerEvent) -> None:
        # How much a log leaves out is known when its program has ended.
        if self.context is None or (self._over and event.kind != OutputCut.kind):
            return
        if event.kind == "line":
            with self._printed_lock:
                for body in self._printed.of(name, event.data):
                    self._record(name, replace(event, kind=body.kind, data=body.as_data()))
        else:
            self._record(name, event)

    def _record(self, name: str, event: WorkerEvent) -> None:
        if self.context is not None:
            client = self.scenario.declared.get(name)
            if client is not None and client.namespace is not None and "topic" in event.data:
                # Its client hides the namespace from its program.
                topic = whole(client.namespace, str(event.data["topic"]))
                event = replace(event, data={**event.data, "topic": topic})
            record_worker_event(name, event, self.history, self.names, self.health)

    def note_failure(self, failure: BaseException) -> None:
        """Record why the run could not be completed. Anything that is not an `Exception` is an interruption.
        If a process has died, that is the cause, whatever showed it first.
        """
        if isinstance(failure, PreconditionNotMet | EnvironmentNotReady) and self.context is not None:
            failure = self.health.deeper_cause() or self._out_of_memory() or failure
        if isinstance(failure, RocketchaosError):
            trouble = next(trouble for kind, trouble in _TROUBLES.items() if isinstance(failure, kind))
            precondition = trouble is Trouble.PRECONDITION
            cause = failure.cause or (self._last_step() if precondition else "")
            self.note(trouble, str(failure), cause, failure.about)
            if precondition:
                self.observe_what_can_be()
        elif isinstance(failure, Exception):
            self.note(Trouble.HARNESS, f"{type(failure).__name__}: {failure}")
            text = "".join(traceback.format_exception(failure))
            with suppress(OSError):  # what happened is in the history, as far as that can be written
                (self.folder.logs / "harness-traceback.txt").write_text(text, encoding="utf-8")
        else:
            self.note(Trouble.INTERRUPTED, f"interrupted: {str(failure) or 'Ctrl-C'}")

    def check_memory(self) -> None:
        """Make sure that no server ran out of memory: then missing answers say nothing about RocketMQ.

        Raises:
            EnvironmentNotReady: one did.
        """
        if (failure := self._out_of_memory()) is not None:
            raise failure

    def _out_of_memory(self) -> EnvironmentNotReady | None:
        if self._logs is None or (found := self._logs.out_of_memory()) is None:
            return None
        node, line = found
        return EnvironmentNotReady(
            f"the server {node} ran out of memory: {line}",
            "Its log is in the run folder, logs/.",
            about=(node,),
        )

    def note(self, trouble: Trouble, message: str, cause: str = "", about: tuple[str, ...] = ()) -> None:
        """Write down why the run could not be completed. A history that can't be written stays as it is.

        `cause` and `about` are those of the error.
        """
        body = RunTrouble(trouble=trouble, message=message, cause=cause, about=about)
        with suppress(EnvironmentNotReady):
            self.history.append("harness", body)

    def _last_step(self) -> str:
        """The word of the step that started last: it counts as the cause of a precondition that names none."""
        steps = (event.body for event in reversed(self.history.events) if isinstance(event.body, StepStarted))
        return next((step.step for step in steps), "")

    def observe_what_can_be(self) -> None:
        """Observe the brokers after a condition was not reached: their state helps to find the reason."""
        if self.context is not None:
            with suppress(RocketchaosError):
                self.health.check()
                observe_moment(self.context, "end")
                self.history.append("harness", RunEnded())

    def tear_down(self) -> None:
        """End every client, heal faults, collect the logs.

        The order matters: a paused consumer that resumed now would consume further messages. Messages that
        listeners get from here on, because others leave the group, don't belong to the run.
        """
        self._over = True
        for entries in self._entries.values():
            entries.close()
        for consumer in self._consumers.values():
            consumer.release()
        for producer in self._producers.values():
            producer.release()
        self._tenancy.end(self.folder.logs)
        if self.context is not None:
            with suppress(RocketchaosError):
                self.context.faults.heal_all()
            self.context.hand_made.close_all()
        if self._logs is not None:
            self._logs.collect(self.folder.logs)


def record_worker_event(
    worker: str, event: WorkerEvent, history: History, names: Names, health: Health
) -> None:
    """Write down what a worker saw, with the scenario's names. Called from its reader's thread."""
    data = {name: value for name, value in event.data.items() if name != "consumer"}
    if "topic" in data:
        data["topic"] = names.scenario(str(data["topic"]))
    try:
        written = history.append(worker, event.kind, data, mono_ns=event.mono_ns, wall_ms=event.wall_ms)
        written.body  # noqa: B018 - reads it, and keeps it
    except BrokenEvent as broken:
        health.note(HarnessDefect(f"the worker {worker} wrote a broken event: {broken}"))
    except RocketchaosError as error:
        health.note(error)
