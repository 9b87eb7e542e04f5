"""One consumer of a scenario, in a worker process of its own or in a shared one."""

import threading
import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rocketchaos.harness.clients.consumer_options import (
    configured_queues,
    rare_options,
    require_expected,
    require_started,
    settings_of,
    start_options,
    started_as,
)
from rocketchaos.harness.clients.current_subscriptions import CurrentSubscriptions
from rocketchaos.harness.clients.programs import Begin, ClientAmong, Connections, Entries
from rocketchaos.harness.clients.queue_changes import QueueChanges
from rocketchaos.harness.core.errors import (
    EnvironmentNotReady,
    HarnessDefect,
    PreconditionNotMet,
    RequestFailed,
)
from rocketchaos.harness.core.events.clients import (
    ConsumerRefused,
    ConsumerResumed,
    ConsumerStarted,
    ConsumerStarting,
    ConsumerStopped,
    ConsumerStopping,
    ConsumerSuspended,
    ListenerReleased,
    ProgramSubscription,
    Subscribed,
    Unsubscribed,
)
from rocketchaos.harness.core.history import History
from rocketchaos.harness.language.consumer_spec import Consumer as ConsumerSpec
from rocketchaos.harness.language.expressions import Expression, as_data
from rocketchaos.harness.language.namespace import inside
from rocketchaos.harness.rocketmq.allocation import Queue
from rocketchaos.harness.rocketmq.client_kinds import ClientChoice
from rocketchaos.harness.rocketmq.timing_profiles import TimingProfile
from rocketchaos.harness.workers.in_process import InProcess
from rocketchaos.harness.workers.lease import WorkerProcess

START_LIMIT_S = 30.0
STOP_LIMIT_S = 40.0
"""A graceful shutdown may take 20 s, see `harness.workers.lease.LEAVE_LIMIT_S`."""
ANSWER_LIMIT_S = 10.0
_ANSWERS_WITHIN_S = 5.0
"""Beyond the limit that a program has for its start: then it says what it has started instead."""


