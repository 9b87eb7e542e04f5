"""Every reporter by name; commands import the ones that they use by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rocketchaos.harness.reporting.base import Reporter
from rocketchaos.harness.reporting.console import ConsoleReporter
from rocketchaos.harness.reporting.document import DocumentReporter
from rocketchaos.harness.reporting.github import GitHubReporter
from rocketchaos.harness.reporting.html import HtmlReporter
from rocketchaos.harness.reporting.junit import JUnitReporter
from rocketchaos.harness.reporting.start_here import StartHereReporter

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
