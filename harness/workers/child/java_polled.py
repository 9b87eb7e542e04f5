"""Consumers of the `java` worker without a listener: a thread polls them, as applications do.

Rests on DefaultLitePullConsumer, DefaultLitePullConsumerImpl and AssignedMessageQueue as they are from RocketMQ
4.9.3 to 5.5.0.
"""

import os
import threading
import traceback
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import jpype

from rocketchaos.harness.workers.child.java_client import JavaConsumer
from rocketchaos.harness.workers.child.java_messages import described_messages, described_queues
from rocketchaos.harness.workers.child.jvm import private_field
from rocketchaos.harness.workers.child.listener import Abandoned, Described
from rocketchaos.harness.workers.protocol import CommandFailed, EventPipe

_STOP_LIMIT_S = 2.0
_POLLED = "POLLED"
"""In place of a status: polled messages count as consumed, whatever becomes of them."""


class PolledConsumer(JavaConsumer):
    """A consumer that a thread polls until it is stopped; see `JavaConsumer`."""

    def __init__(
        self,
        java_class: str,
        name: str,
        events: EventPipe,
        behaviour: Mapping[str, Any],
        settings: Mapping[str, Any],
    ) -> None:
        super().__init__(java_class, name, events, behaviour, settings)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._poll_on, name=f"poll-{name}", daemon=True)

    def start(self) -> None:
        """Start it, and begin to poll.

        Raises:
            jpype.JException: RocketMQ refuses, with MQClientException.
        """
        super().start()
        self._thread.start()

    def stop(self) -> None:
        """Poll no more, and shut it down gracefully: it persists the offsets that it has committed."""
        self._stopping.set()
        # Where it blocks, it isn't waited for.
        self._thread.join(_STOP_LIMIT_S)
        self._java.shutdown()
        self._listener.abandon()

    def pull_counts(self, topic: str) -> Mapping[str, int]:
        """Not there: DefaultLitePullConsumerImpl and DefaultMQPullConsumerImpl count no pulls (4.9.4, 5.3.3)."""
        raise CommandFailed(f"{self._java.getClass().getSimpleName()} counts no pulls of {topic}")

    @abstractmethod
    def _poll(self) -> None:
        """Take the available messages, or wait a moment."""

    def _consume(self, messages: Any, broker: str | None = None) -> bool:
        """Report messages, which are consumed then; see `Listener.receive`. Whether it commits by itself then.

        Raises:
            Abandoned: the consumer is gone.
        """
        seen, _ = self._listener.receive(described_messages(messages, broker))
        self._listener.report(seen, _POLLED)
        return self._listener.commits(seen)

    def _poll_on(self) -> None:
        try:
            while not self._stopping.is_set():
                self._poll()
        except Abandoned:
            return
        except BaseException:
            if self._stopping.is_set():
                return
            # A consumer that polls no more must not pass for one to which nothing comes.
            traceback.print_exc()
            os._exit(1)


_CLASS = "org.apache.rocketmq.client.consumer.DefaultLitePullConsumer"
_POLL_MS = 100


class LitePullConsumer(PolledConsumer):
    """A lite pull consumer; see `PolledConsumer`. Its client commits (autoCommit), or its application does.

    Its client does so every `autoCommitIntervalMillis`, and not when it is stopped: messages that it polled since
    then come again.
    """

    def __init__(
        self,
        name: str,
        events: EventPipe,
        *,
        behaviour: Mapping[str, Any],
        **settings: Any,
    ) -> None:
        super().__init__(_CLASS, name, events, behaviour, settings)
        if not self._listener.auto_commit:
            self._java.setAutoCommit(False)

    def assignment(self) -> list[Described]:
        """The queues from which it pulls now.

        Its running info (307) lacks them in 4.9.x (DefaultLitePullConsumerImpl.consumerRunningInfo).
        """
        impl = private_field(self._java, "defaultLitePullConsumerImpl")
        return described_queues(private_field(impl, "assignedMessageQueue").getAssignedMessageQueues())

    def seek(self, topic: str, queue: Mapping[str, Any] | None, to: int | str) -> list[Described]:
        """Go on from there in one queue, or in all that it has of the topic.

        Raises:
            CommandFailed: it has none.
            jpype.JException: RocketMQ refuses, with MQClientException.
        """
        chosen = (
            [queue] if queue is not None else [item for item in self.assignment() if item["topic"] == topic]
        )
        if not chosen:
            raise CommandFailed(f"it has no queue of {topic}")
        for item in chosen:
            place = jpype.JClass("org.apache.rocketmq.common.message.MessageQueue")(
                topic, item["broker"], jpype.JInt(item["queue_id"])
            )
            match to:
                case "begin":
                    self._java.seekToBegin(place)
                case "end":
                    self._java.seekToEnd(place)
                case _:
                    self._java.seek(place, jpype.JLong(to))
        return [{"broker": item["broker"], "queue_id": item["queue_id"]} for item in chosen]

    def _poll(self) -> None:
        if self._consume(self._java.poll(jpype.JLong(_POLL_MS))):
            # From 5.1.0 on deprecated in favour of commit(), which 4.9.x lacks.
            self._java.commitSync()
