"""The `java` worker: the real Java client, of any version's jars, in this process's own JVM.

Rests on DefaultMQPushConsumer, DefaultLitePullConsumer and DefaultMQPullConsumer of
org.apache.rocketmq.client.consumer and on org.apache.rocketmq.client.producer.DefaultMQProducer, as they are from
4.9.3 to 5.5.0. The commands are those of `harness.workers.protocol`.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import jpype

from harness.workers import jvm
from harness.workers.java_consumer import PushConsumer
from harness.workers.java_lite_pull import LitePullConsumer
from harness.workers.java_pop import PopConsumer
from harness.workers.java_producer import Producer
from harness.workers.java_pull import PullConsumer
from harness.workers.protocol import CommandFailed, EventPipe

_WARM_UP = (
    "org.apache.rocketmq.client.consumer.DefaultMQPushConsumer",
    "org.apache.rocketmq.client.impl.consumer.DefaultMQPushConsumerImpl",
    "org.apache.rocketmq.client.impl.factory.MQClientInstance",
    "org.apache.rocketmq.client.impl.MQClientAPIImpl",
    "org.apache.rocketmq.remoting.netty.NettyRemotingClient",
    "io.netty.bootstrap.Bootstrap",
    "io.netty.channel.nio.NioEventLoopGroup",
    "io.netty.channel.socket.nio.NioSocketChannel",
    "io.netty.buffer.PooledByteBufAllocator",
)
"""Classes whose loading takes most of a first consumer's start."""


Consumer = PushConsumer | LitePullConsumer | PullConsumer
_Client = TypeVar("_Client", Consumer, Producer)

_PLAIN: Mapping[str, Any] = {
    "model": "clustering",
    "consume_from": "first-offset",
    "strategy": {"name": "average", "queues": [], "rooms": []},
    "behaviour": {"fail": 0, "block": [], "slow_ms": 0},
}
_PLAIN_PUSH: Mapping[str, Any] = {"listener": "concurrent", "retry_delay_level": 0}
"""What a consumer is where `start-consumer` says nothing of it."""
_WITH_LISTENER: Mapping[str, type[PushConsumer]] = {"push": PushConsumer, "pop": PopConsumer}
_POLLED: Mapping[str, type[LitePullConsumer | PullConsumer]] = {
    "lite-pull": LitePullConsumer,
    "pull": PullConsumer,
}


class JavaWorker:
    """The consumers and producers of one process, by the names that the harness gave them."""

    def __init__(self, events: EventPipe) -> None:
        self._events = events
        self._lock = threading.Lock()
        self._consumers: dict[str, Consumer] = {}
        self._producers: dict[str, Producer] = {}

    def start_consumer(self, name: str, api: str = "push", **with_: Any) -> Mapping[str, Any]:
        """Start a consumer; the answer comes when its `start()` has returned."""
        consumer = _consumer(api, name, self._events, with_)
        versions = consumer.versions()
        return {**self._start(self._consumers, name, consumer), "versions": versions}

    def subscribe(self, name: str, topic: str, expression: str | Mapping[str, str]) -> None:
        """Let a running consumer subscribe."""
        self._get(self._consumers, name).subscribe(topic, expression)

    def unsubscribe(self, name: str, topic: str) -> None:
        """Let a running consumer give a topic up."""
        self._get(self._consumers, name).unsubscribe(topic)

    def release_listener(self, name: str) -> None:
        """Let a consumer's listener block no more."""
        self._get(self._consumers, name).release()

    def assignment(self, name: str) -> Mapping[str, Any]:
        """The queues that a consumer has, as it knows itself."""
        queues = [
            {
                "topic": str(queue.getTopic()),
                "broker": str(queue.getBrokerName()),
                "queue_id": int(queue.getQueueId()),
            }
            for queue in self._get(self._consumers, name).assignment()
        ]
        return {
            "queues": sorted(queues, key=lambda queue: (queue["topic"], queue["broker"], queue["queue_id"]))
        }

    def stop_consumer(self, name: str) -> None:
        """Shut a consumer down gracefully: it persists its offsets and says goodbye to the brokers."""
        self._get(self._consumers, name, take=True).stop()

    def pull_counts(self, name: str, topic: str) -> Mapping[str, Any]:
        """What a consumer's own statistics say of its pulls."""
        return self._get(self._consumers, name).pull_counts(topic)

    def producer_route(self, name: str, topic: str) -> Mapping[str, Any]:
        """What a producer knows of a topic's route."""
        return self._get(self._producers, name).route(topic)

    def start_producer(self, name: str, **with_: Any) -> Mapping[str, Any]:
        """Start a DefaultMQProducer."""
        return self._start(self._producers, name, Producer(**with_))

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
    ) -> Mapping[str, Any]:
        """Send one message: to the given queue, or to the one whose turn it is."""
        all_keys = [*([] if key is None else [key]), *keys]
        return self._get(self._producers, name).send(
            topic, tag, all_keys, properties, body, queue, timeout_ms
        )

    def _start(self, where: dict[str, _Client], name: str, client: _Client) -> Mapping[str, Any]:
        with self._lock:
            if name in where:
                raise CommandFailed(f"`{name}` runs already in this worker")
            where[name] = client
        try:
            client.start()
        except BaseException:
            self._get(where, name, take=True)
            raise
        return {"client_id": client.client_id}

    def _get(self, where: dict[str, _Client], name: str, *, take: bool = False) -> _Client:
        with self._lock:
            if name not in where:
                raise CommandFailed(f"nothing named `{name}` runs in this worker")
            return where.pop(name) if take else where[name]


def _consumer(api: str, name: str, events: EventPipe, with_: Mapping[str, Any]) -> Consumer:
    chosen = {**_PLAIN, **with_, "behaviour": {**_PLAIN["behaviour"], **with_.get("behaviour", {})}}
    if api in _WITH_LISTENER:
        return _WITH_LISTENER[api](name, events, **{**_PLAIN_PUSH, **chosen})
    if api in _POLLED:
        told = {key: value for key, value in chosen.items() if key not in _PLAIN_PUSH}
        return _POLLED[api](name, events, **told)
    raise CommandFailed(f"the Java client has no consumer `{api}`")


def _warm_up() -> None:
    """Load what a first consumer needs; a class that a version lacks is no matter: nothing rests on it."""
    for name in _WARM_UP:
        with contextlib.suppress(TypeError, jpype.JException):
            jpype.JClass(name)
    with contextlib.suppress(jpype.JException):
        jvm.new_client(_WARM_UP[0], "WARM_UP")


def main() -> None:
    """Start the JVM and serve."""
    given = jvm.arguments()
    events = EventPipe(given.events_fd)
    jvm.start(given)
    threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()
    worker = JavaWorker(events)
    jvm.run(
        events,
        {
            "start-consumer": worker.start_consumer,
            "stop-consumer": worker.stop_consumer,
            "subscribe": worker.subscribe,
            "unsubscribe": worker.unsubscribe,
            "release-listener": worker.release_listener,
            "assignment": worker.assignment,
            "pull-counts": worker.pull_counts,
            "start-producer": worker.start_producer,
            "stop-producer": worker.stop_producer,
            "producer-route": worker.producer_route,
            "send": worker.send,
        },
    )


if __name__ == "__main__":
    main()
