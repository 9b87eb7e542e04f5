"""How the Go client's strategies divide queues, where Java's of the same name do it otherwise.

The owners by consistent hash were computed by stathat.com/c/consistent v1.0.0 itself.
"""

from __future__ import annotations

from rocketchaos.harness.language.consumer_spec import Consumer
from rocketchaos.harness.rocketmq import allocation
from rocketchaos.harness.rocketmq.kinds import go

QUEUES = [("broker-a", number) for number in range(8)]
IDS = ["10.0.0.1@a-t", "b@t"]
OWNERS = [IDS[0], IDS[1], IDS[0], IDS[1], IDS[0], IDS[0], IDS[0], IDS[1]]


def test_its_consistent_hash_is_another_ring_than_java_s() -> None:
    for member in IDS:
        owned = [QUEUES[number] for number, owner in enumerate(OWNERS) if owner == member]
        assert list(go.consistent_hash(QUEUES, IDS, member, "orders-t")) == owned
        assert owned != list(allocation.consistent_hash(QUEUES, IDS, member, "orders-t"))


def test_its_machine_room_counts_its_rooms_and_takes_any() -> None:
    queues = [("far@a", 0), ("far@a", 1), ("near@b", 0), ("near@b", 1)]
    assert allocation.machine_room(queues, ["x"], "x", ["near"]) == (("near@b", 0), ("near@b", 1))
    assert go.machine_room(queues, ["x"], "x", ["near"]) == (("far@a", 0), ("far@a", 1))


def test_a_consumer_s_share_is_by_its_own_client() -> None:
    def share(client: str, strategy: str) -> tuple[allocation.Queue, ...]:
        found = {"group": "g", "client": client, "subscribe": {"orders": "*"}, "strategy": strategy}
        return Consumer.model_validate(found).share(QUEUES, IDS, IDS[0], "orders-t")

    assert share("go", "consistent-hash") != share("java", "consistent-hash")
    for strategy in ("average", "average-by-circle"):
        assert share("go", strategy) == share("java", strategy)
    rooms = [("10.0.0.1@a", 0), ("elsewhere-b", 0)]
    assert go.GO_STRATEGIES.machine_room_nearby(rooms, IDS, IDS[0]) == (("10.0.0.1@a", 0),)
