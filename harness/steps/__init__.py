"""The steps of the scenario language, one file each; a new one is registered here.

Those of faults of processes are made from their registration, `harness.language.fault_registry`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.language.word_registry import WordRegistry
from rocketchaos.harness.language.words import one_word_of
from rocketchaos.harness.steps import process_fault
from rocketchaos.harness.steps.base import Step

STEPS: WordRegistry[Step] = WordRegistry(
    __name__,
    "start",
    *process_fault.WORDS,
    "release",
    "subscribe",
    "unsubscribe",
    "seek",
    "suspend-consumer",
    "resume-consumer",
    "send",
    "recall",
    "settle",
    "bind",
    "observe",
    "wait",
    "pull",
    "client-pull",
    "heartbeat",
    "ask",
    "mqadmin",
    "reset-offset",
    "broker-config",
    "upgrade",
    "topic-config",
    "group-config",
    "delete-topic",
    "delete-group",
    "expire-files",
    "fill-disk",
    "free-disk",
    "lose-files",
    "partition",
    "loss",
    "reset",
    "delay",
    "heal",
    "repeat",
    "parallel",
    made=dict.fromkeys(process_fault.WORDS, process_fault.made),
)
"""By word."""

if TYPE_CHECKING:
    StepEntry = Step
else:
    StepEntry = one_word_of(STEPS, "step")

__all__ = ["STEPS", "Step", "StepEntry"]
