"""The steps of the scenario language, one file each; a new one is registered here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from harness.language import one_word_of
from harness.steps.ask import Ask
from harness.steps.base import Step
from harness.steps.bind import Bind
from harness.steps.broker_config import BrokerConfig
from harness.steps.client_pull import ClientPull
from harness.steps.delay import Delay
from harness.steps.expire_files import ExpireFiles
from harness.steps.fill_disk import FillDisk
from harness.steps.free_disk import FreeDisk
from harness.steps.heal import Heal
from harness.steps.heartbeat import Heartbeat
from harness.steps.kill import Kill
from harness.steps.loss import Loss
from harness.steps.observe import Observe
from harness.steps.parallel import Parallel
from harness.steps.partition import Partition
from harness.steps.pause import Pause
from harness.steps.pull import Pull
from harness.steps.release import Release
from harness.steps.repeat import Repeat
from harness.steps.reset import Reset
from harness.steps.reset_offset import ResetOffset
from harness.steps.restart import Restart
from harness.steps.resume import Resume
from harness.steps.send import Send
from harness.steps.settle import Settle
from harness.steps.start import Start
from harness.steps.stop import Stop
from harness.steps.subscribe import Subscribe
from harness.steps.terminate import Terminate
from harness.steps.unsubscribe import Unsubscribe
from harness.steps.wait import Wait

STEPS: Mapping[str, type[Step]] = MappingProxyType(
    {
        step.word: step
        for step in (
            Start,
            Stop,
            Terminate,
            Kill,
            Pause,
            Resume,
            Restart,
            Release,
            Subscribe,
            Unsubscribe,
            Send,
            Settle,
            Bind,
            Observe,
            Wait,
            Pull,
            ClientPull,
            Heartbeat,
            Ask,
            ResetOffset,
            BrokerConfig,
            ExpireFiles,
            FillDisk,
            FreeDisk,
            Partition,
            Loss,
            Reset,
            Delay,
            Heal,
            Repeat,
            Parallel,
        )
    }
)
"""By word."""

if TYPE_CHECKING:
    StepEntry = Step
else:
    StepEntry = one_word_of(STEPS, "step")
    # Steps that hold steps can be read only once all steps are known.
    for _step in STEPS.values():
        if _step.nested is not None:
            _step.model_rebuild(_types_namespace={"StepEntry": StepEntry})

__all__ = ["STEPS", "Step", "StepEntry"]
