"""One DefaultMQPullConsumer inside the `java` worker, whose queues a thread pulls, as applications do.

It is deprecated, and in all versions. Rests on DefaultMQPullConsumer, PullResult and PullStatus as they are from
RocketMQ 4.9.3 to 5.5.0.
"""

import traceback
from collections.abc import Mapping
from typing import Any

import jpype

from rocketchaos.harness.workers.child.java_consumer_settings import selector
from rocketchaos.harness.workers.child.java_messages import described_queues
from rocketchaos.harness.workers.child.java_polled import PolledConsumer
from rocketchaos.harness.workers.child.jvm import failure
from rocketchaos.harness.workers.child.listener import Described
from rocketchaos.harness.workers.protocol import CommandFailed, EventPipe

_CLASS = "org.apache.rocketmq.client.consumer.DefaultMQPullConsumer"
_AT_MOST = 32
"""Messages of a pull: pullBatchSize of the other consumers."""
_IDLE_S = 0.1
"""Between two rounds of which the first brought nothing."""
_FAILED_S = 1.0
"""After what a broker refused: pullTimeDelayMillsWhenException of the other consumers."""
_NO_OFFSET = -1
"""RemoteBrokerOffsetStore.readOffset: the broker has none; below that it could not be asked."""
_HALF_AN_HOUR_MS = 30 * 60_000
"""consumeTimestamp of the other consumers."""


class _OffsetUnknown(Exception):
    """To be asked again."""


class PullConsumer(PolledConsumer):
    """A plain pull consumer; see `PolledConsumer`.

    It registers its topics, so that it is a member of its group, and allocation gives it queues. Heartbeats
    tell the brokers that it subscribes to `*`, in version 0, whatever it pulls by
    (DefaultMQPullConsumerImpl.subscriptions); its expressions travel with its pulls alone. How far it came is
    noted after each pull, including what the filters skipped, and persisted by the client.
    """

    def __init__(
        self,
        name: str,
        events: EventPipe,
        *,
        behaviour: Mapping[str, Any],
        subscribe: Mapping[str, Any],
        consume_from: str,
        **settings: Any,
    ) -> None:
        super().__init__(_CLASS, name, events, behaviour, {**settings, "subscribe": {}, "consume_from": None})
        self._expressions = dict(subscribe)
        self._consume_from = consume_from
        self._offsets: dict[Any, int] = {}
        """The next offset of each queue that it has."""
        topics = jpype.JClass("java.util.HashSet")()
        for topic in subscribe:
            topics.add(jpype.JString(topic))
        self._java.setRegisterTopics(topics)

    def subscribe(self, topic: str, _expression: str | Mapping[str, str]) -> None:
        """Not there: DefaultMQPullConsumerImpl.copySubscription reads its topics at its start."""
        raise CommandFailed(f"DefaultMQPullConsumer can't subscribe to {topic} while it runs")

    def unsubscribe(self, topic: str) -> None:
        """Not there, see `subscribe`."""
        raise CommandFailed(f"DefaultMQPullConsumer can't give {topic} up while it runs")

    def assignment(self) -> list[Described]:
        """The queues that allocation gave it; its running info (307) lacks them."""
        return described_queues(self._balanced())

    def pull_once(
        self, topic: str, broker: str, queue_id: int, offset: int, expression: str
    ) -> Mapping[str, Any]:
        """What the client makes of one pull: a PullStatus, or the exception that it throws."""
        queue = jpype.JClass("org.apache.rocketmq.common.message.MessageQueue")(
            topic, broker, jpype.JInt(queue_id)
        )
        try:
            result = self._java.pull(queue, expression, jpype.JLong(offset), jpype.JInt(_AT_MOST))
        except jpype.JException as error:
            thrown = failure(error)
            return {"status": None, "error": str(thrown), "code": thrown.code}
        messages = result.getMsgFoundList()
        return {
            "status": str(result.getPullStatus()),
            "next_offset": int(result.getNextBeginOffset()),
            "messages": 0 if messages is None else int(messages.size()),
        }

    def _balanced(self) -> list[Any]:
        return [
            queue for topic in self._expressions for queue in self._java.fetchMessageQueuesInBalance(topic)
        ]

    def _poll(self) -> None:
        try:
            idle_s = 0.0 if self._round() else _IDLE_S
        except (jpype.JException, _OffsetUnknown):
            # A broker that is gone, or refuses: applications try again.
            traceback.print_exc()
            idle_s = _FAILED_S
        self._stopping.wait(idle_s)

    def _round(self) -> bool:
        """Pull each of its queues once; whether anything came, or was skipped."""
        queues = self._balanced()
        self._offsets = {queue: offset for queue, offset in self._offsets.items() if queue in queues}
        came = False
        for queue in queues:
            if not self._stopping.is_set():
                came = self._pull(queue) or came
        return came

    def _pull(self, queue: Any) -> bool:
        if queue not in self._offsets:
            self._offsets[queue] = self._first_offset(queue)
        expression = self._expressions[str(queue.getTopic())]
        by = expression if isinstance(expression, str) else selector(expression)
        result = self._java.pull(queue, by, jpype.JLong(self._offsets[queue]), jpype.JInt(_AT_MOST))
        messages = result.getMsgFoundList()
        commits = self._listener.auto_commit
        if messages is not None and not messages.isEmpty():
            commits = self._consume(messages, str(queue.getBrokerName())) or commits
        moved = int(result.getNextBeginOffset()) != self._offsets[queue]
        self._offsets[queue] = int(result.getNextBeginOffset())
        if commits:
            self._java.updateConsumeOffset(queue, jpype.JLong(self._offsets[queue]))
        return moved

    def _first_offset(self, queue: Any) -> int:
        """Where the group stands, otherwise where `consume_from` has it begin.

        Raises:
            _OffsetUnknown: the broker could not be asked.
        """
        stored = int(self._java.fetchConsumeOffset(queue, True))
        if stored < _NO_OFFSET:
            raise _OffsetUnknown(f"no answer about the offset of {queue}")
        if stored != _NO_OFFSET:
            return stored
        match self._consume_from:
            case "last-offset":
                return int(self._java.maxOffset(queue))
            case "timestamp":
                now = int(jpype.JClass("java.lang.System").currentTimeMillis())
                return int(self._java.searchOffset(queue, jpype.JLong(now - _HALF_AN_HOUR_MS)))
            case _:
                return int(self._java.minOffset(queue))
