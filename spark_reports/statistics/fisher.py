"""Fisher's exact test, with the smallest p that it could have had; `scipy.stats.fisher_exact` lacks that."""

import numpy as np
from scipy.stats import hypergeom

from rocketchaos.spark_reports.statistics.exact import ROUNDING, Significance


def fisher(successes: int, trials: int, other_successes: int, other_trials: int) -> Significance:
    """Whether two proportions are the same (R. A. Fisher, 1935; two-sided: all tables that are no likelier)."""
    total, hits = trials + other_trials, successes + other_successes
    least, most = max(0, hits - other_trials), min(hits, trials)
    likely = hypergeom.pmf(np.arange(least, most + 1), total, hits, trials)
    return Significance(
        _no_likelier(likely, likely[successes - least]),
        _no_likelier(likely, likely.min()),
    )


def _no_likelier(likely: np.ndarray, bound: float) -> float:
    return min(1.0, float(likely[likely <= bound * ROUNDING].sum()))
