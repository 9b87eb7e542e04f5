"""The statistical methods of the reports: what each answers, how to read it, how sure it is, and its source.

Tables and figures name their methods by id. A page links to the entry of each, in `methods.html` of the same
folder; the documentation has the same as `docs/statistics.md`. A new method is registered here, with a picture in
`method_pictures` and a simulation in `tests/unit/spark_reports/test_rates.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Method:
    """One method, for readers without statistics."""

    id: str
    """Its anchor: `wilson`."""
    name: str
    """`Wilson's interval`."""
    answers: str
    """The question that it answers."""
    reading: str
    """How to read the result, and how sure it is."""
    source: str
    """The paper, and the place in the code."""


_ALL = (
    Method(
        "wilson",
        "Wilson's interval",
        "How large is the share of all runs, when only some were made?",
        "17 of 20 runs ended as expected: the share is 0.85, and the interval 0.64 to 0.95. If you repeat "
        "such nights, the interval contains the true share in 95 of 100 cases. Few runs make it wide. It "
        "holds for one share, and is not corrected for the number of rows.",
        "E. B. Wilson, Probable inference (1927); `harness.core.intervals`.",
    ),
    Method(
        "jeffreys",
        "Jeffreys' posterior",
        "Is this cell steady: do more than 90 % of all its runs end alike?",
        "`p_steady` is the chance of that, given the runs so far and no other knowledge. 18 runs without an "
        "exception give 95 %. Below that the verdict has a question mark, and `more_runs_needed` says how "
        "many runs are missing.",
        "L. D. Brown, T. T. Cai, A. DasGupta, Interval estimation for a binomial proportion (2001); "
        "`spark_reports.statistics.score`.",
    ),
    Method(
        "change-points",
        "Change points",
        "Since when do the runs of a cell end differently?",
        "The row of runs is cut where the shares on both sides differ most, and each part again. p is the "
        "chance that the same ends in a random order give an equally good cut. Up to 200 runs it is counted "
        "exactly, beyond that by shuffled blocks of runs.",
        "D. V. Hinkley, E. A. Hinkley, Inference about the change-point in a sequence of binomial variables "
        "(1970); `spark_reports.statistics.change_points`.",
    ),
    Method(
        "trend",
        "Cochran and Armitage's trend test",
        "Does a cell become slowly better or worse?",
        "p is the chance that a cell without a trend shows one at least as clear, in either direction.",
        "P. Armitage, Tests for linear trends in proportions and frequencies (1955); "
        "`spark_reports.statistics.trend`.",
    ),
    Method(
        "benjamini-hochberg",
        "Benjamini and Hochberg's correction",
        "Of many cells some alarm by chance: which alarms stay?",
        "At most one of twenty alarms that stay is false, on average. If nothing at all is wrong, a report "
        "has an alarm in one of twenty cases. Used for changes and trends, because a false one costs only a "
        "look.",
        "Y. Benjamini, Y. Hochberg, Controlling the false discovery rate (1995); "
        "`spark_reports.statistics.multiple`.",
    ),
    Method(
        "tarone-holm",
        "Holm's correction, with Tarone's exclusion",
        "Of many comparisons some differ by chance: which differences stay?",
        "A report in which nothing differs names a difference in at most one of twenty cases, however many "
        "rows it has. Comparisons with too few runs to ever alarm don't count, so that they take nothing "
        "from the others.",
        "S. Holm, A simple sequentially rejective multiple test procedure (1979); R. E. Tarone, A modified "
        "Bonferroni method for discrete data (1990); `spark_reports.statistics.tarone`.",
    ),
    Method(
        "fisher",
        "Fisher's exact test",
        "Do two sides differ in a share, as outcomes before and after an update?",
        "p is the chance that two equal sides give a table at least as unlikely. It is exact for any number "
        "of runs.",
        "R. A. Fisher, The logic of inductive inference (1935); `spark_reports.statistics.fisher`.",
    ),
    Method(
        "newcombe",
        "Newcombe's interval of a difference",
        "By how much do two shares differ?",
        "The difference, and 95 % limits around it. If 0 lies within them, the runs can't tell the sides "
        "apart.",
        "R. G. Newcombe, Interval estimation for the difference between independent proportions (1998), "
        "method 10; `spark_reports.statistics.differences`.",
    ),
    Method(
        "bounded-mean",
        "Interval of a bounded mean",
        "How many of a run's messages have this fate, on average?",
        "Runs that are all alike leave room for other runs: 0 lost messages in 3 of 3 runs don't prove that "
        "none are ever lost. The interval covers the true mean in at least 95 of 100 cases, also if a fate "
        "is rare.",
        "M. P. Fay, M. A. Proschan, E. Brittain, Combining one-sample confidence procedures (2015); "
        "`spark_reports.statistics.bounded_mean`.",
    ),
    Method(
        "rank-test",
        "Rank-sum test",
        "Are the values of one side larger than those of the other, as delivery times?",
        "p is the chance that two equal sides are sorted at least as unevenly. It is exact, also with equal "
        "values, as long as the ways can be counted.",
        "F. Wilcoxon (1945), H. B. Mann, D. R. Whitney (1947); `spark_reports.statistics.rank_sum`.",
    ),
    Method(
        "cliffs-delta",
        "Cliff's delta",
        "How much larger are the values of one side?",
        "The share of pairs in which the first side is larger, minus the share in which it is smaller: 1 "
        "means always larger, 0 no difference, -1 always smaller. The limits are Newcombe's, 95 %.",
        "N. Cliff, Dominance statistics (1993); `spark_reports.statistics.cliffs_delta`.",
    ),
    Method(
        "superiority",
        "Probability of superiority",
        "Is a condition, such as load, higher in runs that went wrong?",
        "The chance that a run that went wrong had the higher value than a good run of the same cell. 0.5 "
        "means that the condition has nothing to do with it. Cells are compared only with themselves.",
        "P. van Elteren, On the combination of independent two-sample tests of Wilcoxon (1960); R. G. "
        "Newcombe, Confidence intervals for an effect size measure, part 2 (2006); "
        "`spark_reports.statistics.superiority`.",
    ),
    Method(
        "percentiles",
        "Percentiles with limits",
        "How long does a delivery take at most, in 99 of 100 cases?",
        "The limits allow for values of one run being alike: 1,000 values of 10 slow runs say less than "
        "1,000 values of 1,000 runs. If an upper limit is missing, there are too few runs to know it.",
        "Order statistics with a design effect; `spark_reports.statistics.percentiles`.",
    ),
)

METHODS: Mapping[str, Method] = {method.id: method for method in _ALL}
"""All methods, by id, in the order of the documentation."""
