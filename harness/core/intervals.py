"""Intervals for what was counted."""

import math

Z_95 = 1.959963984540054


def wilson_interval(successes: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """The 95 % interval of a proportion, good for few trials and for proportions near 0 and 1.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference (1927). The same as
    `scipy.stats.binomtest(…).proportion_ci(method="wilson")`, without the second that loading scipy takes.

    Raises:
        ValueError: there are no trials, or more successes than trials.
    """
    if trials <= 0 or not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials} is no proportion")
    share = successes / trials
    denominator = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / denominator
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / denominator
    # The bounds are exact where nothing, or everything, succeeded; rounding must not hide that.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return low, high
