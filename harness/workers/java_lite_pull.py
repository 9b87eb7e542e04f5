"""One DefaultLitePullConsumer inside the `java` worker, polled by a thread, as applications do.

Rests on DefaultLitePullConsumer, DefaultLitePullConsumerImpl and AssignedMessageQueue as they are from RocketMQ
4.9.3 to 5.5.0.
"""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Mapping
from typing import Any

import jpype

from harness.workers.java_client import JavaConsumer
from harness.workers.java_messages import described_message, described_queue
from harness.workers.jvm import private_field
from harness.workers.listener import Abandoned, Described
from harness.workers.protocol import CommandFailed, EventPipe

_CLASS = "org.apache.rocketmq.client.consumer.DefaultLitePullConsumer"
_POLL_MS = 100
_STOP_LIMIT_S = 2.0
POLLED = "POLLED"
"""In place of a status: what was polled is consumed, whatever becomes of it."""


class LitePullConsumer(JavaConsumer):
    """A lite pull consumer; see `JavaConsumer`. It commits by itself (autoCommit)."""

    def __init__(
        self,
        name: str,
        events: EventPipe,
        *,
        behaviour: Mapping[str, Any],
        **settings: Any,
    ) -> None:
        super().__init__(_CLASS, name, events, behaviour, settings)
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
        """Poll no more, and shut it down gracefully: what was polled is committed, and persisted."""
        self._stopping.set()
        # Where it blocks, it isn't waited for.
        self._thread.join(_STOP_LIMIT_S)
        self._java.shutdown()
        self._listener.abandon()

    def assignment(self) -> list[Described]:
        """The MessageQueues from which it pulls now.

        Its running info (307) lacks them in 4.9.x (DefaultLitePullConsumerImpl.consumerRunningInfo).
        """
        impl = private_field(self._java, "defaultLitePullConsumerImpl")
        assigned = private_field(impl, "assignedMessageQueue").getAssignedMessageQueues()
        return [described_queue(queue) for queue in assigned]

    def pull_counts(self, topic: str) -> Mapping[str, int]:
        """Not there: DefaultLitePullConsumerImpl counts no pulls (4.9.4, 5.3.3)."""
        raise CommandFailed(f"a lite pull consumer counts no pulls of {topic}")

    def _poll_on(self) -> None:
        try:
            while not self._stopping.is_set():
                seen = [described_message(one) for one in self._java.poll(jpype.JLong(_POLL_MS))]
                self._listener.receive(seen)
                self._listener.report(seen, POLLED)
        except Abandoned:
            return
        except BaseException:
            if self._stopping.is_set():
                return
            # A consumer that polls no more must not pass for one to which nothing comes.
            traceback.print_exc()
            os._exit(1)
