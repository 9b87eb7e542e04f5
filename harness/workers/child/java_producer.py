"""One DefaultMQProducer inside the `java` worker.

Rests on DefaultMQProducer, SendCallback, SendResult and ThreadLocalIndex as they are from RocketMQ 4.9.3 to 5.5.0.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from types import MappingProxyType
from typing import Any

import jpype

from rocketchaos.harness.workers.child.access import hook_of
from rocketchaos.harness.workers.child.client_worker import Outgoing
from rocketchaos.harness.workers.child.in_turn import InTurn
from rocketchaos.harness.workers.child.java_client import JavaClient
from rocketchaos.harness.workers.child.java_requests import Request
from rocketchaos.harness.workers.child.java_trace import traced
from rocketchaos.harness.workers.child.java_transactions import Transactions
from rocketchaos.harness.workers.child.jvm import new_client, private_field, set_property, text
from rocketchaos.harness.workers.protocol import CommandFailed, EventPipe

_LATER_S = 3.0
"""RocketMQ's client looks for answers that are overdue once a second (NettyRemotingAbstract.scanResponseTable)."""


class SendCallback:
    """A SendCallback; `java` is RocketMQ's view of it."""

    def __init__(self, timeout_ms: int) -> None:
        """
        Args:
            timeout_ms: of the sending.
        """
        self._limit_s = timeout_ms / 1000 + _LATER_S
        self._answer: Future[Any] = Future()
        methods = {"onSuccess": self._answer.set_result, "onException": self._answer.set_exception}
        self.java = jpype.JProxy("org.apache.rocketmq.client.producer.SendCallback", dict=methods)

    def result(self) -> Any:
        """The SendResult.

        Raises:
            CommandFailed: RocketMQ didn't call it.
            jpype.JException: what `onException` got.
        """
        try:
            return self._answer.result(self._limit_s)
        except TimeoutError:
            raise CommandFailed(f"the SendCallback was not called within {self._limit_s:g} s") from None


_KEY_SEPARATOR = " "
"""MessageConst.KEY_SEPARATOR."""


_NOWHERE: Mapping[str, Any] = {"broker": None, "queue_id": None, "queue_offset": None, "offset_msg_id": None}
"""Nothing reports where a one-way message or a request is stored."""


class Producer(JavaClient):
    """A producer that never retries by itself, because the harness must see every failure: made, not started.

    Raises:
        jpype.JException: RocketMQ refuses the group's name.
    """

    def __init__(
        self,
        events: EventPipe,
        *,
        name: str,
        group: str,
        nameserver: str,
        client_ip: str,
        instance: str,
        poll_name_server_ms: int | None = None,
        settings: Mapping[str, Any] = MappingProxyType({}),
        transactional: bool = False,
        namespace: str | None = None,
        access: Mapping[str, Any] | None = None,
    ) -> None:
        kind = "TransactionMQProducer" if transactional else "DefaultMQProducer"
        trace, settings = traced(settings)
        hook = None if access is None else hook_of(access)
        # With the trace TransactionMQProducer of 4.9.x has one constructor, which begins with the namespace.
        arguments = (None, group, hook, *trace) if trace else (group,) if hook is None else (group, hook)
        super().__init__(new_client(f"org.apache.rocketmq.client.producer.{kind}", *arguments))
        self._name = name
        self._events = events
        self._transactions = Transactions(name, events) if transactional else None
        if self._transactions is not None:
            self._java.setTransactionListener(self._transactions.java)
        self._java.setNamesrvAddr(nameserver)
        self._java.setClientIP(client_ip)
        self._java.setInstanceName(instance)
        if namespace is not None:
            self._java.setNamespace(namespace)
        self._java.setRetryTimesWhenSendFailed(0)
        self._java.setRetryTimesWhenSendAsyncFailed(0)
        if poll_name_server_ms is not None:
            self._java.setPollNameServerInterval(poll_name_server_ms)
        for setting, value in settings.items():
            set_property(self._java, setting, value)
        self._recall_handles: dict[str, Any] = {}
        """By the first key of a message, what its broker gave for its recall (`SendResult.getRecallHandle`)."""
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
            return {"known": False, "brokers": {}}
        factory = private_field(implementation, "mQClientFactory")
        names = sorted({str(queue.getBrokerName()) for queue in published.getMessageQueueList()})
        addresses = {name: factory.findBrokerAddressInPublish(name) for name in names}
        return {
            "known": True,
            "brokers": {name: str(address) for name, address in addresses.items() if address is not None},
        }

    def send(self, message: Outgoing) -> Mapping[str, Any]:
        """Send one message, after those that were asked for earlier."""
        if "request_ms" in message.how:
            return self._request(message)
        if message.how.get("async"):
            # Its turn is over when the client has taken it: the answer comes to the callback.
            return _acknowledged(self._in_turn.do(self._begin, message).result())
        return self._in_turn.do(self._send, message)

    def _request(self, message: Outgoing) -> Mapping[str, Any]:
        """Send it as a request: where it is stored nothing reports."""
        java, limit_ms = _messages(message), int(message.how["request_ms"])
        request = Request(
            self._name, self._events, key=message.keys[0], topic=message.topic, limit_ms=limit_ms
        )
        if message.how.get("async"):
            self._in_turn.do(request.begin, self._java, java, _target(message))
            request.end()
        else:
            self._in_turn.do(request.ask, self._java, java, _target(message))
        return _unacknowledged(java)

    def _begin(self, message: Outgoing) -> SendCallback:
        callback = SendCallback(message.timeout_ms)
        timeout_ms = jpype.JLong(message.timeout_ms)
        self._java.send(_messages(message), *_target(message), callback.java, timeout_ms)
        return callback

    def _send(self, message: Outgoing) -> Mapping[str, Any]:
        java, target = _messages(message), _target(message)
        if message.how.get("oneway"):
            self._java.sendOneway(java, *target)
            return _unacknowledged(java)
        if message.how.get("transaction"):
            sent = self._in_transaction(java, message)
        else:
            sent = self._java.send(java, *target, jpype.JLong(message.timeout_ms))
        if "delay_ms" in message.how and hasattr(sent, "getRecallHandle"):
            self._recall_handles[message.keys[0]] = sent.getRecallHandle()
        return _acknowledged(sent)

    def recall(self, topic: str, key: str) -> Mapping[str, Any]:
        """Take a message back that it has sent with a delay; one without a handle RocketMQ's client refuses."""
        if not hasattr(self._java, "recallMessage"):
            raise CommandFailed("this version of RocketMQ's client has no recallMessage")
        return {"msg_id": text(self._java.recallMessage(topic, self._recall_handles.get(key)))}

    def _in_transaction(self, java: Any, message: Outgoing) -> Any:
        if self._transactions is None:
            raise CommandFailed("this producer was not started as a transactional one")
        self._transactions.answers[message.keys[0]] = message.how["transaction"]
        return self._java.sendMessageInTransaction(java, None)


