from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from rocketchaos.spark_reports.statistics.multiple import benjamini_hochberg, holm


def test_they_are_those_of_statsmodels() -> None:
    rng = np.random.default_rng(0)
    for count in (1, 2, 17):
        p_values = list(rng.random(count) ** 3)
        assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))
        assert benjamini_hochberg(p_values) == pytest.approx(
            list(multipletests(p_values, method="fdr_bh")[1])
        )


def test_no_test_gives_no_p_value() -> None:
    assert holm([]) == benjamini_hochberg([]) == []
