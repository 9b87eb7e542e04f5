"""What a condition of `settle` needs of a run."""

from __future__ import annotations

from typing import Protocol

from rocketchaos.harness.probes.context import ProbeContext


class ConditionContext(ProbeContext, Protocol):
    """What its probes need."""
