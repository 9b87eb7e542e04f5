"""The result of an exact test."""

from typing import NamedTuple

ROUNDING = 1 + 1e-7
"""P-values, and likelihoods, that differ by less are the same apart from rounding; as in scipy's fisher_exact."""


class Significance(NamedTuple):
    """The two-sided p-value of a test."""

    p: float
    smallest: float
    """The smallest that these numbers of runs, and these ties, could have brought; 0: as small as you like."""
    exact: bool = True
    """Otherwise by the normal approximation."""
