from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from rocketchaos.spark_reports.statistics.exact import Significance
from rocketchaos.spark_reports.statistics.tarone import tarone_holm


def test_agrees_with_statsmodels_where_every_p_is_possible() -> None:
    ps = np.random.default_rng(1).random(40) ** 3
    assert tarone_holm([Significance(p, 0.0) for p in ps]) == pytest.approx(
        multipletests(ps, method="holm")[1]
    )


def test_tests_that_could_not_alarm_take_nothing_from_the_others() -> None:
    hopeless = [Significance(1.0, 1.0)] * 500 + [Significance(0.1, 0.1)] * 500
    assert tarone_holm([Significance(0.001, 0.0005), *hopeless])[0] == pytest.approx(0.001)


def test_ps_that_are_equal_but_for_rounding_are_rivals() -> None:
    p = 2 / 252
    tests = [Significance(p, p), Significance(p * (1 + 1e-15), p * (1 + 1e-15))]
    assert tarone_holm(tests) == pytest.approx([2 * p, 2 * p])


def test_equal_ps_and_none() -> None:
    assert tarone_holm([]) == []
    assert tarone_holm([Significance(0.02, 0.0), Significance(0.02, 0.0)]) == pytest.approx([0.04, 0.04])
