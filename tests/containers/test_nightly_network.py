"""What a night does to the network: drawn for containers, effective, over in the end, and no finding by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.nightly.findings import findings, why_not_judged
from rocketchaos.harness.nightly.generator import scenario_of
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps.base import every_step

pytestmark = pytest.mark.containers

OPERATIONS_OF_NETWORK = ("partition", "loss", "reset", "delay")
SEED = 5


def drawn(operation: str) -> Scenario:
    """The first one in which the operation is done, to a consistent group of two."""
    profile = Profile.model_validate(
        {
            "consistent": "only",
            "dimensions": {
                "groups": {"1": 1},
                "members": {"2": 1},
                "client": {"java push": 1},
                "behaviour": {"succeed": 1},
                "operations": {"1": 1},
            },
            "operations": {operation: 1},
            "triggers": {"flow": 1},
        }
    )
    numbers = iter(range(1, 100))
    for scenario in (scenario_of(SEED, number, profile, ClusterKind.CONTAINERS) for number in numbers):
        if operation in {step.word for step in every_step(scenario.steps)}:
            return scenario
    raise AssertionError(f"{operation} is never drawn")


@pytest.mark.nightly
@pytest.mark.parametrize(
    "operation",
    OPERATIONS_OF_NETWORK,
)
def test_a_consistent_group_bears_it(operation: str, tmp_path: Path) -> None:
    with Runner(Options(runs=tmp_path, use_running=False, on=ClusterKind.CONTAINERS)) as runner:
        report = runner.run(runner.job(drawn(operation)))
    assert why_not_judged(report.outcome, report.events) is None, report.outcome.reason
    ended = {event.kind: event.data["fault"] for event in report.events if event.kind.startswith("fault-")}
    assert ended == {"fault-injected": operation, "fault-effective": operation, "fault-healed": operation}
    assert findings(report.scenario, report.events, report.outcome) == []
