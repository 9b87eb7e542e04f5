"""Consumers of rocketmq-python-client inside the `grpc` worker, with a listener that reports every message.

Rests on rocketmq.PushConsumer and rocketmq.SimpleConsumer of version 5.1.2.
"""

from __future__ import annotations

import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any

import rocketmq

from rocketchaos.harness.workers.child.grpc_messages import (
    configuration,
    described_message,
    filter_of,
    filters,
    refusals,
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

_SETTINGS_LIMIT_S = 10.0
"""How long the client's own push consumer waits for them."""
_ATTEMPTS = "rocketchaos_attempts"
"""How often the client has handed this message object over."""


class GrpcConsumer(ProxiedConsumer, ABC):
    """The common part of both: made, but not started."""

    def __init__(self, name: str, events: EventPipe, behaviour: Mapping[str, Any]) -> None:
        super().__init__(Listener(name, events, **behaviour))

    @property
    def client_id(self) -> str:
        """The id under which the proxy knows it, which the client makes of host, process and time."""
        return str(self._client.client_id)

    def subscribe(self, topic: str, expression: str | Mapping[str, str]) -> None:
        """Subscribe while it runs: its next receive has the expression; the proxy's table within 300 s."""
        with refusals():
            self._client.subscribe(topic, filter_of(expression))

    def unsubscribe(self, topic: str) -> None:
        """Receive no more of a topic."""
        with refusals():
            self._client.unsubscribe(topic)

    @abstractmethod
    def start(self) -> None:
        """Start it."""

    @abstractmethod
    def stop(self) -> None:
        """Shut it down gracefully."""


class PushConsumer(GrpcConsumer):
    """rocketmq.PushConsumer."""

    def __init__(
        self,
        name: str,
        events: EventPipe,
        *,
        group: str,
        servers: Any,
        subscribe: Mapping[str, str | Mapping[str, str]],
        settings: Mapping[str, Any],
        behaviour: Mapping[str, Any],
        invisible_ms: int | None = None,  # noqa: ARG002 - the proxy renews for it
        await_ms: int | None = None,  # noqa: ARG002 - its client receives by itself
    ) -> None:
        super().__init__(name, events, behaviour)
        threads = {"consumption_thread_count": settings[THREADS]} if THREADS in settings else {}
        with refusals():
            self._client = rocketmq.PushConsumer(
                servers, group, _Callback(self._listener), filters(subscribe), **threads
            )

    def start(self) -> None:
        """Start it; returns when the proxy has sent it its settings, up to 10 s later, or refused it."""
        with refusals():
            self._client.startup()

    def stop(self) -> None:
        """Shut it down. Its listener first finishes the messages that it has, unless it blocks."""
        self._listener.abandon()
        with refusals():
            self._client.shutdown()


class _Callback(rocketmq.MessageListener):  # type: ignore[misc]
    """What the client calls for each message, from threads of its own."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def consume(self, message: Any) -> Any:
        # An orderly group's client retries by itself, and leaves the message's count as it is (FifoConsumption).
        again = getattr(message, _ATTEMPTS, 0)
        setattr(message, _ATTEMPTS, again + 1)
        described_one = described_message(message)
        described_one["reconsume_times"] += again
        try:
            described, succeeds = self._listener.receive([described_one])
            self._listener.report(described, CONSUMED if succeeds else FAILED)
            return rocketmq.ConsumeResult.SUCCESS if succeeds else rocketmq.ConsumeResult.FAILURE
        except Abandoned:
            return rocketmq.ConsumeResult.FAILURE
        except BaseException as error:  # the client would only log it
            traceback.print_exc()
            self._listener.report_error(error)
            return rocketmq.ConsumeResult.FAILURE


class SimpleConsumer(GrpcConsumer):
    """rocketmq.SimpleConsumer, which a thread asks for messages all the time, and which acks what succeeds."""

    def __init__(
        self,
        name: str,
        events: EventPipe,
        *,
        group: str,
        servers: Any,
        subscribe: Mapping[str, str | Mapping[str, str]],
        settings: Mapping[str, Any],  # noqa: ARG002 - none of them is its own
        behaviour: Mapping[str, Any],
        invisible_ms: int | None = None,
        await_ms: int | None = None,
    ) -> None:
        super().__init__(name, events, behaviour)
        self._invisible_s = (INVISIBLE_MS if invisible_ms is None else invisible_ms) // 1000
        await_s = (LONG_POLLING_MS if await_ms is None else await_ms) // 1000
        with refusals():
            self._client = rocketmq.SimpleConsumer(servers, group, filters(subscribe), await_duration=await_s)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._receive_on, name=f"receive-{name}", daemon=True)

    def start(self) -> None:
        """Start it, and begin to receive once the proxy has sent its settings: before, a receive fails there."""
        with refusals():
            self._client.startup()
            # As the push consumer waits by itself. 5.5.0: NullPointerException in ReceiveMessageActivity.
            if not self._client._init_settings_event.wait(_SETTINGS_LIMIT_S):
                raise CommandFailed(f"the proxy sent no settings within {_SETTINGS_LIMIT_S:g} s")
        self._thread.start()

    def stop(self) -> None:
        """Receive no more, and shut it down: a receive that the proxy holds ends with it."""
        self._stopping.set()
        self._listener.abandon()
        with refusals():
            self._client.shutdown()
        self._thread.join(STOP_LIMIT_S)

    def _receive_on(self) -> None:
        while not self._stopping.is_set():
            try:
                for message in self._client.receive(BATCH, self._invisible_s):
                    self._consume(message)
            except Abandoned:
                return
            except Exception as error:
                if self._stopping.is_set():
                    return
                # A proxy that is away, or too slow: applications ask again.
                print(f"receive: {type(error).__name__}: {error}", flush=True)
                self._stopping.wait(TRY_AGAIN_S)

    def _consume(self, message: Any) -> None:
        described, succeeds = self._listener.receive(
            [described_message(message)], partial(self._client.change_invisible_duration, message)
        )
        if succeeds:
            self._client.ack(message)
        self._listener.report(described, CONSUMED if succeeds else FAILED)


_APIS = {"push": PushConsumer, "simple": SimpleConsumer}


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
) -> GrpcConsumer:
    """A consumer that isn't started; options that its kind lacks were refused before, and are left out here.

    Raises:
        CommandFailed: there is no such API, or the client refuses a name.
    """
    if api not in _APIS:
        raise CommandFailed(f"a gRPC client has no `{api}`: it has {', '.join(_APIS)}")
    return _APIS[api](
        name,
        events,
        group=group,
        servers=configuration(endpoint, access),
        subscribe=subscribe,
        settings=settings or {},
        behaviour=behaviour or {},
        invisible_ms=invisible_ms,
        await_ms=await_ms,
    )
