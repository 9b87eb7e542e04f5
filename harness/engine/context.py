"""What a running scenario has at hand: its cluster, clients, names, variables and history."""

from __future__ import annotations

import contextlib
import copy
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.clients.consumer import Consumer
from rocketchaos.harness.clients.hand_made import HandMadeClients
from rocketchaos.harness.clients.producer import Producer
from rocketchaos.harness.cluster.base import Cluster, Node
from rocketchaos.harness.core.errors import (
    EnvironmentNotReady,
    HarnessDefect,
    PreconditionNotMet,
    RocketchaosError,
)
from rocketchaos.harness.core.events.base import BrokenEvent
from rocketchaos.harness.core.events.clients import WorkerDied
from rocketchaos.harness.core.events.run import Bound, ProbeFailed, StepEnded, StepStarted
from rocketchaos.harness.core.events.servers import NodeReady
from rocketchaos.harness.core.history import History
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.faults.base import Faults
from rocketchaos.harness.language.cluster_needs import PROXY
from rocketchaos.harness.language.consumer_spec import Expression
from rocketchaos.harness.language.words import Word
from rocketchaos.harness.probes.last_observations import LastObservations
from rocketchaos.harness.probes.logs_probe import size_of
from rocketchaos.harness.rocketmq.allocation import Queue
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps.performing import BranchEnded
from rocketchaos.harness.steps.place import Place
from rocketchaos.harness.workers.worker_events import WorkerEvent

DEATH_SHOWS_WITHIN_S = 0.5


