"""The part of a run that a condition of `settle` needs."""

from typing import Protocol

from rocketchaos.harness.probes.context import ProbeContext


class ConditionContext(ProbeContext, Protocol):
    """What its probes need."""
