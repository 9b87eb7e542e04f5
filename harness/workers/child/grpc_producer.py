"""One producer of rocketmq-python-client inside the `grpc` worker; rests on rocketmq.Producer of version 5.1.2."""

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import rocketmq

from rocketchaos.harness.workers.child.client_worker import Outgoing
from rocketchaos.harness.workers.child.grpc_messages import configuration, refusals
from rocketchaos.harness.workers.protocol import CommandFailed


class _Message(rocketmq.Message):  # type: ignore[misc, unused-ignore]
    """A message whose keys are sent in their order: the client keeps them in a set, and other clients read the
    first one as the harness's own."""

    keys: Sequence[str] = ()


class GrpcProducer:
    """A producer that never retries by itself, because the harness must see every failure: made, not started."""

    def __init__(self, endpoint: str, access: Mapping[str, Any] | None = None, **_others: Any) -> None:
        with refusals():
            self._client = rocketmq.Producer(configuration(endpoint, access))

    @property
    def client_id(self) -> str:
        """The id under which the proxy knows it."""
        return str(self._client.client_id)

    def start(self) -> None:
        """Start it; fetches no routes."""
        with refusals():
            self._client.startup()

    def stop(self) -> None:
        """Shut it down."""
        with refusals():
            self._client.shutdown()

    def route(self, topic: str) -> Mapping[str, Any]:
        """Nothing: the brokers are the proxy's business."""
        del topic
        return {"known": False, "brokers": {}}

    def send(self, message: Outgoing) -> Mapping[str, Any]:
        """Send one message to the queue that the proxy chooses, which it doesn't tell.

        Within 3 s, the client's own limit for all its requests, whatever `timeout_ms` says.
        """
        if message.queue is not None:
            raise CommandFailed("a gRPC producer can't choose a queue: the proxy does")
        with refusals():
            receipt = self._client.send(_made_of(message))
        return {
            "status": "SEND_OK",
            "broker": None,
            "queue_id": None,
            "queue_offset": int(receipt.offset),
            "msg_id": str(receipt.message_id),
            "offset_msg_id": None,
        }


def _made_of(message: Outgoing) -> _Message:
    """The client's own message, which refuses some topics, tags and message groups before anything is sent."""
    own = _Message()
    own.topic, own.body = message.topic, message.body.encode()
    if message.tag is not None:
        own.tag = message.tag
    own.keys = message.keys
    if message.hash_key is not None:
        own.message_group = message.hash_key
    if "delay_ms" in message.how:
        # In whole seconds, though the client's documentation says milliseconds.
        own.delivery_timestamp = math.ceil(time.time() + message.how["delay_ms"] / 1000)
    for name, value in message.properties.items():
        own.add_property(name, value)
    return own
