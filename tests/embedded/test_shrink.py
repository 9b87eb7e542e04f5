"""What a night finds on a real RocketMQ is there again, and becomes a small scenario that shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocketchaos.harness.cli import main as cli
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.nightly.findings import findings
from rocketchaos.harness.nightly.generator import scenario_of
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.scenario import load_scenario
from rocketchaos.harness.scenario.model import Scenario
from tests.scenario_size import size

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

MISMATCH = Profile.model_validate(
    {
        "dimensions": {
            "groups": {"2": 1},
            "topics": {"1": 1},
            "queues": {"4": 1},
            "members": {"2": 1},
            "late": {"0": 1},
            "subscriptions": {"own": 1},
            "expression": {"tagA": 1, "tagB": 1},
            "filter": {"tags": 1},
            "client": {"java push": 1},
            "client_ids": {"names": 1},
            "strategy": {"average": 1},
            "strategies": {"same": 1},
            "listener": {"concurrent": 1},
            "behaviour": {"succeed": 1},
            "batch": {"1": 1},
            "process": {"shared": 1},
            "brokers": {"1": 1},
            "messages": {"2": 1},
            "tags": {"in turn": 1},
            "settled": {"yes": 1},
            "operations": {"0": 1},
        },
    }
)
SEED = 7
DROPPED = "wanted-but-not-delivered: filtered-by-client"
"""Each queue gets a message with either tag: a run shows it whichever member's subscription is stored."""


def drawn() -> Scenario:
    """The first one in which both groups disagree, so that one of them is needless."""
    scenarios = (scenario_of(SEED, number, MISMATCH) for number in range(1, 50))
    return next(
        scenario for scenario in scenarios if all(disagrees(scenario, group) for group in scenario.groups)
    )


def disagrees(scenario: Scenario, group: str) -> bool:
    """Whether members of the group want different tags."""
    return len({str(scenario.consumers[name].subscribe) for name in scenario.members(group)}) > 1


def signatures(report: Report) -> set[str]:
    return {finding.signature for finding in findings(report.scenario, report.events, report.outcome)}


def shown(scenario: Scenario, signature: str, runs: Path) -> bool:
    """Whether one of several runs shows it: whose subscription is stored races, and with it what is dropped."""
    with Runner(Options(runs=runs)) as runner:
        return any(signature in signatures(runner.run(runner.job(scenario))) for _ in range(10))


@pytest.mark.nightly
@pytest.mark.usefixtures("on_shared_cluster")
def test_a_drawn_mismatch_is_there_again_and_is_shrunk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    with Runner(Options(runs=runs)) as runner:
        report = runner.run(runner.job(drawn()))
    (wanted,) = (signature for signature in signatures(report) if signature.startswith(DROPPED))

    code = cli.main(["reproduce", str(report.folder), "--repeat", "2", "--runs", str(runs), "--json"])
    document = json.loads(capsys.readouterr().out)
    again = {load["signature"]: load for load in document["findings"]}
    assert again[wanted]["of"] == 2
    assert again[wanted]["runs"] >= 1
    assert code == document["summary"]["exit_code"]
    assert code == (ExitCode.AS_EXPECTED if all(item["runs"] for item in again.values()) else 3)

    status = {"findings": [{"signature": wanted, "known": False, "shown_by": [{"run": str(report.folder)}]}]}
    (runs / "nightly-status.json").write_text(json.dumps(status))
    words = ["--repeat", "1", "--minutes", "0.75", "--runs", str(tmp_path / "shrinking")]
    assert cli.main(["shrink", str(runs), *words]) == ExitCode.AS_EXPECTED, capsys.readouterr()

    (file,) = (runs / "findings").iterdir()
    smallest = load_scenario(file)
    assert size(smallest) < size(report.scenario)
    assert shown(smallest, wanted, tmp_path / "last")
