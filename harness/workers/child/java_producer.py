"""One DefaultMQProducer inside the `java` worker.

Rests on DefaultMQProducer, SendResult and ThreadLocalIndex as they are from RocketMQ 4.9.3 to 5.5.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jpype

from rocketchaos.harness.workers.child.client_worker import Outgoing
from rocketchaos.harness.workers.child.in_turn import InTurn
from rocketchaos.harness.workers.child.java_client import JavaClient
from rocketchaos.harness.workers.child.jvm import new_client, private_field, text

_KEY_SEPARATOR = " "
"""MessageConst.KEY_SEPARATOR."""


class Producer(JavaClient):
    """A producer that never retries by itself, for the harness must see every failure: made, not started.

    Raises:
        jpype.JException: RocketMQ refuses the group's name.
    """

    def __init__(
        self,
        group: str,
        nameserver: str,
        client_ip: str,
        instance: str,
        poll_name_server_ms: int | None = None,
    ) -> None:
        super().__init__(new_client("org.apache.rocketmq.client.producer.DefaultMQProducer", group))
        self._java.setNamesrvAddr(nameserver)
        self._java.setClientIP(client_ip)
        self._java.setInstanceName(instance)
        self._java.setRetryTimesWhenSendFailed(0)
        if poll_name_server_ms is not None:
            self._java.setPollNameServerInterval(poll_name_server_ms)
        # The client goes round the queues per thread (ThreadLocalIndex): with one thread it really does.
        self._in_turn = InTurn("producer")

    def stop(self) -> None:
        """Shut it down gracefully."""
        self._in_turn.close()
        self._java.shutdown()

    def route(self, topic: str) -> Mapping[str, Any]:
        """What the client knows of a topic's route; it looks for none where it has none.

        Rests on DefaultMQProducerImpl.getTopicPublishInfoTable and MQClientInstance.findBrokerAddressInPublish.
        """
        implementation = self._java.getDefaultMQProducerImpl()
        published = implementation.getTopicPublishInfoTable().get(topic)
        if published is None or not published.ok():
            return {"known": False, "brokers": []}
        factory = private_field(implementation, "mQClientFactory")
        brokers = {str(queue.getBrokerName()) for queue in published.getMessageQueueList()}
        return {
            "known": True,
            "brokers": sorted(
                broker for broker in brokers if factory.findBrokerAddressInPublish(broker) is not None
            ),
        }

    def send(self, message: Outgoing) -> Mapping[str, Any]:
        """Send one message, after those that were asked for earlier."""
        return self._in_turn.do(self._send, message)

    def _send(self, message: Outgoing) -> Mapping[str, Any]:
        java = jpype.JClass("org.apache.rocketmq.common.message.Message")(
            message.topic, message.body.encode()
        )
        if message.tag is not None:
            java.setTags(message.tag)
        if message.keys:
            java.setKeys(_KEY_SEPARATOR.join(message.keys))
        for name, value in message.properties.items():
            java.putUserProperty(name, value)
        timeout_ms = jpype.JLong(message.timeout_ms)
        if message.queue is None:
            sent = self._java.send(java, timeout_ms)
        else:
            java_queue = jpype.JClass("org.apache.rocketmq.common.message.MessageQueue")
            target = java_queue(message.topic, message.queue["broker"], jpype.JInt(message.queue["id"]))
            sent = self._java.send(java, target, timeout_ms)
        return {
            "status": str(sent.getSendStatus()),
            "broker": str(sent.getMessageQueue().getBrokerName()),
            "queue_id": int(sent.getMessageQueue().getQueueId()),
            "queue_offset": int(sent.getQueueOffset()),
            "msg_id": text(sent.getMsgId()),
            "offset_msg_id": text(sent.getOffsetMsgId()),
        }
