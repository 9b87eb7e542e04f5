"""Whether a proportion rises or falls with time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import mannwhitneyu, norm


@dataclass(frozen=True, slots=True)
class Trend:
    """The outcome of the test."""

    p: float
    """Two-sided; 1 where there is nothing to tell."""
    direction: int
    """1: hits become more, -1: fewer, 0: neither."""


def cochran_armitage(runs: Sequence[int], hits: Sequence[int]) -> Trend:
    """Test of a linear trend of the share of hits over blocks of runs in order of time.

    The score of a block is the middle of the places of its runs. Where every block is one run, this is the rank
    sum test of the places of hits against those of misses, which for few of either is taken exactly.

    P. Armitage, Tests for linear trends in proportions and frequencies (1955). For larger blocks
    `Table.test_ordinal_association` of statsmodels gives the same, but needs pandas.
    """
    sizes, good = np.asarray(runs, dtype=float), np.asarray(hits, dtype=float)
    total, share = float(sizes.sum()), 0.0
    if total:
        share = float(good.sum()) / total
    if len(sizes) < 2 or share in (0.0, 1.0):
        return Trend(1.0, 0)
    middles = np.cumsum(sizes) - (sizes - 1) / 2
    centred = middles - float((sizes * middles).sum()) / total
    statistic = float((centred * good).sum())
    # The variance given the number of hits, as in a hypergeometric urn.
    variance = share * (1 - share) * float((sizes * centred**2).sum()) * total / (total - 1)
    if variance <= 0 or statistic == 0:
        return Trend(1.0, 0)
    if total == len(sizes):
        p = float(mannwhitneyu(middles[good > 0], middles[good == 0]).pvalue)
    else:
        p = float(2 * norm.sf(abs(statistic) / math.sqrt(variance)))
    return Trend(min(1.0, p), 1 if statistic > 0 else -1)
