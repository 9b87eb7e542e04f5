"""The duration of a scenario on an idle machine, by its steps. Pure."""

from collections.abc import Iterable

from rocketchaos.harness.language.fault_registry import PROCESS_FAULTS
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps import Step
from rocketchaos.harness.steps.base import every_step
from rocketchaos.harness.steps.disk import DiskStep
from rocketchaos.harness.steps.parallel import Parallel
from rocketchaos.harness.steps.repeat import Repeat
from rocketchaos.harness.steps.send import Send
from rocketchaos.harness.steps.settle import Settle
from rocketchaos.harness.steps.wait import Wait

AROUND_S = 1.0
"""The topics at the beginning, and the last observation and the tear-down at the end. A cluster of its own adds
this:"""
OWN_CLUSTER_S = 6.0
ANY_STEP_S = 0.4
DISK_S = 4.0
"""A broker that restarts, and its first look at its disk."""
SETTLED_S = 1.0
SEALED_S = 4.0
"""At once if all is consumed, 6 s later if a message waits."""
SEALED_ORDERLY_S = 22.0
"""An orderly member may wait 20 s for the locks of its queues, see `assertions.on_the_way`."""
SEALED_AFTER_BROKERS_S = 20.0
"""After a fault of a broker, a client gives up a lost pull after 30 s."""


def expected_s(scenario: Scenario) -> float:
    """Seconds on an idle machine, roughly."""
    around = AROUND_S + (OWN_CLUSTER_S if scenario.needs_own_cluster else 0.0)
    return around + _of(scenario.steps, _sealed_s(scenario))


def _sealed_s(scenario: Scenario) -> float:
    """The usual time until all fates are certain."""
    orderly = any(consumer.listener == "orderly" for consumer in scenario.consumers.values())
    brokers = {*scenario.cluster.brokers, *scenario.cluster.slave_nodes}
    touched = any(brokers & set(step.acts_on()) for step in every_step(scenario.steps))
    return max(SEALED_S, SEALED_ORDERLY_S if orderly else 0.0, SEALED_AFTER_BROKERS_S if touched else 0.0)


def _of(steps: Iterable[Step], sealed_s: float) -> float:
    return sum(_of_step(step, sealed_s) for step in steps)


def _of_step(step: Step, sealed_s: float) -> float:
    kind = PROCESS_FAULTS.get(step.word)
    if kind is not None and kind.takes_s is not None:
        return kind.takes_s
    match step:
        case Parallel():
            return max(_of(branch, sealed_s) for branch in step.inner())
        case Repeat():
            return step.times * _of(step.steps, sealed_s)
        case Wait():
            return step.duration / 1000
        case Send():
            return step.count * (step.every or 5) / 1000
        case Settle():
            return sealed_s if step.sealed is not None else SETTLED_S
        case DiskStep():
            return DISK_S
        case _:
            return ANY_STEP_S * max(1, len(step.acts_on()))
