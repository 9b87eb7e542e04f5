"""Reporters: each tells somebody how runs ended, with the one method `report(runs)`.

One file per reporter; a new one is registered here. What a reporter is given at its making (a console, a
stream, a file) is where it tells it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.reporters.base import Report, Reporter
from harness.reporters.console import ConsoleReporter
from harness.reporters.document import DocumentReporter
from harness.reporters.github import GitHubReporter
from harness.reporters.html import HtmlReporter
from harness.reporters.junit import JUnitReporter
from harness.reporters.start_here import StartHereReporter

REPORTERS: Mapping[str, type[Reporter]] = MappingProxyType(
    {
        "console": ConsoleReporter,
        "json": DocumentReporter,
        "junit": JUnitReporter,
        "github": GitHubReporter,
        "start-here": StartHereReporter,
        "html": HtmlReporter,
    }
)
"""By name."""

__all__ = [
    "REPORTERS",
    "ConsoleReporter",
    "DocumentReporter",
    "GitHubReporter",
    "HtmlReporter",
    "JUnitReporter",
    "Report",
    "Reporter",
    "StartHereReporter",
]
