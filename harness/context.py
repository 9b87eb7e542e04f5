"""What a running scenario has at hand: its cluster, clients, names, variables and history."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any

from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from harness.allocation import Queue
from harness.clients.admin import Admin
from harness.clients.consumer import Consumer
from harness.clients.producer import Producer
from harness.cluster.base import Cluster
from harness.errors import EnvironmentNotReady, HarnessDefect, PreconditionNotMet, RocketchaosError
from harness.faults.base import Faults
from harness.history import History
from harness.language import Word
from harness.model import Trouble
from harness.names import Names
from harness.scenario import Scenario
from harness.workers.events import WorkerEvent

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
    ) -> None:
        self.scenario = scenario
        self.cluster = cluster
        self.history = history
        self.names = names
        self.admin = admin
        self.producer = producer
        self.consumers = consumers
        self.faults = Faults(history)
        self.interrupted = interrupted
        self._variables: dict[str, tuple[str, ...]] = {}
        self._last_seen: dict[str, Mapping[str, Any]] = {}
        self._troubles: list[RocketchaosError] = []
        self._lock = threading.Lock()

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
        """Broker name to `host:port`."""
        return {node.name: node.address for node in self.cluster.nodes if node.role == "broker"}

    @property
    def broker_names(self) -> tuple[str, ...]:
        """All brokers."""
        return tuple(self.broker_addresses)

    def queues(self, topic: str) -> tuple[Queue, ...]:
        """All queues of a topic, in RocketMQ's order."""
        number = self.scenario.topics[topic].queues
        return tuple((broker, index) for broker in sorted(self.broker_names) for index in range(number))

    def topics_of(self, group: str) -> tuple[str, ...]:
        """The topics to which any member of the group subscribes."""
        return tuple(
            dict.fromkeys(
                topic
                for member in self.scenario.members(group)
                for topic in self.scenario.consumers[member].subscribe
            )
        )

    # Consumers and variables ---------------------------------------------------------------------------

    def online_members(self, group: str) -> tuple[str, ...]:
        """Members that were started, and neither stopped nor killed; paused ones count."""
        return tuple(name for name in self.scenario.members(group) if self.consumers[name].started)

    def running_consumers(self) -> tuple[Consumer, ...]:
        """Started consumers that can answer: neither stopped, killed nor paused."""
        return tuple(one for one in self.consumers.values() if one.started and not one.paused)

    def bind(self, variable: str, consumers: tuple[str, ...]) -> None:
        """Let `$variable` stand for these consumers."""
        self._variables[variable] = consumers
        self.history.append("harness", "bound", {"variable": variable, "consumers": list(consumers)})

    def resolve(self, names: Iterable[str]) -> tuple[str, ...]:
        """The consumers that names and variables stand for, in order."""
        found: list[str] = []
        for name in names:
            found += self._variables.get(name[1:], ()) if name.startswith("$") else (name,)
        return tuple(found)

    def tag(self, tag: str | None, topic: str) -> str | None:
        """A literal tag, or the first tag to which a bound consumer subscribes (`$holder.tag`).

        Raises:
            PreconditionNotMet: it subscribes to everything.
            HarnessDefect: the variable is not bound (validation should have found it).
        """
        if tag is None or not tag.startswith("$"):
            return tag
        consumers = self._variables.get(tag[1:].removesuffix(".tag"), ())
        if not consumers:
            raise HarnessDefect(f"{tag} stands for no consumer")
        expression = self.scenario.consumers[consumers[0]].subscribe[topic]
        if expression == "*":
            raise PreconditionNotMet(f"{tag}: {consumers[0]} subscribes to everything, which is no tag")
        return expression.split("||")[0].strip()

    # The history ---------------------------------------------------------------------------------------

    def record_step(self, index: int, step: Word, kind: str, data: Mapping[str, Any] | None = None) -> None:
        """Write down where the run is."""
        self.history.append(
            "harness",
            kind,
            {
                "index": index,
                "step": step.word,
                "line": self.scenario.line_of("steps", index),
                **(data or {}),
            },
        )

    def observe(self, what: str, kind: str, data: Mapping[str, Any], moment: str | None) -> None:
        """Write an observation down where it differs from the last one of `what`, or belongs to a moment."""
        with self._lock:
            if moment is None and self._last_seen.get(what) == data:
                return
            self._last_seen[what] = dict(data)
            self.history.append("harness", kind, data if moment is None else {**data, "moment": moment})

    def note_probe_failure(self, probe: str, error: str, **where: str) -> None:
        """Write down that a look failed; checks answer `unknown` where they miss it."""
        with contextlib.suppress(RocketchaosError):  # the history may be what failed
            self.history.append("harness", "probe-failed", {"probe": probe, **where, "error": error})

    def worker_event(self, worker: str, event: WorkerEvent) -> None:
        """Write down what a worker saw, with the scenario's names. Called from its reader's thread."""
        data = {name: value for name, value in event.data.items() if name != "consumer"}
        if "topic" in data:
            data["topic"] = self.name_of_topic(str(data["topic"]))
        try:
            self.history.append(worker, event.kind, data, mono_ns=event.mono_ns, wall_ms=event.wall_ms)
        except RocketchaosError as error:
            self._troubles.append(error)

    def worker_died(self, name: str, reason: str, trouble: Trouble) -> None:
        """A worker ended though nobody asked it to. Called from its reader's thread."""
        kind: type[RocketchaosError] = HarnessDefect if trouble is Trouble.HARNESS else EnvironmentNotReady
        self._troubles.append(
            kind(f"the worker {name} died: {reason}", "Its log is in the run folder, logs/.")
        )
        with contextlib.suppress(RocketchaosError):  # the history may be what failed
            self.history.append(name, "worker-died", {"reason": reason})

    def check_alive(self) -> None:
        """Raise if anything died that should live, or if the user wants the run to end.

        Raises:
            EnvironmentNotReady, HarnessDefect: a worker or a server died.
            KeyboardInterrupt: the run was interrupted.
        """
        if self.interrupted.is_set():
            raise KeyboardInterrupt
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