class Consumer(InProcess):
    """Starts, stops and ends the consumer; the worker process is spawned ahead, so that its JVM is warm.

    `spawn` makes a new worker process for this consumer, or a place in a shared one. `real` translates the
    scenario's topic and group names into those of the run. `queues` are those of a topic, on all brokers.
    `topics` are the scenario's: a program of the user's may subscribe to more, of which nothing is asked.
    `servers` is how the client reaches them, as `start-consumer` names them.
    `rocketmq` is the servers' version.
    `set_request_mode` tells the brokers in which mode a group gets its messages: `(group, topic, mode)`.
    `start_limit_s` is how long a program of the user's may take to start its consumer. `before_launch` looks at
    the brokers before a program that is observed from outside is launched. It returns a function that waits until
    the program has begun to consume, and that answers as `start-consumer` does, with the `traits` of its client.
    `client_among` finds the client id of such a program among connections, None if none of them is its own.
    `until_ready` waits for its `ready` conditions, at most this many seconds. `entries` are those of its topic, or
    of its answers by HTTP, if that is how it is seen.
    """

    def __init__(
        self,
        name: str,
        spec: ConsumerSpec,
        *,
        history: History,
        timing: TimingProfile,
        rocketmq: str,
        spawn: Callable[[str, ClientChoice], WorkerProcess],
        real: Callable[[str], str],
        servers: Callable[[], Mapping[str, Any]],
        instance: str,
        topics: Container[str],
        queues: Callable[[str], Sequence[Queue]],
        set_request_mode: Callable[[str, str, str], None],
        start_limit_s: float = START_LIMIT_S,
        before_launch: Callable[[], Begin] | None = None,
        client_among: ClientAmong | None = None,
        until_ready: Callable[[float], None] | None = None,
        entries: Entries | None = None,
    ) -> None:
        self.name = name
        self.spec = spec
        self.current = CurrentSubscriptions(spec.subscribe, topics)
        self._client_ip, self._instance = spec.client_id_in(name, instance)
        self.client_id = f"{self._client_ip}@{self._instance}"
        self.changes = QueueChanges({})
        """What was seen of its queues since its start, by topics' real names."""
        self.paused = self.started = False
        self._history = history
        self._timing = timing
        self._rocketmq = rocketmq
        self._spawn = spawn
        self._real = real
        self._servers = servers
        self._queues = queues
        self._set_request_mode = set_request_mode
        self._worker: WorkerProcess | None = None
        self._start_limit_s = start_limit_s
        self._before_launch = before_launch
        self._client_among = client_among
        self._started: dict[str, Any] = {}
        """What the event of its start says."""
        self._next: Mapping[str, Any] | None = None
        """The client that its program has started in the meantime, in place of the one that is asked about."""
        self._start_lock = threading.Lock()
        self._until_ready = until_ready
        self._entries = entries
        self._is_program = spec.choice.kind.users_program
        self.traits = spec.traits
        """How its client consumes: as its kind does, or as was found out at its start."""
        self._ended = False
        """A step has ended its process."""
        self._refusal: str | None = None

    @property
    def subscriptions(self) -> Mapping[str, Expression]:
        """What it subscribes to now, by topic; at its start what the scenario declares."""
        return self.current.now

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics to which it has ever subscribed."""
        return self.current.ever

    def prepare(self) -> None:
        """Spawn the worker process, without waiting for it."""
        if self._worker is None:
            self._worker = self._spawn(self.name, self.spec.choice)

    def start(self) -> None:
        """Start consuming; returns when the client's own `start()` has returned."""
        if self._ended:
            self._worker, self._ended = None, False
        self._refusal = self._next = None
        self.current.begin()
        subscribe = {topic: as_data(expression) for topic, expression in self.subscriptions.items()}
        begin = None
        if self._before_launch is not None:
            begin = self._before_launch()
            # As soon as its process is there, it may ask for messages.
            self._history.append(self.name, ConsumerStarting(subscribe=subscribe))
        began = time.monotonic()
        self.prepare()
        worker = self._alive_worker()
        worker.wait_ready(START_LIMIT_S)
        for topic in subscribe:
            self._tell_request_mode(topic)
        if begin is None:
            self._history.append(self.name, ConsumerStarting(pid=worker.pid, subscribe=subscribe))
        answer = (
            self._asked_to_start(worker, subscribe) if begin is None else begin(worker, self._start_limit_s)
        )
        if self._is_program:
            self._is_in_its_program(answer)
        self.traits = replace(self.spec.traits, **answer.get("traits", {}))
        self._started = started_as(self.spec, self.traits, answer, self._rocketmq, worker)
        with self._start_lock:
            self._is_now(answer)
            self.started = True
            if self._next is not None:
                self._is_now(self._next)
        if self._until_ready is not None:
            self._until_ready(self._start_limit_s - (time.monotonic() - began))

    def _is_now(self, answer: Mapping[str, Any]) -> None:
        self.client_id = str(answer["client_id"])
        self.changes = QueueChanges(answer.get("versions", {}))
        self._history.append(self.name, ConsumerStarted.kind, {"client_id": self.client_id, **self._started})

    def begun_anew(self, answer: Mapping[str, Any]) -> None:
        """Its program has another client in place of the first one: `client_id`, and what `start-consumer` has."""
        with self._start_lock:
            if not self.started:
                self._next = answer
            elif answer["client_id"] != self.client_id:
                self._is_now(answer)

    def recognize(self, connections: Connections) -> None:
        """Find its client among all of its group in a broker, where that is another one than before."""
        known = any(item["client_id"] == self.client_id for item in connections)
        if self._client_among is None or known or not self.started or self._worker is None:
            return
        found = self._client_among(self._worker, connections)
        if found is not None:
            self.begun_anew({"client_id": found})

    def _asked_to_start(self, worker: WorkerProcess, subscribe: Mapping[str, Any]) -> Mapping[str, Any]:
        return worker.request(
            "start-consumer",
            self._start_limit_s + (_ANSWERS_WITHIN_S if self._is_program else 0),
            name=self.name,
            **({"limit_ms": round(self._start_limit_s * 1000)} if self._is_program else {}),
            group=self._named(self.spec.group),
            **self._servers(),
            client_ip=self._client_ip,
            instance=self._instance,
            subscribe={self._named(topic): data for topic, data in subscribe.items()},
            settings=settings_of(self.spec, self._timing, self._rocketmq),
            **start_options(self.spec, configured_queues(self.spec, self._real, self._queues)),
            **rare_options(self.spec),
        )

    def _is_in_its_program(self, answer: Mapping[str, Any]) -> None:
        """Take over the consumer that a user's program has started, and its own subscriptions."""
        require_started(self.name, self.spec, answer, self._start_limit_s)
        if answer["subscribe"] is None:
            require_expected(self.name, self.spec)
            return
        if self._before_launch is not None:
            stated = ProgramSubscription(subscribe=answer["subscribe"], pid=self.pid)
            self._history.append(self.name, stated)
        self.current.answer(answer["subscribe"])

    def _tell_request_mode(self, topic: str) -> None:
        mode = self.spec.traits.request_mode
        if mode is not None:
            self._set_request_mode(self.spec.group, topic, mode)

    def _named(self, name: str) -> str:
        """The real name of a topic or group as its client's program has it, which is without the namespace."""
        return inside(self.spec.namespace, self._real(name))

    def subscribe(self, topic: str, expression: Expression) -> None:
        """Subscribe while it runs: the brokers learn of it at once, by a heartbeat."""
        self._tell_request_mode(topic)
        self._ask("subscribe", topic=self._named(topic), expression=as_data(expression))
        self.current.add(topic, expression)
        self._history.append(self.name, Subscribed(topic=topic, expression=as_data(expression)))

    def unsubscribe(self, topic: str) -> None:
        """Unsubscribe from a topic while the consumer runs. The next heartbeat tells the brokers."""
        self._ask("unsubscribe", topic=self._named(topic))
        self.current.remove(topic)
        self._history.append(self.name, Unsubscribed(topic=topic))

    def seek(self, topic: str, queue: tuple[str, int] | None, to: int | str) -> list[dict[str, Any]]:
        """Move its own position, in one queue or in all that it has; which those were."""
        place = None if queue is None else {"broker": queue[0], "queue_id": queue[1]}
        return list(self._ask("seek", topic=self._real(topic), queue=place, to=to)["queues"])

    def suspend(self) -> None:
        """Let its client pull no more. It stays a member."""
        self._ask("suspend-consumer")
        self._history.append(self.name, ConsumerSuspended())

    def unsuspend(self) -> None:
        """Let its client pull again, after `suspend`."""
        self._ask("resume-consumer")
        self._history.append(self.name, ConsumerResumed())

    def release_listener(self) -> None:
        """Let its listener go on where it blocks, and block no more."""
        self._ask("release-listener")
        self._history.append(self.name, ListenerReleased())

    def assignment(self) -> dict[str, Any]:
        """What the client itself knows, without asking a broker: see the worker's command `assignment`."""
        return self._ask("assignment")

    def running_info(self) -> dict[str, Any]:
        """What its client answers to 307, without asking a broker."""
        return self._ask("running-info")

    def refused(self, refusal: RequestFailed) -> None:
        """RocketMQ has refused its start: write that down, and end the process, where parts may live on."""
        said = {"error": refusal.message, "code": refusal.code, "exceptions": list(refusal.exceptions)}
        self._history.append(self.name, ConsumerRefused.kind, said)
        self.release()
        self._refusal = refusal.message

    def stop(self) -> None:
        """Shut the client down gracefully, then end its process, unless that is shared.

        A program of the user's gets SIGTERM, as from whoever runs it in production.
        """
        if self._is_program:
            self.terminate()
            self.wait_terminated()
            return
        worker = self._alive_worker()
        # Others may get its queues, and what is in them, before `shutdown()` has returned.
        self._history.append(self.name, ConsumerStopping())
        worker.request("stop-consumer", STOP_LIMIT_S, name=self.name)
        self.started = False
        self._history.append(self.name, ConsumerStopped())
        self._worker = None
        worker.stop(STOP_LIMIT_S)

    def kill(self) -> None:
        """SIGKILL its process; every event that it wrote is in the history when this returns."""
        worker = self._alive_worker()
        self.started = self.paused = False
        self._ended = True
        worker.kill()

    def terminate(self) -> None:
        """SIGTERM to its process, which shuts its client down and ends; see `wait_terminated`."""
        worker = self._alive_worker()
        # As with `stop`: others may get its queues before it is gone.
        self._history.append(self.name, ConsumerStopping())
        self.started = False
        self._ended = True
        worker.terminate()

    def wait_terminated(self) -> None:
        """Return when its process has ended by itself; every event that it wrote is in the history then.

        Raises:
            PreconditionNotMet: it doesn't end within 40 s, or something else has ended it.
        """
        self._process.wait_terminated(STOP_LIMIT_S)
        self._history.append(self.name, ConsumerStopped())

    def pause(self) -> None:
        """Let its process stand still."""
        self._alive_worker().pause()
        self.paused = True

    def resume(self) -> None:
        """Let its process go on."""
        self._alive_worker().resume()
        self.paused = False

    def flush_events(self) -> None:
        """Return when every event that its listener wrote before now is in the history."""
        self._alive_worker().request("ping", ANSWER_LIMIT_S)

    def read_entries(self) -> None:
        """Return when all entries that it has shown by now are in the history; it may have ended."""
        if self._entries is not None:
            self._entries.read()

    def entries_seen(self) -> Mapping[str, Any] | None:
        """How many `entries` it has shown, `where`, and the `last` one; None: its lines or listener show it."""
        return None if self._entries is None else self._entries.seen(self.name)

    def printed(self) -> Mapping[str, Any] | None:
        """How many lines its program has printed, how many of them `found`, and the `last` one.

        None: its output is not observed.
        """
        if not self.spec.choice.kind.begins_at_start or self._worker is None or not self._worker.alive:
            return None
        return self._worker.request("printed", ANSWER_LIMIT_S)

    def pull_counts(self, topic: str) -> dict[str, Any] | None:
        """The client's own counts of a topic, `found_pulls` and `passed_messages`; None: it counts none."""
        if not self.traits.counts_pulls:
            return None
        answer = self._ask("pull-counts", topic=self._real(topic))
        return {"found_pulls": answer["found_pulls"], "passed_messages": answer["passed_messages"]}

    def pull_once(self, topic: str, queue: Queue, offset: int, expression: str) -> dict[str, Any]:
        """What its client makes of one pull; see the worker's command `pull-once`."""
        broker, queue_id = queue
        where = {"topic": self._real(topic), "broker": broker, "queue_id": queue_id}
        return self._ask("pull-once", **where, offset=offset, expression=expression)

    def release(self) -> None:
        """End the client, and its process unless that is shared, whatever state it is in; for the tear-down."""
        worker, self._worker, self.started, self.paused = self._worker, None, False, False
        if worker is not None:
            worker.release()

    @property
    def alive(self) -> bool:
        """Whether the process runs (or is paused)."""
        return self._worker is not None and self._worker.alive

    @property
    def _process(self) -> WorkerProcess:
        if self._worker is None and self._refusal is not None:
            raise PreconditionNotMet(f"the consumer {self.name} doesn't run: {self._refusal}")
        if self._worker is None:
            raise HarnessDefect(f"the consumer {self.name} has no process")
        return self._worker

    def _ask(self, do: str, **with_: Any) -> dict[str, Any]:
        return self._alive_worker().request(do, ANSWER_LIMIT_S, name=self.name, **with_)

    def _alive_worker(self) -> WorkerProcess:
        if not self._process.alive:
            way_out = "Its log is in the run folder, logs/."
            raise EnvironmentNotReady(f"the process of consumer {self.name} is gone", way_out)
        return self._process