def _unacknowledged(java: Any) -> Mapping[str, Any]:
    """The answer about a message of which no broker reports the place."""
    # The client itself has given it this (MessageClientIDSetter).
    return {**_NOWHERE, "status": None, "msg_id": text(java.getProperty("UNIQ_KEY"))}


def _acknowledged(sent: Any) -> Mapping[str, Any]:
    """A SendResult in JSON's types."""
    return {
        "status": str(sent.getSendStatus()),
        "broker": str(sent.getMessageQueue().getBrokerName()),
        "queue_id": int(sent.getMessageQueue().getQueueId()),
        "queue_offset": int(sent.getQueueOffset()),
        "msg_id": text(sent.getMsgId()),
        "offset_msg_id": text(sent.getOffsetMsgId()),
    }


def _target(message: Outgoing) -> list[Any]:
    """The arguments that choose its queue; none where the client does."""
    if message.queue is not None:
        java_queue = jpype.JClass("org.apache.rocketmq.common.message.MessageQueue")
        return [java_queue(message.topic, message.queue["broker"], jpype.JInt(message.queue["id"]))]
    if message.hash_key is not None:
        selectors = "org.apache.rocketmq.client.producer.selector.SelectMessageQueueByHash"
        return [jpype.JClass(selectors)(), jpype.JClass("java.lang.String")(message.hash_key)]
    return []


def _messages(message: Outgoing) -> Any:
    """The Message of Java's, or a list of them for a batch."""
    java = _message(message, message.tag, message.keys, message.body)
    if not message.batch:
        return java
    messages = jpype.JClass("java.util.ArrayList")()
    messages.add(java)
    for item in message.batch:
        keys = [item["key"], *item.get("keys", ())]
        messages.add(_message(message, item["tag"], keys, item.get("body", item["key"])))
    return messages


def _message(message: Outgoing, tag: str | None, keys: Sequence[str], body: str) -> Any:
    """One Message of Java's, with all that they have in common."""
    java = jpype.JClass("org.apache.rocketmq.common.message.Message")(message.topic, body.encode())
    if tag is not None:
        java.setTags(tag)
    if keys:
        java.setKeys(_KEY_SEPARATOR.join(keys))
    for name, value in message.properties.items():
        java.putUserProperty(name, value)
    if "delay_level" in message.how:
        java.setDelayTimeLevel(jpype.JInt(message.how["delay_level"]))
    if "delay_ms" in message.how:
        java.setDelayTimeMs(jpype.JLong(message.how["delay_ms"]))
    return java
