"""The reports, by name. A new one is registered here: `flakiness` is the function `flakiness` of that package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketchaos.spark_reports.answers import Answers
    from rocketchaos.spark_reports.report import Report, StoreSummary

    Builder = Callable[[Answers, StoreSummary], Report]
    """Makes a report."""


def _builder(name: str) -> Builder:
    """Loads the report when it is made: with its figures it takes a second to load."""

    def build(answers: Answers, summary: StoreSummary) -> Report:
        report: Report = getattr(import_module(f"rocketchaos.spark_reports.{name}"), name)(answers, summary)
        return report

    return build


REPORTS: Mapping[str, Builder] = {
    name: _builder(name) for name in ("diff", "flakiness", "divergence", "timing")
}
"""In the order in which `report all` makes them."""
