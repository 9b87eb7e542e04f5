"""A log has at least this many lines that match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.probes.logs_probe import matching_lines

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


def lines_logged(context: ProbeContext, source: str, pattern: str, count: int) -> Seen:
    """Whether at least this many lines of the logs of a node or consumers match, since the run's beginning."""
    number = sum(len(matching_lines(context, item, pattern)) for item in context.variables.resolve([source]))
    return Seen(number >= count, f"{number} lines match {pattern!r}")
