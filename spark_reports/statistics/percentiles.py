"""Percentiles of what was counted in histograms, with intervals that know that values of one run go together.

The values of a run are alike: a slow machine makes all of them slow. An interval that took them for independent
would be too narrow, so runs are dealt into blocks, and how much more the blocks differ than chance would have it
says how many independent values the sample is worth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import binom, t

LEVEL = 0.95


def rank(share: float, total: int) -> int:
    """The place, from 1, of the least value that so large a share doesn't exceed."""
    return max(1, math.ceil(share * total - 1e-9))


@dataclass(frozen=True, slots=True)
class Percentile:
    """One percentile, and its 95 % interval."""

    value: float
    low: float | None
    """None: not known."""
    high: float | None
    """None: not known; there are too few values, or runs, to say that any is above it."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of values, by block of runs."""

    values: npt.NDArray[np.float64]
    """Ascending, each once."""
    counts: npt.NDArray[np.int64]
    """A row for each block that has any, a column for each value."""

    @classmethod
    def of(cls, counted: Iterable[tuple[int, float, int]]) -> Histogram:
        """From block, value and count; the same block and value may come several times."""
        rows = list(counted)
        blocks, block = np.unique([row[0] for row in rows], return_inverse=True)
        values, value = np.unique([row[1] for row in rows], return_inverse=True)
        counts = np.zeros((len(blocks), len(values)), dtype=np.int64)
        np.add.at(counts, (block, value), [row[2] for row in rows])
        return cls(values.astype(np.float64), counts)

    @property
    def total(self) -> int:
        """The number of values."""
        return int(self.counts.sum())

    def at_rank(self, rank: int) -> float:
        """The value that has this place in ascending order, from 1."""
        places = self.counts.sum(axis=0).cumsum()
        return float(self.values[int(np.searchsorted(places, rank))])

    def percentile(self, share: float) -> Percentile:
        """The least value that so large a share doesn't exceed; it is one of those that occur (`inverted_cdf`).

        The interval is that of order statistics (H. A. David and H. N. Nagaraja, Order Statistics, 2003, 7.1), for
        as many independent values as the sample is worth (E. L. Korn and B. I. Graubard, Confidence intervals for
        proportions with small expected number of positive counts estimated from survey data, 1998; inverted as
        R. S. Woodruff, Confidence intervals for medians and other position measures, 1952). Exact where runs have
        nothing to do with it; of less than two blocks nothing is known.

        Raises:
            ValueError: there are no values.
        """
        total = self.total
        if not total:
            raise ValueError("no values, no percentile")
        value = self.at_rank(rank(share, total))
        worth = self._worth(value)
        if worth is None:
            return Percentile(value, None, None)
        tail = (1 - LEVEL) / 2
        lower = int(binom.ppf(tail, worth, share))
        upper = int(binom.ppf(1 - tail, worth, share)) + 1
        low = self.at_rank(math.floor((lower - 1) / worth * total) + 1) if lower >= 1 else None
        high = self.at_rank(math.ceil(upper / worth * total)) if upper <= worth else None
        return Percentile(value, low, high)

    def _worth(self, value: float) -> int | None:
        """How many independent values say as much of the share that is at most this value; None: not known."""
        blocks, total = len(self.counts), self.total
        if blocks < 2:
            return None
        sizes = self.counts.sum(axis=1)
        below = self.counts[:, self.values <= value].sum(axis=1)
        share = below.sum() / total
        if share in (0.0, 1.0):
            # Nothing is beyond it, so that it can't be seen how blocks differ: each counts once at least.
            return blocks
        variance = blocks / (blocks - 1) * float(((below - share * sizes) ** 2).sum()) / total**2
        worth = total if variance == 0 else min(total, share * (1 - share) / variance)
        # That variance is itself estimated, from this many blocks.
        tail = (1 - LEVEL) / 2
        known = (t.ppf(tail, max(1, total - 1)) / t.ppf(tail, blocks - 1)) ** 2
        return max(1, math.floor(worth * float(known)))
