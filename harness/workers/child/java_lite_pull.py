"""One DefaultLitePullConsumer inside the `java` worker, polled by a thread, as applications do.

Rests on DefaultLitePullConsumer, DefaultLitePullConsumerImpl and AssignedMessageQueue as they are from RocketMQ
4.9.3 to 5.5.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jpype

from rocketchaos.harness.workers.child.java_messages import described_queues
from rocketchaos.harness.workers.child.java_polled import PolledConsumer
from rocketchaos.harness.workers.child.jvm import private_field
from rocketchaos.harness.workers.child.listener import Described
from rocketchaos.harness.workers.protocol import EventPipe

_CLASS = "org.apache.rocketmq.client.consumer.DefaultLitePullConsumer"
_POLL_MS = 100


class LitePullConsumer(PolledConsumer):
    """A lite pull consumer; see `PolledConsumer`. It commits by itself (autoCommit).

    Every `autoCommitIntervalMillis`, and not when it is stopped: messages that it polled since then come again.
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

    def assignment(self) -> list[Described]:
        """The queues from which it pulls now.

        Its running info (307) lacks them in 4.9.x (DefaultLitePullConsumerImpl.consumerRunningInfo).
        """
        impl = private_field(self._java, "defaultLitePullConsumerImpl")
        return described_queues(private_field(impl, "assignedMessageQueue").getAssignedMessageQueues())

    def _poll(self) -> None:
        self._consume(self._java.poll(jpype.JLong(_POLL_MS)))
