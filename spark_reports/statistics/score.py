"""How sure it is that nearly all runs end alike, from the runs there were: a Bayesian score of a proportion."""

from scipy.stats import beta

JEFFREYS = 0.5
"""Both parameters of Jeffreys' prior of a proportion, Beta(1/2, 1/2): it is the same however the rate is
expressed, and its intervals cover close to the stated rate (Brown, Cai, DasGupta, Interval estimation for a
binomial proportion, 2001)."""

STEADY_RATE = 0.9
"""A cell is steady where more than this share of its runs ends alike. With 95 % certainty that takes 18 runs
without exception, less than the 20 repeats of one evening; 0.99 would take 191, and hardly any cell had them."""

CERTAIN = 0.95
"""From here on a verdict needs no question mark."""


def chance_above(rate: float, hits: int, runs: int) -> float:
    """Posterior probability that the true share of hits is above `rate`.

    Raises:
        ValueError: there are fewer runs than hits, or none.
    """
    if not 0 <= hits <= runs or runs == 0:
        raise ValueError(f"{hits} of {runs} is no proportion")
    return float(beta.sf(rate, hits + JEFFREYS, runs - hits + JEFFREYS))


def alike_runs_needed(rate: float = STEADY_RATE, certain: float = CERTAIN) -> int:
    """How many runs that all end alike make it that certain that more than `rate` of all do."""
    runs = 1
    while chance_above(rate, runs, runs) < certain:
        runs += 1
    return runs
