"""Shards share a night."""

from __future__ import annotations

import pytest

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.nightly.shard import Deal, Shard, shard_of
from tests.unit.nightly.nights import FakeRunner, always, played
from tests.unit.nightly.stories import quiet


def test_shards_share_all_scenarios_and_have_as_much_to_do() -> None:
    lengths = [float(5 + 60 * (number % 7 == 0)) for number in range(100)]
    deals = [Deal(shard_of(f"{index}/3")) for index in (1, 2, 3)]
    taken = [[deal.is_own(length) for deal in deals] for length in lengths]
    assert all(sum(item) == 1 for item in taken)
    loads = [
        sum(length for length, own in zip(lengths, taken, strict=True) if own[index]) for index in range(3)
    ]
    assert max(loads) - min(loads) <= 65


def test_shards_of_a_night_play_different_scenarios() -> None:
    runners = [FakeRunner(always(quiet()), always(None)) for _ in range(2)]
    for index, runner in enumerate(runners, 1):
        played(runner, shard=Shard(index, 2))
    first, second = ({*runner.jobs} for runner in runners)
    assert first
    assert second
    assert not first & second


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageProblem, match="is no shard"):
        shard_of(text)
