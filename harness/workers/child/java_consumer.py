"""A DefaultMQPushConsumer, or one in POP mode, in the `java` worker, with a listener that reports each message.

Rests on DefaultMQPushConsumer, MessageListenerConcurrently, MessageListenerOrderly, ConsumerStatsManager and
StatsItemSet as they are from RocketMQ 4.9.3 to 5.5.0.
"""

import traceback
from collections.abc import Mapping
from typing import Any

import jpype

from rocketchaos.harness.workers.child.java_client import JavaConsumer
from rocketchaos.harness.workers.child.java_messages import described_messages, described_queues
from rocketchaos.harness.workers.child.java_requests import send_reply
from rocketchaos.harness.workers.child.jvm import failure, private_field
from rocketchaos.harness.workers.child.listener import Abandoned, Described
from rocketchaos.harness.workers.protocol import CommandFailed, EventPipe

_CLASS = "org.apache.rocketmq.client.consumer.DefaultMQPushConsumer"
_PACKAGE = "org.apache.rocketmq.client.consumer.listener"
_LISTENERS = {
    # Interface, its statuses, and which of them mean success and failure.
    "concurrent": (
        "MessageListenerConcurrently",
        "ConsumeConcurrentlyStatus",
        "CONSUME_SUCCESS",
        "RECONSUME_LATER",
    ),
    "orderly": (
        "MessageListenerOrderly",
        "ConsumeOrderlyStatus",
        "SUCCESS",
        "SUSPEND_CURRENT_QUEUE_A_MOMENT",
    ),
}


