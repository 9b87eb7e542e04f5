"""One producer of rocketmq-client-java inside the `grpc-java` worker."""

import time
from collections.abc import Mapping
from typing import Any

from rocketchaos.harness.workers.child.client_worker import Outgoing
from rocketchaos.harness.workers.child.grpc_java_client import client_id_of, configuration, provider
from rocketchaos.harness.workers.protocol import CommandFailed


class GrpcJavaProducer:
    """A producer that never retries by itself, because the harness must see every failure: made, not started."""

    def __init__(self, endpoint: str, access: Mapping[str, Any] | None = None, **_others: Any) -> None:
        self._provider = provider()
        configured = configuration(endpoint, access)
        self._builder = self._provider.newProducerBuilder().setClientConfiguration(configured)
        self._builder.setMaxAttempts(1)
        self._client: Any = None

    @property
    def client_id(self) -> str:
        """The id under which the proxy knows it."""
        return client_id_of(self._client)

    def start(self) -> None:
        """Start it; fetches no routes."""
        self._client = self._builder.build()

    def stop(self) -> None:
        """Shut it down."""
        self._client.close()

    def route(self, topic: str) -> Mapping[str, Any]:
        """Nothing: the brokers are the proxy's business."""
        del topic
        return {"known": False, "brokers": {}}

    def send(self, message: Outgoing) -> Mapping[str, Any]:
        """Send one message to the queue that the proxy chooses; the receipt has the client's own choice (5.5.0).

        Within 3 s, the client's own limit for all its requests, whatever `timeout_ms` says.
        """
        if message.queue is not None:
            raise CommandFailed("a gRPC producer can't choose a queue: the proxy does")
        own = self._provider.newMessageBuilder().setTopic(message.topic).setBody(message.body.encode())
        if message.tag is not None:
            own.setTag(message.tag)
        own.setKeys(*message.keys)
        if message.hash_key is not None:
            own.setMessageGroup(message.hash_key)
        if "delay_ms" in message.how:
            own.setDeliveryTimestamp(int(time.time() * 1000) + message.how["delay_ms"])
        for name, value in message.properties.items():
            own.addProperty(name, value)
        receipt = self._client.send(own.build())
        return {
            "status": "SEND_OK",
            "broker": None,
            "queue_id": None,
            "queue_offset": int(receipt.getOffset()),
            "msg_id": str(receipt.getMessageId()),
            "offset_msg_id": None,
        }
