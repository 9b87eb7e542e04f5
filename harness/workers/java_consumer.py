"""One DefaultMQPushConsumer inside the `java` worker, with a listener that reports every message.

Rests on DefaultMQPushConsumer, MessageListenerConcurrently, ConsumerStatsManager and StatsItemSet as they are
from RocketMQ 4.9.3 to 5.5.0.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

import jpype

from harness.workers.jvm import private_field, text
from harness.workers.protocol import CommandFailed, EventPipe

_LISTENER = "org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently"
_STATUS = "org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus"
_FROM_WHERE = "org.apache.rocketmq.common.consumer.ConsumeFromWhere"


class Consumer:
    """A push consumer: made, but not started.

    Raises:
        CommandFailed: there is no such setting.
        jpype.JException: RocketMQ refuses the group's name or an expression.
    """

    def __init__(
        self,
        name: str,
        events: EventPipe,
        *,
        group: str,
        nameserver: str,
        client_ip: str,
        instance: str,
        subscribe: Mapping[str, str],
        settings: Mapping[str, Any],
        fail_attempts: int = 0,
        retry_delay_level: int = 0,
    ) -> None:
        self._name = name
        self._events = events
        self._fail_attempts = fail_attempts
        self._retry_delay_level = retry_delay_level
        self._status = jpype.JClass(_STATUS)
        self._group = group
        self._java = jpype.JClass("org.apache.rocketmq.client.consumer.DefaultMQPushConsumer")(group)
        self._java.setNamesrvAddr(nameserver)
        self._java.setClientIP(client_ip)
        self._java.setInstanceName(instance)
        self._java.setConsumeFromWhere(jpype.JClass(_FROM_WHERE).CONSUME_FROM_FIRST_OFFSET)
        for setting, value in settings.items():
            self._set(setting, value)
        for topic, expression in subscribe.items():
            self._java.subscribe(topic, expression)
        # The listener belongs to this object: a proxy without an owner could be collected.
        self._listener = jpype.JProxy(_LISTENER, dict={"consumeMessage": self._consume})
        self._java.registerMessageListener(self._listener)

    def _set(self, setting: str, value: Any) -> None:
        setter = "set" + setting[:1].upper() + setting[1:]
        if not hasattr(self._java, setter):
            raise CommandFailed(f"DefaultMQPushConsumer of this version has no setting `{setting}`")
        try:
            getattr(self._java, setter)(value)
        except TypeError as error:
            raise CommandFailed(f"DefaultMQPushConsumer.{setter} doesn't take {value!r}") from error

    @property
    def client_id(self) -> str:
        """The id under which brokers know it: `ip@instance`, with suffixes where a version adds any."""
        return str(self._java.buildMQClientId())

    def start(self) -> None:
        """Start it.

        Raises:
            jpype.JException: RocketMQ refuses, with MQClientException.
        """
        self._java.start()

    def stop(self) -> None:
        """Shut it down gracefully: offsets persisted, unregistered from the brokers."""
        self._java.shutdown()

    def pull_counts(self, topic: str) -> Mapping[str, int]:
        """How many pulls of `topic` were answered FOUND, and how many messages passed the tag filter.

        DefaultMQPushConsumerImpl.pullMessage counts every FOUND in topicAndGroupPullRT (once, whether its
        messages pass the client's filter or not), and those that passed in topicAndGroupPullTPS.
        """
        statistics = self._java.getDefaultMQPushConsumerImpl().getConsumerStatsManager()
        key = f"{topic}@{self._group}"
        pulls = private_field(statistics, "topicAndGroupPullRT").getStatsItem(key)
        passed = private_field(statistics, "topicAndGroupPullTPS").getStatsItem(key)
        return {
            # LongAdder or AtomicLong, by version; null before the first pull.
            "found_pulls": 0 if pulls is None else int(pulls.getTimes().longValue()),
            "passed_messages": 0 if passed is None else int(passed.getValue().longValue()),
        }

    def _consume(self, messages: Any, context: Any) -> Any:
        """What the listener answers; called by RocketMQ's own threads, never allowed to raise."""
        try:
            return self._consume_all(messages, context)
        except BaseException as error:  # into Java it would go as a mere log line
            traceback.print_exc()
            described = {"consumer": self._name, "error": f"{type(error).__name__}: {error}"}
            self._events.emit("listener-error", described)
            return self._status.RECONSUME_LATER

    def _consume_all(self, messages: Any, context: Any) -> Any:
        context.setDelayLevelWhenNextConsume(self._retry_delay_level)
        # Messages travel without their broker's name; the context has the queue that they were pulled from.
        broker = str(context.getMessageQueue().getBrokerName())
        status = self._status.CONSUME_SUCCESS
        seen = []
        for message in messages:
            described = _described(message)
            self._events.emit("received", {"consumer": self._name, "broker": broker, **described})
            seen.append(described)
            if described["reconsume_times"] < self._fail_attempts:
                status = self._status.RECONSUME_LATER
        for described in seen:
            identity = {name: described[name] for name in ("key", "msg_id", "offset_msg_id")}
            self._events.emit("consumed", {"consumer": self._name, **identity, "status": str(status)})
        return status


def _described(message: Any) -> dict[str, Any]:
    """A MessageClientExt in JSON's types; its topic is the original one (resetRetryAndNamespace)."""
    return {
        "topic": str(message.getTopic()),
        "tag": text(message.getTags()),
        "key": text(message.getKeys()),
        "msg_id": text(message.getMsgId()),
        "offset_msg_id": text(message.getOffsetMsgId()),
        "queue_id": int(message.getQueueId()),
        "offset": int(message.getQueueOffset()),
        "reconsume_times": int(message.getReconsumeTimes()),
    }
