"""The strategies as functions; that RocketMQ's classes give the same is tested in tests/embedded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketchaos.harness.language.consumer_spec import Consumer
from rocketchaos.harness.rocketmq.allocation import (
    Queue,
    average,
    average_by_circle,
    by_config,
    consistent_hash,
    machine_room,
    machine_room_nearby,
)

FOUR = [("broker-a", index) for index in range(4)]


@pytest.mark.parametrize(
    ("members", "shares"),
    [
        ("ab", [2, 2]),
        ("abc", [2, 1, 1]),  # claim F24
        ("abcde", [1, 1, 1, 1, 0]),  # claim F24
        ("a", [4]),
    ],
)
def test_shares_of_four_queues(members: str, shares: list[int]) -> None:
    assert [len(average(FOUR, list(members), member)) for member in members] == shares


def test_the_smaller_client_id_gets_the_first_queues() -> None:
    assert average(FOUR, ["b@1", "a@1"], "a@1") == (("broker-a", 0), ("broker-a", 1))
    assert average(FOUR, ["b@1", "a@1"], "b@1") == (("broker-a", 2), ("broker-a", 3))


def test_two_brokers_are_sorted_by_name_first() -> None:
    queues = [(broker, index) for index in range(2) for broker in ("broker-b", "broker-a")]
    assert average(queues, ["a", "b"], "a") == (("broker-a", 0), ("broker-a", 1))


def test_a_stranger_has_no_share() -> None:
    with pytest.raises(ValueError, match="is not in list"):
        average(FOUR, ["a"], "b")


@given(
    queues=st.sets(st.tuples(st.sampled_from(["x", "y"]), st.integers(0, 20)), max_size=20),
    members=st.sets(st.text(min_size=1, max_size=3), min_size=1, max_size=8),
)
def test_every_queue_has_exactly_one_owner(queues: set[tuple[str, int]], members: set[str]) -> None:
    shares = [average(list(queues), list(members), member) for member in members]
    assert sorted(queue for share in shares for queue in share) == sorted(queues)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


QUEUES = st.sets(
    st.tuples(st.sampled_from(["x-1", "y-1", "y@z"]), st.integers(0, 20)), min_size=1, max_size=20
)
IDS = st.sets(st.from_regex(r"[a-z]{1,3}(-[a-z])?@t", fullmatch=True), min_size=1, max_size=8)
PARTITIONING = ["average", "average-by-circle", "consistent-hash", "machine-room-nearby"]


def shares(queues: set[Queue], members: set[str], **fields: object) -> list[tuple[Queue, ...]]:
    consumer = Consumer.model_validate({"group": "g", "subscribe": {"orders": "*"}, **fields})
    return [consumer.share(list(queues), list(members), member, "orders-1") for member in sorted(members)]


@pytest.mark.parametrize("strategy", PARTITIONING)
@given(queues=QUEUES, members=IDS)
def test_a_strategy_gives_every_queue_to_exactly_one_member(
    strategy: str, queues: set[Queue], members: set[str]
) -> None:
    given_out = [queue for share in shares(queues, members, strategy=strategy) for queue in share]
    assert sorted(given_out) == sorted(queues)


@given(queues=QUEUES, members=IDS)
def test_a_machine_room_leaves_all_others_queues_alone(queues: set[Queue], members: set[str]) -> None:
    given_out = [
        queue for share in shares(queues, members, strategy="machine-room", rooms="y") for queue in share
    ]
    assert sorted(given_out) == sorted(queue for queue in queues if queue[0] == "y@z")


@given(queues=QUEUES, members=IDS)
def test_broadcasting_gives_everything_to_everybody(queues: set[Queue], members: set[str]) -> None:
    assert set(shares(queues, members, model="broadcasting")) == {tuple(sorted(queues))}


def test_by_circle_every_nth() -> None:
    assert average_by_circle(FOUR, ["b", "a", "c"], "a") == (("broker-a", 0), ("broker-a", 3))
    assert average_by_circle(FOUR, ["b", "a", "c"], "c") == (("broker-a", 2),)
    assert average_by_circle(FOUR, list("abcde"), "e") == ()


def test_a_ring_whose_places_depend_on_the_topic() -> None:
    # As RocketMQ 4.9.4 and 5.5.0 have it.
    eight, ids = [("broker-a", number) for number in range(8)], ["a@t", "b@t", "c@t"]
    given_out = {
        member: [number for _, number in consistent_hash(eight, ids, member, "orders")] for member in ids
    }
    assert given_out == {"a@t": [2, 4], "b@t": [3], "c@t": [0, 1, 5, 6, 7]}
    assert any(
        consistent_hash(eight, ids, member, "bills") != consistent_hash(eight, ids, member, "orders")
        for member in ids
    )


def test_by_config_whoever_is_there() -> None:
    two = [*FOUR, ("broker-b", 1)]
    assert by_config(two, [1, 3, 9]) == (("broker-a", 1), ("broker-a", 3), ("broker-b", 1))


def test_machine_rooms_by_the_names_of_brokers() -> None:
    queues = [(broker, number) for broker in ("east@a", "west@b", "east") for number in range(3)]
    own = [machine_room(queues, ["m", "n"], member, ["east"]) for member in "mn"]
    # One each, and what doesn't divide to the first.
    assert own == [(("east@a", 0), ("east@a", 2)), (("east@a", 1),)]


def test_nearby_a_room_without_members_is_everybodys() -> None:
    queues = [(broker, number) for broker in ("east-a", "west-b") for number in range(2)]
    assert machine_room_nearby(queues, ["east-1", "west-1"], "east-1") == (("east-a", 0), ("east-a", 1))
    assert machine_room_nearby(queues, ["east-1", "east-2"], "east-2") == (("east-a", 1), ("west-b", 1))


@pytest.mark.parametrize("strategy", [*PARTITIONING, "machine-room"])
def test_a_stranger_has_no_share_of_any(strategy: str) -> None:
    rooms = {"rooms": ["east"]} if strategy == "machine-room" else {}
    consumer = Consumer.model_validate({"group": "g", "subscribe": {"o": "*"}, "strategy": strategy, **rooms})
    with pytest.raises(ValueError, match="is not in list"):
        consumer.share(FOUR, ["a"], "b", "o")