class RunContext:
    """Steps, conditions and probes get all they need from here, and tell the history through it."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        cluster: Cluster,
        history: History,
        names: Names,
        admin: Admin,
        producer: Producer,
        consumers: Mapping[str, Consumer],
        interrupted: threading.Event,
        logs: Path,
    ) -> None:
        self.scenario = scenario
        self.cluster = cluster
        self.history = history
        self.names = names
        self.admin = admin
        self.producer = producer
        self.consumers = consumers
        self.faults = Faults(history)
        self.hand_made = HandMadeClients(history, names)
        self.down: dict[str, str] = {}
        """Nodes that a step has taken away, and how: `killed`, `stopped`, `paused`, `restarting`."""
        self.log_begins = {node.name: size_of(node.log) for node in cluster.nodes}
        """Where the run's part of each server's log begins, in bytes."""
        self.log_lines: dict[tuple[str, str], int] = {}
        """How many lines were found so far, by node or consumer and pattern."""
        self.logs = logs
        """The run's folder for logs, with a folder for each worker."""
        self.interrupted = interrupted
        self.place = Place()
        """Which step it is in."""
        self._ends: tuple[threading.Event, ...] = ()
        self._variables: dict[str, tuple[str, ...]] = {}
        self._bound_subscriptions: dict[str, Mapping[str, Expression]] = {}
        """Of the first consumer of each variable, when it was bound."""
        self._last_observations = LastObservations()
        self._troubles: list[RocketchaosError] = []
        self._lock = threading.Lock()
        self._looks: dict[str, threading.RLock] = {}

    def within(self, place: Place, end: threading.Event | None = None) -> RunContext:
        """The same context in another step; `end` ends it there, as soon as anything looks."""
        inner = copy.copy(self)
        inner.place = place
        inner._ends = self._ends if end is None else (*self._ends, end)
        return inner

    # Names ---------------------------------------------------------------------------------------------

    def real_topic(self, topic: str) -> str:
        """The topic's name on the broker."""
        return self.names.real(topic)

    def real_group(self, group: str) -> str:
        """The group's name on the broker."""
        return self.names.real(group)

    def name_of_topic(self, real: str) -> str:
        """The scenario's name of a topic, `%RETRY%g` for a group's retry topic."""
        return self.names.scenario(real)

    def name_of_group(self, real: str) -> str:
        """The scenario's name of a group."""
        return self.names.scenario(real)

    # The cluster ---------------------------------------------------------------------------------------

    @property
    def broker_addresses(self) -> dict[str, str]:
        """Broker name to `host:port`, of the masters that can be asked: none that a step has killed or paused."""
        return {
            node.name: node.address
            for node in self.cluster.nodes
            if node.is_master and node.name not in self.down
        }

    @property
    def slave_addresses(self) -> dict[str, str]:
        """The same of the slaves, by the nodes' names."""
        return {
            node.name: node.address
            for node in self.cluster.nodes
            if node.slave_of is not None and node.name not in self.down
        }

    def brokers_of_group(self, group: str) -> dict[str, str]:
        """Of the masters that can be asked, those to which the group's members connect: those of its topics.

        A client heartbeats to the brokers in the routes of its topics, and the group's retry topic is on those too
        (`MQClientInstance.sendHeartbeatToAllBroker`, `ClientManageProcessor.heartBeat`; 4.9.4). Of 4.9.x it does
        so to others as well, those in the route of TBW102: they hold nothing that matters to its topics.
        """
        wanted = {broker for topic in self.topics_of(group) for broker in self.scenario.brokers_of(topic)}
        return {name: address for name, address in self.broker_addresses.items() if name in wanted}

    def keepers_of_group(self, group: str) -> dict[str, str]:
        """Name to address of those that hold the group's members and its subscription, and can be asked (203).

        Brokers do, of clients that speak to them, or to a proxy in their process. A proxy that is a server of its
        own holds those who speak to it, and tells no broker of them (`ClusterConsumerManager`, 5.3.3).
        """
        keepers = self.brokers_of_group(group) if self._speaking_to(group, brokers=True) else {}
        proxy = self.cluster.proxy
        if proxy is not None and PROXY not in self.down and self._speaking_to(group, brokers=False):
            keepers[PROXY] = proxy.remoting_address
        return keepers

    def members_at(self, group: str, keeper: str) -> tuple[str, ...]:
        """The online members of the group that a keeper of it knows."""
        known = self._speaking_to(group, brokers=keeper != PROXY)
        return tuple(name for name in self.online_members(group) if name in known)

    def _speaking_to(self, group: str, *, brokers: bool) -> tuple[str, ...]:
        """The members that are held by brokers, or by a proxy that is a server of its own.

        A group without members is held by brokers: raw requests and hand-made heartbeats go there.
        """
        members = self.scenario.members(group)
        proxy = self.cluster.proxy
        if proxy is None or proxy.mode == "local" or not members:
            return (members or (group,)) if brokers else ()
        return tuple(member for member in members if self.consumers[member].spec.needs_proxy is not brokers)

    def why_not_asked(self, topic: str) -> str | None:
        """Why the queues of a topic can't be read now: a broker stands still, and keeps whoever asks waiting."""
        paused = [broker for broker in self.scenario.brokers_of(topic) if self.down.get(broker) == "paused"]
        return f"{', '.join(paused)} is paused" if paused else None

    def node(self, name: str) -> Node:
        """A node of the cluster.

        Raises:
            HarnessDefect: there is none (validation should have found it).
        """
        for node in self.cluster.nodes:
            if node.name == name:
                return node
        raise HarnessDefect(f"the cluster has no node {name}")

    def client(self, name: str) -> Consumer | Producer:
        """A consumer, or the run's producer, by the name that steps have for it."""
        return self.producer if name == self.producer.name else self.consumers[name]

    def is_node(self, name: str) -> bool:
        """Whether the scenario means a node of its cluster by this name."""
        return name in self.scenario.cluster.nodes

    def node_is_down(self, name: str, how: str) -> None:
        """From here on nobody asks this node: a step does something to it."""
        self.down[name] = how

    def node_is_up(self, name: str) -> None:
        """The node can be asked again."""
        self.down.pop(name, None)

    def record_node(self, node: Node) -> None:
        """Write down that a node is ready."""
        slave = {} if node.slave_of is None else {"slave_of": node.slave_of}
        data = {"role": node.role, "address": node.address, "pid": node.pid, **slave}
        self.history.append(node.name, NodeReady.kind, data)

    def queues(self, topic: str) -> tuple[Queue, ...]:
        """All queues of a topic, in RocketMQ's order."""
        number = self.scenario.topics[topic].queues
        brokers = sorted(self.scenario.brokers_of(topic))
        return tuple((broker, index) for broker in brokers for index in range(number))

    def routed_queues(self, topic: str) -> tuple[Queue, ...]:
        """Those that the name server routes to: not of a broker of which no node is left.

        It drops a broker with the connection of its last node (`RouteInfoManager.onChannelDestroy`, 4.9.4); a
        node that stands still keeps its connection.
        """
        left = {
            node.slave_of or node.name
            for node in self.cluster.nodes
            if node.role == "broker" and self.down.get(node.name) not in ("killed", "stopped")
        }
        return tuple(queue for queue in self.queues(topic) if queue[0] in left)

    def topics_of(self, group: str) -> tuple[str, ...]:
        """The topics to which any member of the group subscribes, or has subscribed.

        Of a group without members all that there are: any of them may be what raw requests are about.
        """
        if not self.scenario.members(group):
            return tuple(self.scenario.topics)
        return tuple(
            dict.fromkeys(
                topic for member in self.scenario.members(group) for topic in self.consumers[member].topics
            )
        )

    # Consumers and variables ---------------------------------------------------------------------------

    def online_members(self, group: str) -> tuple[str, ...]:
        """Members that were started, and neither stopped nor killed; paused ones count."""
        return tuple(name for name in self.scenario.members(group) if self.consumers[name].started)

    def running_consumers(self) -> tuple[Consumer, ...]:
        """Started consumers that can answer: neither stopped, killed nor paused."""
        return tuple(
            consumer for consumer in self.consumers.values() if consumer.started and not consumer.paused
        )

    def bind(self, variable: str, consumers: tuple[str, ...]) -> None:
        """Let `$variable` stand for these consumers."""
        self._variables[variable] = consumers
        self._bound_subscriptions[variable] = (
            dict(self.consumers[consumers[0]].subscriptions) if consumers else {}
        )
        self.history.append("harness", Bound(variable=variable, consumers=consumers))

    def resolve(self, names: Iterable[str]) -> tuple[str, ...]:
        """The consumers that names and variables stand for, in order."""
        found: list[str] = []
        for name in names:
            found += self._variables.get(name[1:], ()) if name.startswith("$") else (name,)
        return tuple(found)

    def tag(self, tag: str | None, topic: str) -> str | None:
        """A literal tag, or the first tag to which a consumer subscribed when it was bound (`$holder.tag`).

        Raises:
            HarnessDefect: the variable is not bound (validation should have found it).
            PreconditionNotMet: the consumer subscribes to everything, by SQL, or not to the topic: to no tag.
        """
        if tag is None or not tag.startswith("$"):
            return tag
        variable = tag[1:].removesuffix(".tag")
        consumers = self._variables.get(variable, ())
        if not consumers:
            raise HarnessDefect(f"{tag} stands for no consumer")
        expression = self._bound_subscriptions[variable].get(topic)
        if not isinstance(expression, str) or expression == "*":
            how = (
                "doesn't subscribe"
                if expression is None
                else "subscribes to everything"
                if expression == "*"
                else "subscribes by SQL"
            )
            raise PreconditionNotMet(f"{tag}: {consumers[0]} {how} to {topic}, and so to no tag")
        return expression.split("||")[0].strip()

    # The history ---------------------------------------------------------------------------------------

    def record_step(self, step: Word, kind: type[StepStarted | StepEnded]) -> None:
        """Write down where the run is; of a step inside another also where in that, and which iteration."""
        indices, iteration = self.place.indices, self.place.iteration
        body = kind(
            index=indices[0],
            step=step.word,
            line=self.scenario.line_of("steps", *indices),
            place=tuple(indices) if len(indices) > 1 else (),
            iteration=iteration,
        )
        self.history.append("harness", body)

    def only_observation(self, probe: str) -> AbstractContextManager[object]:
        """To be held by a look of this probe: see `harness.probes.one_at_a_time`."""
        with self._lock:
            return self._looks.setdefault(probe, threading.RLock())

    def observe(
        self, what: str, kind: str, data: Mapping[str, Any], moment: str | None, began_ns: int
    ) -> None:
        """Write an observation down where it differs from the last one of `what`, or belongs to a moment.

        Args:
            began_ns: when the look was begun, by `now_ns`: before anybody was asked.
        """
        with self._lock:
            change = self._last_observations.change(what, data, moment, began_ns, self.now_ns())
            if change is not None:
                self.history.append("harness", kind, change)

    def note_probe_failure(self, probe: str, error: str, **where: str) -> None:
        """Write down that a look failed; checks answer `unknown` where they miss it."""
        with contextlib.suppress(RocketchaosError):  # the history may be what failed
            self.history.append("harness", ProbeFailed(probe=probe, **where, error=error))

    def worker_event(self, worker: str, event: WorkerEvent) -> None:
        """Write down what a worker saw, with the scenario's names. Called from its reader's thread."""
        data = {name: value for name, value in event.data.items() if name != "consumer"}
        if "topic" in data:
            data["topic"] = self.name_of_topic(str(data["topic"]))
        try:
            written = self.history.append(
                worker, event.kind, data, mono_ns=event.mono_ns, wall_ms=event.wall_ms
            )
            written.body  # noqa: B018 - reads it, and keeps it
        except BrokenEvent as broken:
            self._troubles.append(HarnessDefect(f"the worker {worker} wrote a broken event: {broken}"))
        except RocketchaosError as error:
            self._troubles.append(error)

    def worker_died(self, name: str, reason: str, trouble: Trouble) -> None:
        """A worker ended though nobody asked it to. Called from its reader's thread."""
        kind: type[RocketchaosError] = HarnessDefect if trouble is Trouble.HARNESS else EnvironmentNotReady
        self._troubles.append(
            kind(f"the worker {name} died: {reason}", "Its log is in the run folder, logs/.")
        )
        with contextlib.suppress(RocketchaosError):  # the history may be what failed
            self.history.append(name, WorkerDied(reason=reason))

    def check_alive(self) -> None:
        """Raise if anything died that should live, or if the user wants the run to end.

        Raises:
            EnvironmentNotReady, HarnessDefect: a worker or a server died.
            KeyboardInterrupt: the run was interrupted.
            BranchEnded: this is a branch of a `parallel` of which another one failed.
        """
        if self.interrupted.is_set():
            raise KeyboardInterrupt
        if any(end.is_set() for end in self._ends):
            raise BranchEnded
        if self._troubles:
            raise self._troubles[0]
        for death in self.cluster.deaths():
            raise EnvironmentNotReady(
                f"the server {death.node} died: {death.reason}", "Its log is in the run folder, logs/."
            )

    def deeper_cause(self) -> RocketchaosError | None:
        """What died, where a failure may only be what came of it; None where everything lives.

        A connection breaks a moment before the process that held it can be seen to be dead.
        """

        def look() -> RocketchaosError | None:
            try:
                self.check_alive()
            except RocketchaosError as death:
                return death
            except KeyboardInterrupt:
                pass
            return None

        retrying = Retrying(
            retry=retry_if_result(lambda death: death is None),
            wait=wait_fixed(0.02),
            stop=stop_after_delay(DEATH_SHOWS_WITHIN_S),
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        )
        death: RocketchaosError | None = retrying(look)
        return death

    # Time ----------------------------------------------------------------------------------------------

    def now_ns(self) -> int:
        """CLOCK_MONOTONIC, as events have it."""
        return time.monotonic_ns()

    def let_time_pass(self, duration_ms: int) -> None:
        """Wait for time itself, watching that everything stays alive."""
        end_ns = self.now_ns() + duration_ms * 1_000_000
        while (left_s := (end_ns - self.now_ns()) / 1e9) > 0:
            self.check_alive()
            self.interrupted.wait(min(left_s, 0.1))
