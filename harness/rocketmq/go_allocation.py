"""The strategies of rocketmq-client-go v2 that divide queues differently from Java's of the same name; pure.

After `consumer/strategy.go`, v2.1.2. `AllocateByAveragely` and `AllocateByAveragelyCircle` are as in Java.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Collection, Sequence

from rocketchaos.harness.rocketmq.allocation import (
    VIRTUAL_NODES,
    Queue,
    Strategies,
    average,
    in_rooms,
)


def consistent_hash(
    queues: Sequence[Queue], members: Sequence[str], member: str, topic: str
) -> tuple[Queue, ...]:
    """The queues of `member`: a ring of CRC-32, where Java's is of MD5. After stathat.com/c/consistent v1.0.0."""
    ring = {_crc(f"{number}{item}"): item for item in sorted(members) for number in range(VIRTUAL_NODES)}
    places = sorted(ring)

    def owner(queue: Queue) -> str:
        text = f"MessageQueue [topic={topic}, brokerName={queue[0]}, queueId={queue[1]}]"
        return ring[places[bisect_right(places, _crc(text)) % len(places)]]

    return tuple(queue for queue in sorted(queues) if owner(queue) == member)


def _crc(text: str) -> int:
    return zlib.crc32(text.encode())


def machine_room(
    queues: Sequence[Queue], members: Sequence[str], member: str, rooms: Collection[str]
) -> tuple[Queue, ...]:
    """The queues of `member`: as many as in Java, but its block is of all queues, not of its rooms."""
    ordered, ids = sorted(queues), sorted(members)
    index = ids.index(member)
    near = in_rooms(ordered, rooms)
    share, rest = divmod(len(near), len(ids))
    own = tuple(ordered[index * share : (index + 1) * share])
    return (*own, near[share * len(ids) + index]) if index < rest else own


GO_STRATEGIES = Strategies(
    consistent_hash=consistent_hash,
    machine_room=machine_room,
    # AllocateByMachineNearby is a "TODO" that averages.
    machine_room_nearby=average,
)
