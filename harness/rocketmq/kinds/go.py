"""rocketmq-client-go v2.

Read in its source, v2.1.2. Its client id is `address@instance`, where nobody can set the address: in a group with
Java members it sorts by that.
"""

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
from rocketchaos.harness.rocketmq.client_traits import Api, ClientKind, ClientTimer, by_api


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


_PROPERTIES = frozenset({"maxReconsumeTimes", "consumeMessageBatchMaxSize", "pullInterval"})
_NEWER = frozenset({"consumeThreadMin", "consumeThreadMax", "consumeTimestamp", "pullThresholdForQueue"})
# There is no hook behind its filter.
# A listener's panic ends the whole process: nothing recovers it (primitive.WithRecover without a PanicHandler).
_UNTIL_2_1_1 = {"counts_pulls": False, "properties": _PROPERTIES, "survives_panics": frozenset()}
# A held pull that ends with PULL_NOT_FOUND tells how far the broker has skipped: only 2.1.1 takes that over
# (pushConsumer.pullMessage: PullNoNewMsg).
_UNTIL_2_1_0 = {**_UNTIL_2_1_1, "commits_skipped": False, "suspends": False}

GO = ClientKind(
    "go",
    "rocketmq-client-go",
    "go",
    by_api(
        Api(
            "push",
            "PushConsumer",
            # For 10 s after a topic's first statistics it answers 307 with success and no body: the rate of one
            # sample is no number, which its JSON doesn't take (computeStatsData, ConsumerRunningInfo.Encode).
            asks_process=True,
            process_tells_all=True,
            suspends=True,
            strategies=GO_STRATEGIES,
            survives_panics=frozenset({"concurrent"}),
            properties=_PROPERTIES | _NEWER,
            lacks=(
                # There is no option for it.
                "post_subscription_when_pull",
                "pull_retry_after",
                "filter_class",
                "heartbeat_v2",
                # The proxy refuses its QUERY_CONSUMER_OFFSET: "Request doesn't have field bname" (5.5.0).
                "through",
            ),
        )
    ),
    timers=(
        ClientTimer("rebalance", 20_000),
        ClientTimer("heartbeat", 30_000),
        ClientTimer("persist-offsets", 5_000),
        ClientTimer("first-persist", 10_000),
        ClientTimer("route-poll", 30_000),
        ClientTimer("pull-retry", 3_000),
    ),
    version="2.1.2",
    older={"2.1.1": _UNTIL_2_1_1, "2.1.0": _UNTIL_2_1_0, "2.0.0": _UNTIL_2_1_0},
    # NewHashQueueSelector: FNV-1a (32 bits) of the key's UTF-8, modulo the queues. Java's SelectMessageQueueByHash
    # takes String.hashCode: of a key in ASCII the lowest bits of the two always differ.
    # Messages of a batch have no UNIQ_KEY (encodeBatch, MarshalMessageBatch): consumers get the offset's id.
    sends=frozenset({"hash_key", "async", "delay_level", "batch", "oneway"}),
    namespaces=True,
    # WithRetry, and the limit of the context of each sending.
    producer_properties=frozenset({"retryTimesWhenSendFailed", "sendMsgTimeout"}),
    tells_route=False,
    signs=True,
    fails_by=frozenset({"status", "retry-later", "exception"}),
    compressed=False,
)
