"""The common part of the workers with clients: the commands, and the clients in their process by name.

A kind of client brings its consumers and producers; the commands are those of `harness.workers.protocol`.
"""

import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, TypeVar, runtime_checkable

from rocketchaos.harness.workers.protocol import CommandFailed, Handler


class Client(Protocol):
    """A client that was made, but not started."""

    @property
    def client_id(self) -> str:
        """The id under which brokers know it, once it has started."""

    def start(self) -> None:
        """Start it.

        Raises:
            CommandFailed: it refuses, or RocketMQ does; a kind may translate exceptions of its own.
        """

    def stop(self) -> None:
        """Shut it down gracefully."""


class ConsumerClient(Client, Protocol):
    """A consumer. It refuses commands that its kind can't execute, with CommandFailed."""

    def versions(self) -> Mapping[str, int]:
        """The subVersions of its subscriptions by topic, before its start; empty where it doesn't show them."""

    def subscribe(self, topic: str, expression: str | Mapping[str, str]) -> None:
        """Subscribe while it runs."""

    def unsubscribe(self, topic: str) -> None:
        """Give a topic up while it runs."""

    def release(self) -> None:
        """Let its listener block no more."""

    def assignment(self) -> Sequence[Mapping[str, Any]]:
        """The queues that it has, as it knows itself: `topic, broker, queue_id`."""

    def pull_counts(self, topic: str) -> Mapping[str, int]:
        """What its own statistics say of its pulls."""


@runtime_checkable
class PullsOnce(Protocol):
    """A consumer whose application pulls by itself."""

    def pull_once(
        self, topic: str, broker: str, queue_id: int, offset: int, expression: str
    ) -> Mapping[str, Any]:
        """What its client makes of one pull."""


@runtime_checkable
class Suspends(Protocol):
    """A consumer whose client can stop pulling, and stays a member."""

    def suspend(self) -> None:
        """Pull no more."""

    def resume(self) -> None:
        """Pull again."""


@runtime_checkable
class Seeks(Protocol):
    """A consumer whose client can move its own position."""

    def seek(self, topic: str, queue: Mapping[str, Any] | None, to: int | str) -> Sequence[Mapping[str, Any]]:
        """Go on from there; the queues for which that holds."""


@runtime_checkable
class Recalls(Protocol):
    """A producer that can take back a delayed message that it has sent."""

    def recall(self, topic: str, key: str) -> Mapping[str, Any]:
        """Take it back; `msg_id`, as the broker says it."""


@runtime_checkable
class TellsItself(Protocol):
    """A consumer that says in its own process what it answers to GET_CONSUMER_RUNNING_INFO (307)."""

    def running_info(self) -> Mapping[str, Any]:
        """Its queues and subscriptions, as `harness.rocketmq.running_info` has them."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to be sent."""

    topic: str
    tag: str | None
    keys: Sequence[str]
    properties: Mapping[str, str]
    body: str
    queue: Mapping[str, Any] | None
    """`broker` and `id`; None: the one whose turn it is."""
    timeout_ms: int
    batch: Sequence[Mapping[str, Any]] = ()
    """Further messages that go with it: `tag` and `key` of each, and `body` where that isn't its key."""
    how: Mapping[str, Any] = field(default_factory=dict)
    """`delay_level`, `delay_ms`, `oneway`, `async`, `request_ms`, `transaction {state, checked, takes_ms}`;
    empty: as usual."""
    hash_key: str | None = None
    """Whose hash chooses the queue."""


class ProducerClient(Client, Protocol):
    """A producer; it refuses commands that its kind can't execute, with CommandFailed."""

    def route(self, topic: str) -> Mapping[str, Any]:
        """What it knows of a topic's route."""

    def send(self, message: Outgoing) -> Mapping[str, Any]:
        """Send one message, after those that were asked for earlier."""


MakeConsumer = Callable[..., ConsumerClient]
MakeProducer = Callable[..., ProducerClient]
_Client = TypeVar("_Client", ConsumerClient, ProducerClient)


