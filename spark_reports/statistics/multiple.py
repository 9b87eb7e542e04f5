"""Many tests at once: p-values adjusted so that the whole family alarms at the stated rate.

statsmodels has both, but with pandas, which neither Spark nor a report needs otherwise.
"""

from collections.abc import Sequence

from scipy.stats import false_discovery_control

from rocketchaos.spark_reports.statistics.exact import Significance
from rocketchaos.spark_reports.statistics.tarone import tarone_holm


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that keep the chance of any false alarm in the family, however the tests depend.

    S. Holm, A simple sequentially rejective multiple test procedure (1979): Tarone's, where every test counts.
    """
    return tarone_holm([Significance(p, smallest=0.0) for p in p_values])


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that keep the expected share of false alarms among the alarms.

    Y. Benjamini, Y. Hochberg, Controlling the false discovery rate (1995). Where nothing at all is
    true, the chance of any alarm is kept too.
    """
    return [float(p) for p in false_discovery_control(p_values)]
