"""One Producer of rocketmq-client-python inside the `python` worker.

Rests on rocketmq.client of rocketmq-client-python 2.0.0, and on SendMessageOrderly of the C++ client's C API,
which that doesn't bind. Without a selector the client would retry five times, and would not tell the queue.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

from rocketchaos.harness.workers.child.client_worker import Outgoing
from rocketchaos.harness.workers.child.in_turn import InTurn
from rocketchaos.harness.workers.child.name_server import NameServer, Queue, stored_offset_msg_id
from rocketchaos.harness.workers.child.python_client import checked, client_id, instance_name, sign
from rocketchaos.harness.workers.child.python_library import NativeClient
from rocketchaos.harness.workers.protocol import CommandFailed

_KEY_SEPARATOR = " "
"""MQMessage::KEY_SEPARATOR."""
_NO_RETRIES = 0
_SELECTOR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_STATUSES = ("SEND_OK", "FLUSH_DISK_TIMEOUT", "FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE")
"""Of SendStatus, by their numbers; but what is not SEND_OK SendMessageOrderly reports as a failure."""


class Producer:
    """A producer that never retries by itself: made, not started.

    Raises:
        CommandFailed: it can't be as it is wanted.
    """

    def __init__(
        self,
        client: NativeClient,
        *,
        group: str,
        nameserver: str,
        client_ip: str,
        instance: str,
        name: str = "",
        poll_name_server_ms: int | None = None,
        access: Mapping[str, Any] | None = None,
    ) -> None:
        del name  # what it does not tell needs no name
        if poll_name_server_ms is not None:
            raise CommandFailed(
                "rocketmq-client-python asks the name server every 30 s: it has no setting to change that"
            )
        self._client = client
        self._instance = instance_name(client_ip, instance)
        self._name_server = NameServer(nameserver)
        self._last_queue: dict[str, int] = {}
        ffi = client.ffi
        self._send_orderly = ffi.dll.SendMessageOrderly
        self._send_orderly.argtypes = [
            *(ctypes.c_void_p, ctypes.c_void_p, _SELECTOR, ctypes.c_void_p, ctypes.c_int),
            ctypes.POINTER(ffi._CSendResult),
        ]
        self._send_orderly.restype = ffi._CStatus
        self._producer = client.module.Producer(group)
        self._producer.set_name_server_address(nameserver)
        ffi.dll.SetProducerInstanceName(self._producer._handle, self._instance.encode())
        sign(self._producer, access)
        self._in_turn = InTurn("producer")

    @property
    def client_id(self) -> str:
        """The id under which brokers know it."""
        return client_id(self._instance)

    def start(self) -> None:
        """Start it; it fetches no routes yet.

        Raises:
            CommandFailed: the C++ client refuses.
        """
        checked(self._client, self._producer.start)

    def stop(self) -> None:
        """Shut it down gracefully."""
        self._in_turn.close()
        checked(self._client, self._producer.shutdown)

    def route(self, topic: str) -> Mapping[str, Any]:
        """Not there."""
        raise CommandFailed(f"rocketmq-client-python doesn't tell what it knows of the route of {topic}")

    def send(self, message: Outgoing) -> Mapping[str, Any]:
        """Send one message, after those that were asked for earlier."""
        return self._in_turn.do(self._send, message)

    def _send(self, message: Outgoing) -> Mapping[str, Any]:
        topic = message.topic
        queues = self._name_server.queues(topic)
        chosen = self._chosen(topic, list(queues), message.queue)
        selector = _Selector(list(queues).index(chosen), len(queues))
        self._producer.set_timeout(message.timeout_ms)
        native = self._client.module.Message(topic)
        try:
            native.set_body(message.body)
            if message.tag is not None:
                native.set_tags(message.tag)
            if "delay_level" in message.how:
                native.set_delay_time_level(message.how["delay_level"])
            if message.keys:
                native.set_keys(_KEY_SEPARATOR.join(message.keys))
            for name, value in message.properties.items():
                native.set_property(name, value)
            result = self._sent(native, selector)
        finally:
            self._client.ffi.dll.DestroyMessage(native)
        if selector.wrong_count is not None:
            raise CommandFailed(
                f"the client knows {selector.wrong_count} queues of {topic}, and the name server {len(queues)}: "
                "the message is in another queue than it was meant for"
            )
        broker, queue_id = chosen
        return {
            "status": _STATUSES[result.sendStatus],
            "broker": broker,
            "queue_id": queue_id,
            "queue_offset": result.offset,
            "msg_id": result.msgId.decode(),
            "offset_msg_id": stored_offset_msg_id(queues[chosen], topic, queue_id, result.offset),
        }

    def _chosen(self, topic: str, queues: Sequence[Queue], queue: Mapping[str, Any] | None) -> Queue:
        """The queue that is wanted, or the next one."""
        if not queues:
            raise CommandFailed(f"no broker takes messages of {topic} now")
        if queue is None:
            number = self._last_queue[topic] = self._last_queue.get(topic, -1) + 1
            return queues[number % len(queues)]
        wanted = str(queue["broker"]), int(queue["id"])
        if wanted not in queues:
            raise CommandFailed(
                f"the name server knows no queue {wanted[1]} of {topic} on {wanted[0]} to send to"
            )
        return wanted

    def _sent(self, native: Any, selector: _Selector) -> Any:
        ffi = self._client.ffi
        result = ffi._CSendResult()
        # The C API refuses a null argument for the selector.
        nothing = ctypes.byref(ctypes.c_int())
        callback = _SELECTOR(selector)

        def send() -> None:
            self._client.exceptions.ffi_check(
                self._send_orderly(
                    self._producer._handle,
                    native,
                    callback,
                    nothing,
                    _NO_RETRIES,
                    ctypes.byref(result),
                )
            )

        checked(self._client, send)
        return result


class _Selector:
    """Answers the client's question for one of its queues; C++ takes any answer, and no exception."""

    def __init__(self, index: int, count: int) -> None:
        self._index = index
        self._count = count
        self.wrong_count: int | None = None
        """How many queues the client knows, where that is not what it should know."""

    def __call__(self, count: int, _message: Any, _argument: Any) -> int:
        """The index of the queue to send to."""
        if count == self._count:
            return self._index
        self.wrong_count = count
        return 0
