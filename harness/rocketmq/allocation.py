"""How RocketMQ's allocation strategies divide queues among members; pure.

Each function is the counterpart of a class of org.apache.rocketmq.client.consumer.rebalance, which is the same
from 4.9.3 to 5.3.3. Queues and client ids are sorted first, as `RebalanceImpl.rebalanceByTopic` does; it asks
each member's own strategy, so that members with different strategies may share queues, or leave some alone.
All raise ValueError where `member` is not among `members`.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

Queue = tuple[str, int]
"""Broker name and queue id; sorted like `org.apache.rocketmq.common.message.MessageQueue`."""

LOGICAL = "__syslo__"
"""What the broker of a static topic's queues begins with (MixAll.LOGICAL_QUEUE_MOCK_BROKER_PREFIX, 5.x)."""

StrategyName = Literal[
    "average", "average-by-circle", "consistent-hash", "by-config", "machine-room", "machine-room-nearby"
]

VIRTUAL_NODES = 10
"""Of each member on the ring of `AllocateMessageQueueConsistentHash`, which has no other default."""


def average(queues: Sequence[Queue], members: Sequence[str], member: str) -> tuple[Queue, ...]:
    """The queues of `member`: contiguous blocks, the first members one more where it doesn't divide.

    After `AllocateMessageQueueAveragely`.
    """
    ordered, ids = sorted(queues), sorted(members)
    index = ids.index(member)
    share, rest = divmod(len(ordered), len(ids))
    start = index * share + min(index, rest)
    return tuple(ordered[start : start + share + (1 if index < rest else 0)])


def average_by_circle(queues: Sequence[Queue], members: Sequence[str], member: str) -> tuple[Queue, ...]:
    """The queues of `member`: every n-th, from its own place on. After `AllocateMessageQueueAveragelyByCircle`."""
    ids = sorted(members)
    return tuple(sorted(queues)[ids.index(member) :: len(ids)])


def consistent_hash(
    queues: Sequence[Queue], members: Sequence[str], member: str, topic: str
) -> tuple[Queue, ...]:
    """The queues of `member`: those whose hash is followed by one of its virtual nodes on the ring.

    `topic` is the real one, because it is a part of the hash. After `AllocateMessageQueueConsistentHash`,
    `ConsistentHashRouter` and `MessageQueue.toString`.
    """
    ids = sorted(members)
    ids.index(member)
    # Two nodes in one place: the later one has it, as in the router's TreeMap.
    ring = {_md5_head(f"{item}-{number}"): item for item in ids for number in range(VIRTUAL_NODES)}
    places = sorted(ring)

    def owner(queue: Queue) -> str:
        text = f"MessageQueue [topic={topic}, brokerName={queue[0]}, queueId={queue[1]}]"
        return ring[places[bisect_left(places, _md5_head(text)) % len(places)]]

    return tuple(queue for queue in sorted(queues) if owner(queue) == member)


def _md5_head(text: str) -> int:
    """The first four bytes of the MD5, as in `ConsistentHashRouter.MD5Hash`."""
    return int.from_bytes(hashlib.md5(text.encode(), usedforsecurity=False).digest()[:4], "big")


def by_config(queues: Sequence[Queue], ids: Collection[int]) -> tuple[Queue, ...]:
    """The queues with these ids on every broker, whoever else is there. After `AllocateMessageQueueByConfig`."""
    return tuple(queue for queue in sorted(queues) if queue[1] in ids)


def machine_room(
    queues: Sequence[Queue], members: Sequence[str], member: str, rooms: Collection[str]
) -> tuple[Queue, ...]:
    """The queues of `member`: its block of those on brokers named `<room>@<name>`, of these rooms alone.

    After `AllocateMessageQueueByMachineRoom`: the remainder of the division is dealt out one by one at the end.
    Queues of brokers with any other name belong to nobody.
    """
    ids = sorted(members)
    index = ids.index(member)
    near = in_rooms(sorted(queues), rooms)
    share, rest = divmod(len(near), len(ids))
    own = near[index * share : (index + 1) * share]
    return (*own, near[share * len(ids) + index]) if index < rest else tuple(own)


def in_rooms(queues: Sequence[Queue], rooms: Collection[str]) -> list[Queue]:
    """Those on brokers named `<room>@<name>`, of these rooms."""
    return [queue for queue in queues if _is_in(queue[0].rstrip("@").split("@"), rooms)]


def _is_in(parts: list[str], rooms: Collection[str]) -> bool:
    # Java's split drops empty parts at the end.
    return len(parts) == 2 and parts[0] in rooms


def machine_room_nearby(queues: Sequence[Queue], members: Sequence[str], member: str) -> tuple[Queue, ...]:
    """The queues of `member`: its average of its own room's, and of each room's in which no member is.

    After `AllocateMachineRoomNearby` around averaging, with `room_of` as the resolver.
    """
    rooms = {room_of(item) for item in members}
    own_room = room_of(member)
    near = [queue for queue in queues if room_of(queue[0]) == own_room]
    own = list(average(near, [item for item in members if room_of(item) == own_room], member))
    for room in sorted({room_of(broker) for broker, _ in queues} - rooms):
        own += average([queue for queue in queues if room_of(queue[0]) == room], members, member)
    return tuple(sorted(own))


def room_of(name: str) -> str:
    """The machine room of a broker's name or a client id: what stands before its first `-`.

    RocketMQ leaves that to the user; this is the resolver of its own `AllocateMachineRoomNearByTest`.
    """
    return name.partition("-")[0]


@dataclass(frozen=True, slots=True)
class Strategies:
    """A client's strategies, where they may differ from Java's of the same name."""

    consistent_hash: Callable[[Sequence[Queue], Sequence[str], str, str], tuple[Queue, ...]] = consistent_hash
    machine_room: Callable[[Sequence[Queue], Sequence[str], str, Collection[str]], tuple[Queue, ...]] = (
        machine_room
    )
    machine_room_nearby: Callable[[Sequence[Queue], Sequence[str], str], tuple[Queue, ...]] = (
        machine_room_nearby
    )

    def share(
        self,
        strategy: StrategyName,
        queues: Sequence[Queue],
        members: Sequence[str],
        member: str,
        topic: str,
        *,
        ids: Collection[int],
        rooms: Collection[str],
    ) -> tuple[Queue, ...]:
        """The queues of `member` by this strategy, with the queue `ids` and `rooms` that it is configured with."""
        match strategy:
            case "average":
                return average(queues, members, member)
            case "average-by-circle":
                return average_by_circle(queues, members, member)
            case "consistent-hash":
                return self.consistent_hash(queues, members, member, topic)
            case "by-config":
                return by_config(queues, ids)
            case "machine-room":
                return self.machine_room(queues, members, member, rooms)
            case "machine-room-nearby":
                return self.machine_room_nearby(queues, members, member)


JAVA_STRATEGIES = Strategies()
