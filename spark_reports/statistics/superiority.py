"""Whether a measured condition is higher where a run went wrong: the probability of superiority, from bins.

For a run that missed and one that hit, of the same cell, it is the chance that the first has the higher value,
equal ones counted half: the area under the ROC curve. 0.5: the condition has nothing to do with it. Neither scipy
nor statsmodels has van Elteren's test, or this interval for strata.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from rocketchaos.harness.core.intervals import Z_95

DRAWS = 9999
MANY = 50
"""From this many misses and hits on, the normal approximation of the p-value is good enough, and far faster."""
_FINEST = 1 / (DRAWS + 1)
_FIRST_LOOK = 200
_ENOUGH_AS_FAR = 20


@dataclass(frozen=True, slots=True)
class Stratum:
    """One cell: counts per bin, in rising order of the condition."""

    misses: tuple[int, ...]
    hits: tuple[int, ...]

    @property
    def pairs(self) -> int:
        """The number of pairs of a miss and a hit."""
        return sum(self.misses) * sum(self.hits)

    @property
    def weight(self) -> float:
        """P. van Elteren, On the combination of independent two-sample tests of Wilcoxon (1960)."""
        return self.pairs / (sum(self.misses) + sum(self.hits) + 1)


@dataclass(frozen=True, slots=True)
class Superiority:
    """The result over all strata."""

    auc: float
    low: float
    high: float
    """95 %."""
    p: float
    misses: int
    hits: int


def superiority(
    strata: Sequence[Stratum], rng: np.random.Generator, draws: int = DRAWS
) -> Superiority | None:
    """The probability of superiority over cells that are each compared within themselves; None: no pairs.

    The interval is that of R. G. Newcombe, Confidence intervals for an effect size measure based on the
    Mann-Whitney statistic, part 2 (2006), method 5, for strata: it neither collapses nor leaves [0, 1] at the
    edges. The p-value is two-sided: where there are few misses or few hits, they are dealt over the bins of their
    cell at random, up to `draws` times; otherwise it is van Elteren's, with the variance corrected for ties.
    """
    whole = [stratum for stratum in strata if stratum.pairs]
    if not whole:
        return None
    weights = np.array([stratum.weight for stratum in whole])
    weights = weights / weights.sum()
    auc = float(
        sum(
            w * _auc(np.array([stratum.misses]), stratum)[0]
            for w, stratum in zip(weights, whole, strict=True)
        )
    )
    misses, hits = sum(sum(stratum.misses) for stratum in whole), sum(sum(stratum.hits) for stratum in whole)
    if min(misses, hits) >= MANY:
        error = math.sqrt(
            sum(w * w * _null_variance(stratum) for w, stratum in zip(weights, whole, strict=True))
        )
        p = float(2 * norm.sf(abs(auc - 0.5) / error)) if error else 1.0
    else:
        p = _dealt(abs(auc - 0.5), whole, weights, rng, draws)
    low, high = _interval(auc, whole, [float(weight) for weight in weights])
    return Superiority(auc, low, high, min(1.0, p), misses, hits)


def superiorities(
    each: Sequence[Sequence[Stratum]], rng: np.random.Generator, level: float
) -> list[Superiority | None]:
    """Each by itself, with p-values fine enough to stand at this level after Holm.

    No p-value of `DRAWS` is less than 1 in 10,000: too much for any of more than 500. Where there are more, those
    up to which no draw came are drawn again, and so often that they can stand. The new p-value counts alone, so
    that choosing them by the old one makes none too small.
    """
    found = [superiority(strata, rng) for strata in each]
    tested = sum(item is not None for item in found)
    if _FINEST * tested <= level:
        return found
    often = math.ceil(tested / level)
    finer = [
        superiority(strata, rng, often) if item is not None and item.p <= _FINEST else None
        for strata, item in zip(each, found, strict=True)
    ]
    return [better or item for better, item in zip(finer, found, strict=True)]


def _null_variance(stratum: Stratum) -> float:
    """The variance of the share of pairs won, if the condition has no effect."""
    bins = np.array(stratum.misses) + np.array(stratum.hits)
    total = float(bins.sum())
    ties = float((bins.astype(float) ** 3 - bins).sum())
    return ((total + 1) - ties / (total * (total - 1))) / (12 * stratum.pairs)


def _dealt(
    distance: float, strata: Sequence[Stratum], weights: np.ndarray, rng: np.random.Generator, draws: int
) -> float:
    """How often chance leads as far from one half, in steps, until that is known well enough."""
    as_far = drawn = 0
    while drawn < draws and as_far < _ENOUGH_AS_FAR:
        count = min(_FIRST_LOOK if drawn == 0 else 2000, draws - drawn)
        aucs = np.zeros(count)
        for weight, stratum in zip(weights, strata, strict=True):
            bins = np.array(stratum.misses) + np.array(stratum.hits)
            dealt = rng.multivariate_hypergeometric(bins, sum(stratum.misses), size=count, method="marginals")
            aucs += weight * _auc(dealt, stratum)
        as_far += int((np.abs(aucs - 0.5) >= distance - 1e-12).sum())
        drawn += count
    return (as_far + 1) / (drawn + 1)


def _auc(misses: np.ndarray, stratum: Stratum) -> np.ndarray:
    """Of each row of counts of misses, with the same bins."""
    hits = (np.array(stratum.misses) + np.array(stratum.hits)) - misses
    below = np.cumsum(hits, axis=1) - hits
    wins: np.ndarray = (misses * (below + hits / 2)).sum(axis=1)
    return wins / stratum.pairs


def _interval(auc: float, strata: Sequence[Stratum], weights: Sequence[float]) -> tuple[float, float]:
    def variance(theta: float) -> float:
        total = 0.0
        for weight, stratum in zip(weights, strata, strict=True):
            misses, hits = sum(stratum.misses), sum(stratum.hits)
            both = (misses + hits) / 2 - 1
            inside = 1 + both * (1 - theta) / (2 - theta) + both * theta / (1 + theta)
            total += weight**2 * theta * (1 - theta) * inside / (misses * hits)
        return total

    def beyond(theta: float) -> float:
        return abs(auc - theta) - Z_95 * math.sqrt(variance(theta))

    # At the estimate itself, where that is 0 or 1, both sides are 0: the bound is the other place where they meet.
    near = 1e-9
    low = 0.0 if auc <= near else float(brentq(beyond, 0.0, auc - near))
    high = 1.0 if auc >= 1 - near else float(brentq(beyond, auc + near, 1.0))
    return low, high
