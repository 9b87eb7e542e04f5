"""The reports, by name; a new one is registered here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.diff import diff
from rocketchaos.spark_reports.divergence import divergence
from rocketchaos.spark_reports.flakiness import flakiness
from rocketchaos.spark_reports.report import Report, StoreSummary
from rocketchaos.spark_reports.timing import timing

Builder = Callable[[Answers, StoreSummary], Report]
"""Makes a report."""

REPORTS: Mapping[str, Builder] = MappingProxyType(
    {"diff": diff, "flakiness": flakiness, "divergence": divergence, "timing": timing}
)
