"""The test bed of a run: its workers and clients, from the first process to the last log."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from rocketchaos.harness.clients.access import access_of, keys_of
from rocketchaos.harness.clients.consumer import Consumer
from rocketchaos.harness.clients.current_subscriptions import REPORTS
from rocketchaos.harness.clients.producer import Producer, Sendings
from rocketchaos.harness.clients.programs import Begin
from rocketchaos.harness.clients.request_mode import set_request_mode
from rocketchaos.harness.cluster.message_place import locate
from rocketchaos.harness.core.errors import HarnessDefect, RequestFailed, RocketchaosError
from rocketchaos.harness.core.events.clients import OutputCut
from rocketchaos.harness.core.events.run import RunStarted
from rocketchaos.harness.core.history import History
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.engine.answered_entries import AnsweredEntries
from rocketchaos.harness.engine.context import RunContext
from rocketchaos.harness.engine.entries import Entries
from rocketchaos.harness.engine.health import Health
from rocketchaos.harness.engine.managed_cluster import ManagedCluster
from rocketchaos.harness.engine.placement import own_processes
from rocketchaos.harness.engine.printed_events import PrintedEvents
from rocketchaos.harness.engine.program_homes import Programs
from rocketchaos.harness.engine.program_ready import wait_until_ready
from rocketchaos.harness.engine.program_start import begun, client_among, connections_of
from rocketchaos.harness.engine.record import NodeLogs
from rocketchaos.harness.engine.run_failures import Failures
from rocketchaos.harness.engine.topics_and_groups import create_groups, create_topics
from rocketchaos.harness.engine.traced_entries import TracedEntries
from rocketchaos.harness.engine.worker_record import record_worker_event
from rocketchaos.harness.engine.written_entries import WrittenEntries
from rocketchaos.harness.language.client_words import parts_of_id
from rocketchaos.harness.language.namespace import whole
from rocketchaos.harness.language.words import Through
from rocketchaos.harness.rocketmq.allocation import Queue
from rocketchaos.harness.rocketmq.client_kinds import USUAL_CLIENT, ClientChoice
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps.base import every_step
from rocketchaos.harness.steps.send import Send
from rocketchaos.harness.workers.joint_process import JointProcess
from rocketchaos.harness.workers.lease import WorkerProcess
from rocketchaos.harness.workers.worker import OnDeath, OnEvent, Worker
from rocketchaos.harness.workers.worker_events import WorkerEvent


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
        self._log_begins: dict[str, int] = {}
        """Where the output of the last start begins in the log of each process, in bytes."""
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
        self.failures = Failures(history, self.health, folder.logs)

    def provision(self) -> RunContext:
        """Workers warm up while the cluster starts. Then topics and producer follow, and the record."""
        self.managed.processes.unfinished.add(self.names.token)
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
                servers=partial(self._servers, spec.choice, spec.through, spec.name_servers, spec.account),
                instance=self.names.token,
                topics=self.scenario.topics,
                queues=self._queues,
                set_request_mode=self._set_request_mode,
                **self._start_of_program(name),
            )
            if not spec.choice.kind.users_program:
                self._consumers[name].prepare()
        sendings = Sendings()
        for name, producer in self.scenario.senders.items():
            leader = self._leaders.get(name, name)
            address, instance = parts_of_id(self.scenario.senders[leader].client_id, leader, self.names.token)
            self._producers[name] = Producer(
                name=name,
                group=producer.group,
                sendings=sendings,
                history=self.history,
                spawn=partial(self._spawn, name, producer.choice),
                real=self.names.real,
                servers=partial(
                    self._servers,
                    producer.choice,
                    producer.through,
                    name_servers=producer.name_servers,
                    account=producer.account,
                ),
                locate=self._locate,
                find=self._find,
                transactional=self._transactional(name),
                client_ip=address,
                instance=instance,
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
        self.failures.node_logs = NodeLogs(cluster)
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
        self.context = self.failures.context = context
        self.health.cluster = cluster
        for node in cluster.nodes:
            context.servers.record(node)
        create_topics(context)
        if self.scenario.grpc_choice is not None:
            self.managed.prove_grpc(self.scenario)
        create_groups(context)
        for entries in self._entries.values():
            entries.begin(context)
        for name in self._producers:
            self._start_producer(name)
        admin.begin()  # not before: its JVM and those of the clients would wait for each other
        for consumer in self._consumers.values():
            # A user's program gets the cluster's address; some begin with their consumer's start.
            if not consumer.spec.choice.kind.begins_at_start:
                consumer.prepare()
        return context

    def _start_producer(self, name: str) -> None:
        try:
            self._producers[name].start()
        except RequestFailed as refusal:
            if not self.scenario.senders[name].may_be_refused or not refusal.is_refusal:
                raise
            self._producers[name].refused(refusal)

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
            log = self.folder.logs / f"{leader}.log"
            wait_until_ready(context(), leader, limit_s, log, self._log_begins.get(leader, 0))

        limit = {"start_limit_s": app.ready_within / 1000}
        return {
            **limit,
            "until_ready": until_ready,
            **({} if app.has_hook else {"before_launch": before_launch, "client_among": client_among}),
            "entries": None if app.sees is None else self._entries.get(app.sees.way),
        }

    def _servers(
        self,
        choice: ClientChoice,
        through: Through = "brokers",
        name_servers: Sequence[str] | None = None,
        account: str | None = None,
    ) -> Mapping[str, Any]:
        """How a client reaches the servers, and signs its requests.

        The proxy answers for routes to itself, as a name server does.
        """
        cluster = self.managed.ready()[0]
        access = {} if account is None else {"access": self._access(choice, account)}
        if not choice.kind.needs_proxy and through == "brokers":
            addresses = {node.name: node.address for node in cluster.nodes}
            chosen = ";".join(addresses[name] for name in name_servers or ())
            return {"nameserver": chosen or cluster.nameserver, **access}
        if cluster.proxy is None:
            raise HarnessDefect("a client needs a proxy, and the cluster has none")
        if through == "proxy":
            return {"nameserver": cluster.proxy.remoting_address, **access}
        return {"nameserver": cluster.nameserver, "endpoint": cluster.proxy.grpc_endpoint, **access}

    def _access(self, choice: ClientChoice, account: str) -> Mapping[str, Any]:
        if choice.kind.name != USUAL_CLIENT:
            return keys_of(account)
        version = choice.version_on(self.managed.version)
        return access_of(account, version, self.managed.processes.progress)

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
            log = self.folder.logs / f"{leader or name}.log"
            self._log_begins[leader or name] = log.stat().st_size if log.exists() else 0
            jvm_options = self.scenario.declared[leader or name].jvm_args
            return self.managed.processes.spawn(
                kind,
                version,
                leader or name,
                self.folder.logs,
                on_event,
                on_death,
                home=home,
                jvm_options=jvm_options,
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
        if event.kind == "begun-anew":
            self._consumers[name].begun_anew(event.data)
        elif event.kind == "line":
            with self._printed_lock:
                for body in self._printed.of(name, event.data):
                    self._record(name, replace(event, kind=body.kind, data=body.as_data()))
        else:
            if event.kind in REPORTS:
                self._consumers[name].current.report(event.kind, event.data)
            self._record(name, event)

    def _record(self, name: str, event: WorkerEvent) -> None:
        if self.context is not None:
            client = self.scenario.declared.get(name)
            if client is not None and client.namespace is not None and "topic" in event.data:
                # Its client hides the namespace from its program.
                topic = whole(client.namespace, str(event.data["topic"]))
                event = replace(event, data={**event.data, "topic": topic})
            record_worker_event(name, event, self.history, self.names, self.health)

    def tear_down(self) -> None:
        """End every client, heal faults, collect the logs.

        The order matters: a paused consumer that resumed now would consume further messages. Messages that
        listeners get from here on, because others leave the group, don't belong to the run.
        """
        self._over = True
        for entries in self._entries.values():
            entries.close()
        left = False
        clients: list[Consumer | Producer] = [*self._consumers.values(), *self._producers.values()]
        for client in clients:
            try:
                client.release()
            except RocketchaosError as failure:
                # The others must end too.
                self.failures.note_failure(failure)
                left = True
        if not left:
            self.managed.processes.unfinished.discard(self.names.token)
        self._tenancy.end(self.folder.logs)
        if self.context is not None:
            with suppress(RocketchaosError):
                self.context.faults.heal_all()
            self.context.hand_made.close_all()
        if self.failures.node_logs is not None:
            self.failures.node_logs.collect(self.folder.logs)
