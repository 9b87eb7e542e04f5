"""The part of a run that a condition of `settle` needs."""

from __future__ import annotations

from typing import Protocol

from rocketchaos.harness.probes.context import ProbeContext


class ConditionContext(ProbeContext, Protocol):
    """What its probes need."""
