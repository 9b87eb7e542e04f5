"""Consumers of rocketmq-client-java inside the `grpc-java` worker, with a listener that reports every message."""

from __future__ import annotations

import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any

import jpype

from rocketchaos.harness.workers.child.grpc_java_client import (
    APIS,
    client_id_of,
    configuration,
    described_message,
    duration,
    filter_of,
    filters,
    provider,
)
from rocketchaos.harness.workers.child.listener import Abandoned, Listener
from rocketchaos.harness.workers.child.proxied_consumer import (
    BATCH,
    CONSUMED,
    FAILED,
    INVISIBLE_MS,
    LONG_POLLING_MS,
    STOP_LIMIT_S,
    THREADS,
    TRY_AGAIN_S,
    ProxiedConsumer,
)
from rocketchaos.harness.workers.protocol import CommandFailed, EventPipe


class GrpcJavaConsumer(ProxiedConsumer, ABC):
    """The common part of both: made, but not started."""

    def __init__(self, builder: Any, listener: Listener) -> None:
        super().__init__(listener)
        self._builder = builder

    @property
    def client_id(self) -> str:
        """The id under which the proxy knows it."""
        return client_id_of(self._client)

    def subscribe(self, topic: str, expression: str | Mapping[str, str]) -> None:
        """Subscribe while it runs: its next receive has the expression."""
        self._client.subscribe(topic, filter_of(expression))

    def unsubscribe(self, topic: str) -> None:
        """Receive no more of a topic."""
        self._client.unsubscribe(topic)

    def start(self) -> None:
        """Start it; returns when the proxy has sent it its settings, or refused it."""
        self._client = self._builder.build()

    @abstractmethod
    def stop(self) -> None:
        """Shut it down gracefully."""


class PushConsumer(GrpcJavaConsumer):
    """PushConsumer, whose client calls a listener."""

    def __init__(self, builder: Any, listener: Listener, settings: Mapping[str, Any]) -> None:
        super().__init__(builder, listener)
        results = jpype.JClass(f"{APIS}.consumer.ConsumeResult")
        self._success, self._failure = results.SUCCESS, results.FAILURE
        # The proxy belongs to this object: without an owner it could be collected.
        self._proxy = jpype.JProxy(f"{APIS}.consumer.MessageListener", dict={"consume": self._consume})
        builder.setMessageListener(self._proxy)
        if THREADS in settings:
            builder.setConsumptionThreadCount(settings[THREADS])

    def stop(self) -> None:
        """Shut it down. Its listener first finishes the messages that it has, unless it blocks."""
        self._listener.abandon()
        self._client.close()

    def _consume(self, message: Any) -> Any:
        """What the listener answers; called by the client's own threads."""
        try:
            described, succeeds = self._listener.receive([described_message(message)])
            self._listener.report(described, CONSUMED if succeeds else FAILED)
        except Abandoned:
            return self._failure
        except BaseException as error:  # into Java it would go as a mere log line
            traceback.print_exc()
            self._listener.report_error(error)
            return self._failure
        return self._success if succeeds else self._failure


class SimpleConsumer(GrpcJavaConsumer):
    """SimpleConsumer, which a thread asks for messages all the time, and which acks what succeeds."""

    def __init__(
        self, builder: Any, listener: Listener, name: str, invisible_ms: int | None, await_ms: int | None
    ) -> None:
        super().__init__(builder, listener)
        builder.setAwaitDuration(duration(LONG_POLLING_MS if await_ms is None else await_ms))
        self._invisible = duration(INVISIBLE_MS if invisible_ms is None else invisible_ms)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._receive_on, name=f"receive-{name}", daemon=True)

    def start(self) -> None:
        """Start it, and begin to receive."""
        super().start()
        self._thread.start()

    def stop(self) -> None:
        """Receive no more, and shut it down: a receive that the proxy holds ends with it."""
        self._stopping.set()
        self._listener.abandon()
        self._client.close()
        self._thread.join(STOP_LIMIT_S)

    def _receive_on(self) -> None:
        while not self._stopping.is_set():
            try:
                for message in self._client.receive(BATCH, self._invisible):
                    self._consume(message)
            except Abandoned:
                return
            except (jpype.JException, RuntimeError) as error:
                if self._stopping.is_set():
                    return
                # A proxy that is away, or too slow: applications ask again.
                print(f"receive: {type(error).__name__}: {error}", flush=True)
                self._stopping.wait(TRY_AGAIN_S)

    def _consume(self, message: Any) -> None:
        described, succeeds = self._listener.receive(
            [described_message(message)], partial(self._change_invisible, message)
        )
        if succeeds:
            self._client.ack(message)
        self._listener.report(described, CONSUMED if succeeds else FAILED)

    def _change_invisible(self, message: Any, seconds: int) -> None:
        self._client.changeInvisibleDuration(message, duration(seconds * 1000))


def new_consumer(
    events: EventPipe,
    name: str,
    *,
    api: str = "push",
    group: str,
    endpoint: str,
    access: Mapping[str, Any] | None = None,
    subscribe: Mapping[str, str | Mapping[str, str]],
    settings: Mapping[str, Any] | None = None,
    behaviour: Mapping[str, Any] | None = None,
    invisible_ms: int | None = None,
    await_ms: int | None = None,
    **_others: Any,
) -> GrpcJavaConsumer:
    """A consumer that isn't started; options that its kind lacks were refused before, and are left out here.

    Raises:
        CommandFailed: there is no such API. jpype.JException: the client refuses a name.
    """
    if api not in ("push", "simple"):
        raise CommandFailed(f"a gRPC client has no `{api}`: it has push, simple")
    clients = provider()
    builder = clients.newPushConsumerBuilder() if api == "push" else clients.newSimpleConsumerBuilder()
    builder.setClientConfiguration(configuration(endpoint, access)).setConsumerGroup(group)
    builder.setSubscriptionExpressions(filters(subscribe))
    listener = Listener(name, events, **(behaviour or {}))
    if api == "push":
        return PushConsumer(builder, listener, settings or {})
    return SimpleConsumer(builder, listener, name, invisible_ms, await_ms)
