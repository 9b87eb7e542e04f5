"""One DefaultMQPushConsumer in POP mode inside the `java` worker: brokers hand messages out.

Rests on DefaultMQPushConsumer.setClientRebalance and RebalanceImpl.getPopProcessQueueTable as they are from
RocketMQ 5.0.0 to 5.5.0. Whether it pops is up to the brokers: they answer its QUERY_ASSIGNMENT (400) with the mode
that was set for the group and the topic (SET_MESSAGE_REQUEST_MODE, 401), and with PULL where none was set
 (QueryAssignmentProcessor).
"""

from __future__ import annotations

from typing import Any

from rocketchaos.harness.workers.child.java_consumer import PushConsumer
from rocketchaos.harness.workers.child.java_messages import described_queues
from rocketchaos.harness.workers.child.listener import Described
from rocketchaos.harness.workers.protocol import CommandFailed, EventPipe


class PopConsumer(PushConsumer):
    """A push consumer that leaves it to the brokers how its messages come; see `PushConsumer`.

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
