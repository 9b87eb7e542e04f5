from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketchaos.harness.core.intervals import wilson_interval


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    # Values of R's binom.confint(method = "wilson").
    [
        (50, 50, 0.9286524, 1.0),
        (0, 50, 0.0, 0.0713476),
        (5, 10, 0.2365931, 0.7634069),
        (31, 32, 0.8425753, 0.9944637),
    ],
)
def test_known_values(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=1e-4)


@given(st.integers(1, 2000).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials))))
def test_the_share_lies_within(pair: tuple[int, int]) -> None:
    low, high = wilson_interval(*pair)
    assert 0 <= low <= pair[0] / pair[1] <= high <= 1


@pytest.mark.parametrize("pair", [(0, 0), (2, 1), (-1, 3)])
def test_what_is_no_proportion_is_refused(pair: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no proportion"):
        wilson_interval(*pair)