class PushConsumer(JavaConsumer):
    """A push consumer; see `JavaConsumer`."""

    def __init__(
        self,
        name: str,
        events: EventPipe,
        *,
        listener: str,
        behaviour: Mapping[str, Any],
        retry_delay_level: int,
        **settings: Any,
    ) -> None:
        super().__init__(_CLASS, name, events, behaviour, settings)
        # The implementation reads this in its constructor, and never again (4.9.4, 5.5.0).
        self._java.getDefaultMQPushConsumerImpl().setPullTimeDelayMillsWhenException(
            self._java.getPullTimeDelayMillsWhenException()
        )
        self._orderly = listener == "orderly"
        self._retry_delay_level = retry_delay_level
        interface, status, success, failure = _LISTENERS[listener]
        statuses = jpype.JClass(f"{_PACKAGE}.{status}")
        self._success, self._failure = getattr(statuses, success), getattr(statuses, failure)
        self._commit = statuses.COMMIT if self._orderly else None
        # The proxy belongs to this object: without an owner it could be collected.
        self._proxy = jpype.JProxy(f"{_PACKAGE}.{interface}", dict={"consumeMessage": self._consume})
        self._java.registerMessageListener(self._proxy)

    def stop(self) -> None:
        """Shut it down gracefully: offsets persisted, unregistered from the brokers."""
        self._java.shutdown()
        self._listener.abandon()

    def suspend(self) -> None:
        """Pull no more; its heartbeats and its rebalancing go on (DefaultMQPushConsumerImpl.suspend)."""
        self._java.suspend()

    def resume(self) -> None:
        """Pull again; it rebalances at once."""
        self._java.resume()

    def versions(self) -> Mapping[str, int]:
        """Of RebalanceImpl.subscriptionInner: the times of `subscribe`, until its queues first change."""
        table = self._java.getDefaultMQPushConsumerImpl().getRebalanceImpl().getSubscriptionInner()
        return {str(item.getKey()): int(item.getValue().getSubVersion()) for item in table.entrySet()}

    def assignment(self) -> list[Described]:
        """The queues that it consumes now (RebalanceImpl.processQueueTable)."""
        table = self._java.getDefaultMQPushConsumerImpl().getRebalanceImpl().getProcessQueueTable()
        return described_queues(table.keySet())

    def pull_counts(self, topic: str) -> Mapping[str, int]:
        """How many pulls of `topic` were answered FOUND, and how many messages passed the tag filter.

        DefaultMQPushConsumerImpl.pullMessage counts every FOUND in topicAndGroupPullRT (once, whether its
        messages pass the client's filter or not), and those that passed in topicAndGroupPullTPS.
        """
        statistics = self._java.getDefaultMQPushConsumerImpl().getConsumerStatsManager()
        key = f"{topic}@{self._java.getConsumerGroup()}"
        pulls = private_field(statistics, "topicAndGroupPullRT").getStatsItem(key)
        passed = private_field(statistics, "topicAndGroupPullTPS").getStatsItem(key)
        return {
            # LongAdder or AtomicLong, by version; null before the first pull.
            "found_pulls": 0 if pulls is None else int(pulls.getTimes().longValue()),
            "passed_messages": 0 if passed is None else int(passed.getValue().longValue()),
        }

    def _consume(self, messages: Any, context: Any) -> Any:
        """What the listener answers; called by RocketMQ's own threads. It raises for `by: exception` alone."""
        try:
            status = self._consume_all(messages, context)
        except Abandoned:
            return self._failure
        except BaseException as error:  # into Java it would go as a mere log line
            traceback.print_exc()
            self._listener.report_error(error)
            return self._failure
        return self._failing() if status == self._failure else status

    def _failing(self) -> Any:
        """A failure as its behaviour has it: RocketMQ takes an exception and null for the status of a failure."""
        if self._listener.by == "exception":
            raise jpype.JClass("java.lang.RuntimeException")("the listener's own, by its behaviour")
        return None if self._listener.by == "nothing" else self._failure

    def _consume_all(self, messages: Any, context: Any) -> Any:
        if not self._orderly:
            context.setDelayLevelWhenNextConsume(self._retry_delay_level)
        elif not self._listener.auto_commit:
            context.setAutoCommit(False)
        # The context has the queue that they were pulled from: that of the retry topic, for a retry.
        broker = str(context.getMessageQueue().getBrokerName())
        seen, succeeds = self._listener.receive(described_messages(messages, broker))
        if succeeds and self._listener.replies:
            for message, described in zip(messages, seen, strict=True):
                self._reply(message, described)
        success = self._commit if self._listener.commits(seen) else self._success
        status = success if succeeds else self._failure
        self._listener.report(seen, str(status))
        return status

    def _reply(self, message: Any, described: Described) -> None:
        """Reply to a message; a refusal changes nothing of what the listener returns."""
        try:
            status = send_reply(self._java, message, f"reply to {described['key']}")
            self._listener.report_reply(described, status=status)
        except jpype.JException as error:
            said = failure(error)
            refusal = {"error": str(said), "code": said.code, "exceptions": list(said.exceptions)}
            self._listener.report_reply(described, **refusal)


class PopConsumer(PushConsumer):
    """A push consumer that leaves it to the brokers how its messages come; see `PushConsumer`.

    Rests on DefaultMQPushConsumer.setClientRebalance and RebalanceImpl.getPopProcessQueueTable as they are from
    RocketMQ 5.0.0 to 5.5.0. Whether it pops is up to the brokers: they answer its QUERY_ASSIGNMENT (400) with the
    mode that was set for the group and the topic (SET_MESSAGE_REQUEST_MODE, 401), and with PULL where none was set
    (QueryAssignmentProcessor).

    Raises:
        CommandFailed: the client is too old for it.
    """

    def __init__(self, name: str, events: EventPipe, **settings: Any) -> None:
        super().__init__(name, events, **settings)
        if not hasattr(self._java, "setClientRebalance"):
            raise CommandFailed("DefaultMQPushConsumer of this version has no POP mode: 5.0.0 brought it")
        self._java.setClientRebalance(False)

    def assignment(self) -> list[Described]:
        """The queues that it pops: of each topic one for each broker, whose id -1 stands for all queues."""
        table = self._java.getDefaultMQPushConsumerImpl().getRebalanceImpl().getPopProcessQueueTable()
        return described_queues(table.keySet())
