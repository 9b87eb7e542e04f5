"""The steps of the scenario language, one file each; a new one is registered here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.steps.base import Step
from harness.steps.bind import Bind
from harness.steps.kill import Kill
from harness.steps.observe import Observe
from harness.steps.pause import Pause
from harness.steps.resume import Resume
from harness.steps.send import Send
from harness.steps.settle import Settle
from harness.steps.start import Start
from harness.steps.stop import Stop
from harness.steps.wait import Wait

STEPS: Mapping[str, type[Step]] = MappingProxyType(
    {step.word: step for step in (Start, Stop, Kill, Pause, Resume, Send, Settle, Bind, Observe, Wait)}
)
"""By word."""

__all__ = ["STEPS", "Step"]
