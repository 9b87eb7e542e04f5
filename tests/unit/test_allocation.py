from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.allocation import average

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