class ClientWorker:
    """The consumers and producers of one process, by the names that the harness gave them."""

    def __init__(self, make_consumer: MakeConsumer, make_producer: MakeProducer) -> None:
        """
        Args:
            make_consumer: of the arguments of `start-consumer`, which it checks.
            make_producer: of the arguments of `start-producer`, without the name.
        """
        self._make_consumer = make_consumer
        self._make_producer = make_producer
        self._lock = threading.Lock()
        self._consumers: dict[str, ConsumerClient] = {}
        self._producers: dict[str, ProducerClient] = {}

    def start_consumer(self, name: str, **with_: Any) -> Mapping[str, Any]:
        """Start a consumer; the answer comes when its `start()` has returned."""
        consumer = self._make_consumer(name=name, **with_)
        versions = consumer.versions()
        return {**self._start(self._consumers, name, consumer), "versions": versions}

    def subscribe(self, name: str, topic: str, expression: str | Mapping[str, str]) -> None:
        """Let a running consumer subscribe."""
        self._get(self._consumers, name).subscribe(topic, expression)

    def unsubscribe(self, name: str, topic: str) -> None:
        """Let a running consumer give a topic up."""
        self._get(self._consumers, name).unsubscribe(topic)

    def seek(self, name: str, **with_: Any) -> Mapping[str, Any]:
        """Let a consumer move its own position."""
        consumer = self._get(self._consumers, name)
        if not isinstance(consumer, Seeks):
            raise CommandFailed(f"the client of `{name}` can't seek")
        return {"queues": consumer.seek(**with_)}

    def suspend_consumer(self, name: str) -> None:
        """Let a consumer pull no more."""
        self._suspending(name).suspend()

    def resume_consumer(self, name: str) -> None:
        """Let a consumer pull again."""
        self._suspending(name).resume()

    def _suspending(self, name: str) -> Suspends:
        consumer = self._get(self._consumers, name)
        if not isinstance(consumer, Suspends):
            raise CommandFailed(f"the client of `{name}` can't be suspended")
        return consumer

    def release_listener(self, name: str) -> None:
        """Let a consumer's listener block no more."""
        self._get(self._consumers, name).release()

    def assignment(self, name: str) -> Mapping[str, Any]:
        """The queues that a consumer has, as it knows itself."""
        queues = self._get(self._consumers, name).assignment()
        return {
            "queues": sorted(queues, key=lambda queue: (queue["topic"], queue["broker"], queue["queue_id"]))
        }

    def running_info(self, name: str) -> Mapping[str, Any]:
        """A consumer's own report of its client."""
        consumer = self._get(self._consumers, name)
        if not isinstance(consumer, TellsItself):
            raise CommandFailed(f"the client of `{name}` doesn't say in its process what it tells brokers")
        return consumer.running_info()

    def stop_consumer(self, name: str) -> None:
        """Shut a consumer down gracefully: it persists its offsets and says goodbye to the brokers."""
        self._get(self._consumers, name, take=True).stop()

    def pull_counts(self, name: str, topic: str) -> Mapping[str, Any]:
        """What a consumer's own statistics say of its pulls."""
        return self._get(self._consumers, name).pull_counts(topic)

    def pull_once(self, name: str, **with_: Any) -> Mapping[str, Any]:
        """Let a consumer pull once more."""
        consumer = self._get(self._consumers, name)
        if not isinstance(consumer, PullsOnce):
            raise CommandFailed(f"`{name}` is no consumer whose application pulls")
        return consumer.pull_once(**with_)

    def producer_route(self, name: str, topic: str) -> Mapping[str, Any]:
        """What a producer knows of a topic's route."""
        return self._get(self._producers, name).route(topic)

    def recall(self, name: str, **with_: Any) -> Mapping[str, Any]:
        """Let a producer take back a message that it has sent."""
        producer = self._get(self._producers, name)
        if not isinstance(producer, Recalls):
            raise CommandFailed(f"the client of `{name}` can't recall")
        return producer.recall(**with_)

    def start_producer(self, name: str, **with_: Any) -> Mapping[str, Any]:
        """Start a producer. One that RocketMQ refuses is kept: programs go on to send with it."""
        return self._start(self._producers, name, self._make_producer(name=name, **with_), keep=True)

    def stop_producer(self, name: str) -> None:
        """Shut a producer down gracefully."""
        self._get(self._producers, name, take=True).stop()

    def send(
        self,
        name: str,
        topic: str,
        tag: str | None,
        key: str | None,
        body: str,
        queue: Mapping[str, Any] | None,
        timeout_ms: int,
        keys: Sequence[str] = (),
        properties: Mapping[str, str] = MappingProxyType({}),
        batch: Sequence[Mapping[str, Any]] = (),
        how: Mapping[str, Any] = MappingProxyType({}),
        hash_key: str | None = None,
    ) -> Mapping[str, Any]:
        """Send one message, or a batch, to the given queue, to that of a hash, or to the next in turn."""
        all_keys = [*([] if key is None else [key]), *keys]
        message = Outgoing(topic, tag, all_keys, properties, body, queue, timeout_ms, batch, how, hash_key)
        return self._get(self._producers, name).send(message)

    def shut_down(self) -> None:
        """Shut every client down gracefully, at the same time; print their exceptions."""
        with self._lock:
            clients: list[Client] = [*self._consumers.values(), *self._producers.values()]
        with ThreadPoolExecutor(max(1, len(clients)), thread_name_prefix="shut-down") as pool:
            for client in clients:
                pool.submit(_shut_down, client)

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Its commands, by name."""
        return {
            "start-consumer": self.start_consumer,
            "stop-consumer": self.stop_consumer,
            "subscribe": self.subscribe,
            "unsubscribe": self.unsubscribe,
            "seek": self.seek,
            "suspend-consumer": self.suspend_consumer,
            "resume-consumer": self.resume_consumer,
            "release-listener": self.release_listener,
            "assignment": self.assignment,
            "running-info": self.running_info,
            "pull-counts": self.pull_counts,
            "pull-once": self.pull_once,
            "start-producer": self.start_producer,
            "stop-producer": self.stop_producer,
            "producer-route": self.producer_route,
            "send": self.send,
            "recall": self.recall,
        }

    def _start(
        self, where: dict[str, _Client], name: str, client: _Client, *, keep: bool = False
    ) -> Mapping[str, Any]:
        with self._lock:
            if name in where:
                raise CommandFailed(f"`{name}` runs already in this worker")
            where[name] = client
        try:
            client.start()
        except BaseException:
            self._get(where, name, take=not keep)
            raise
        return {"client_id": client.client_id}

    def _get(self, where: dict[str, _Client], name: str, *, take: bool = False) -> _Client:
        with self._lock:
            if name not in where:
                raise CommandFailed(f"nothing named `{name}` runs in this worker")
            return where.pop(name) if take else where[name]


def _shut_down(client: Client) -> None:
    try:
        client.stop()
    except BaseException:  # one that is still starting, for one: the others are to leave all the same
        traceback.print_exc()
