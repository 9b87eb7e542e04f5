"""Whether a measured condition is higher where a run went wrong: the probability of superiority, from binned counts.

For a run that missed and one that hit, of the same cell, it is the chance that the first has the higher value, equal
ones counted half: the area under the ROC curve. 0.5: the condition has nothing to do with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from harness.statistics import Z_95

DRAWS = 9999


@dataclass(frozen=True, slots=True)
class Stratum:
    """One cell: counts per bin, in rising order of the condition."""

    misses: tuple[int, ...]
    hits: tuple[int, ...]

    @property
    def pairs(self) -> int:
        """So many pairs of a miss and a hit."""
        return sum(self.misses) * sum(self.hits)

    @property
    def weight(self) -> float:
        """P. van Elteren, On the combination of independent two-sample tests of Wilcoxon (1960)."""
        return self.pairs / (sum(self.misses) + sum(self.hits) + 1)


@dataclass(frozen=True, slots=True)
class Superiority:
    """What the strata say together."""

    auc: float
    low: float
    high: float
    """95 %."""
    p: float
    misses: int
    hits: int


def superiority(strata: Sequence[Stratum], rng: np.random.Generator) -> Superiority | None:
    """The probability of superiority over cells that are each compared within themselves; None: there are no pairs.

    The interval is that of R. G. Newcombe, Confidence intervals for an effect size measure based on the Mann-Whitney
    statistic, part 2 (2006), method 5, for strata: it neither collapses nor leaves [0, 1] at the edges. The p-value
    is two-sided and needs no approximation: the misses are dealt over the bins of their cell at random, 9999 times.
    """
    whole = [one for one in strata if one.pairs]
    if not whole:
        return None
    weights = np.array([one.weight for one in whole])
    weights = weights / weights.sum()
    auc = float(sum(w * _auc(np.array([one.misses]), one)[0] for w, one in zip(weights, whole, strict=True)))
    drawn = np.zeros(DRAWS)
    for weight, one in zip(weights, whole, strict=True):
        bins = np.array(one.misses) + np.array(one.hits)
        dealt = rng.multivariate_hypergeometric(bins, sum(one.misses), size=DRAWS, method="marginals")
        drawn += weight * _auc(dealt, one)
    as_far = int((np.abs(drawn - 0.5) >= abs(auc - 0.5) - 1e-12).sum())
    low, high = _interval(auc, whole, [float(weight) for weight in weights])
    return Superiority(
        auc,
        low,
        high,
        (as_far + 1) / (DRAWS + 1),
        sum(sum(one.misses) for one in whole),
        sum(sum(one.hits) for one in whole),
    )


def _auc(misses: np.ndarray, stratum: Stratum) -> np.ndarray:
    """Of each row of counts of misses, with the same bins."""
    hits = (np.array(stratum.misses) + np.array(stratum.hits)) - misses
    below = np.cumsum(hits, axis=1) - hits
    wins: np.ndarray = (misses * (below + hits / 2)).sum(axis=1)
    return wins / stratum.pairs


def _interval(auc: float, strata: Sequence[Stratum], weights: Sequence[float]) -> tuple[float, float]:
    def variance(theta: float) -> float:
        total = 0.0
        for weight, one in zip(weights, strata, strict=True):
            misses, hits = sum(one.misses), sum(one.hits)
            both = (misses + hits) / 2 - 1
            inside = 1 + both * (1 - theta) / (2 - theta) + both * theta / (1 + theta)
            total += weight**2 * theta * (1 - theta) * inside / (misses * hits)
        return total

    def beyond(theta: float) -> float:
        return abs(auc - theta) - Z_95 * math.sqrt(variance(theta))

    tiny = 1e-9
    low = 0.0 if auc <= tiny else float(brentq(beyond, 0.0, auc))
    high = 1.0 if auc >= 1 - tiny else float(brentq(beyond, auc, 1.0))
    return low, high
