"""How large a scenario is: what `shrink` makes less of."""

from __future__ import annotations

from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps.base import every_step


def size(scenario: Scenario) -> int:
    """Members, queues, steps and messages together, those inside other steps too."""
    steps = list(every_step(scenario.steps))
    sent = sum(getattr(step, "count", 0) for step in steps if step.word == "send")
    queues = sum(topic.queues for topic in scenario.topics.values())
    return len(scenario.consumers) + queues + len(steps) + sent
