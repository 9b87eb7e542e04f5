"""The part of a run that a step needs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from rocketchaos.harness.probes.context import ProbeContext

if TYPE_CHECKING:
    from rocketchaos.harness.core.events.run import StepEnded, StepStarted
    from rocketchaos.harness.language.words import Word
    from rocketchaos.harness.steps.step_place import Place


class StepContext(ProbeContext, Protocol):
    """What the conditions that it waits for need, its place among the other steps, and time."""

    place: Place

    def within(self, place: Place, end: threading.Event | None = None) -> StepContext:
        """The same context in another step; `end` ends it there, as soon as it checks what is alive."""

    def record_step(self, step: Word, kind: type[StepStarted | StepEnded]) -> None:
        """Write down where the run is."""

    def let_time_pass(self, duration_ms: int) -> None:
        """Wait for time itself, watching that everything stays alive."""
