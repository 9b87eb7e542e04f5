"""RocketMQ's allocation strategies, by the names that scenarios give them.

Rests on the classes of org.apache.rocketmq.client.consumer.rebalance as they are from 4.9.3 to 5.5.0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jpype

from rocketchaos.harness.rocketmq.allocation import room_of
from rocketchaos.harness.workers.protocol import CommandFailed

_PACKAGE = "org.apache.rocketmq.client.consumer.rebalance"
_MESSAGE_QUEUE = "org.apache.rocketmq.common.message.MessageQueue"
_CLASSES = {
    "average": "AllocateMessageQueueAveragely",
    "average-by-circle": "AllocateMessageQueueAveragelyByCircle",
    "consistent-hash": "AllocateMessageQueueConsistentHash",
    "by-config": "AllocateMessageQueueByConfig",
    "machine-room": "AllocateMessageQueueByMachineRoom",
}
_NEARBY = "machine-room-nearby"


@dataclass(frozen=True, slots=True)
class Strategy:
    """An AllocateMessageQueueStrategy, and the Python object that it calls, if any."""

    java: Any
    resolver: Any = None


def strategy_of(name: str, queues: Sequence[Mapping[str, Any]], rooms: Sequence[str]) -> Strategy:
    """The strategy of a name; `queues` are those of `by-config`, `rooms` those of `machine-room`.

    Raises:
        CommandFailed: there is no such strategy.
    """
    if name == _NEARBY:
        resolver = jpype.JProxy(
            f"{_PACKAGE}.AllocateMachineRoomNearby$MachineRoomResolver",
            dict={
                "brokerDeployIn": lambda queue: room_of(str(queue.getBrokerName())),
                "consumerDeployIn": lambda client_id: room_of(str(client_id)),
            },
        )
        inner = _new(_CLASSES["average"])
        return Strategy(_new("AllocateMachineRoomNearby", inner, resolver), resolver)
    if name not in _CLASSES:
        raise CommandFailed(f"there is no allocation strategy `{name}`")
    java = _new(_CLASSES[name])
    if name == "by-config":
        configured = jpype.JClass("java.util.ArrayList")()
        for queue in queues:
            configured.add(
                jpype.JClass(_MESSAGE_QUEUE)(queue["topic"], queue["broker"], jpype.JInt(queue["id"]))
            )
        java.setMessageQueueList(configured)
    elif name == "machine-room":
        chosen = jpype.JClass("java.util.HashSet")()
        for room in rooms:
            chosen.add(jpype.JString(room))
        java.setConsumeridcs(chosen)
    return Strategy(java)


def _new(class_name: str, *arguments: Any) -> Any:
    return jpype.JClass(f"{_PACKAGE}.{class_name}")(*arguments)
