"""Every reporter by name; commands import the ones that they use by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.reporters.base import Reporter
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
