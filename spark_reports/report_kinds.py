"""The reports, by name; a new one is registered here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.diff import diff
from rocketchaos.spark_reports.divergence import divergence
from rocketchaos.spark_reports.flakiness import flakiness
from rocketchaos.spark_reports.queries import names_of
from rocketchaos.spark_reports.report import Report, StoreSummary
from rocketchaos.spark_reports.timing import timing

Builder = Callable[[Answers, StoreSummary], Report]
"""Makes a report."""

REPORTS: Mapping[str, Builder] = MappingProxyType(
    {"diff": diff, "flakiness": flakiness, "divergence": divergence, "timing": timing}
)

_ALSO_READS: Mapping[str, Iterable[str]] = {"flakiness": ["diff"]}


def queries_of(reports: Iterable[str]) -> list[str]:
    """The names of the queries that these reports read, each once, in their order."""
    read = [name for report in reports for name in (*_ALSO_READS.get(report, ()), report)]
    return [name for report in dict.fromkeys(read) for name in names_of(report)]
