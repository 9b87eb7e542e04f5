"""`make golden`: records the golden runs again, on a real RocketMQ; NAMES="…" names some of them.

Some shipped scenarios once as they are, and each scenario of `tests/golden/scenarios`, in which checks fail on
purpose. What is kept of a run folder is what can be judged again; logs and pages are not.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.plan.selection import load_all
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.model import Scenario

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SHIPPED = (
    "same-group-different-tags",
    "same-group-different-tags-other-order",
    "same-group-same-tags",
    "kill-flips-the-subscription",
    "kill-of-the-other",
    "colliding-hashes",
    "same-group-different-topics",
    "pull-at-and-beyond-the-end",
    "client-has-a-status-for-each-code",
    "overwriting-a-tag-notifies-nobody",
    "every-heartbeat-sets-the-groups-attributes",
    "sql92-is-off-by-default",
    "sql92-only-the-broker-filters",
    "kill-behind-a-blocked-message",
    "retries-come-after-a-delay",
    "dead-letter-after-the-last-retry",
    "broadcasting-reaches-everyone",
    "different-strategies-in-one-group",
)
"""Between them every check holds and every class of messages is there; a whole library would weigh too much."""
WITH_A_DASHBOARD = ("consumed-and-nobody-got-it", "dashboard-2-knows-no-track-of-4-9")
"""Those on containers, with dashboards 1.0.0 and 2.1.0; where there is none of them, the recorded ones stay."""
KEPT = ("scenario.yaml", "run.json", "events.jsonl", "messages.jsonl", "checks.json", "outcome.json")
PRIVATE = ("command", "host", "scenario_file", "working_folder")
"""Of `run.json` this tells of the machine and the person, and no test needs it."""


def main(names: Sequence[str] = ()) -> None:
    """Record: all, or those that are named."""
    library = load_all([ROOT / "scenarios"])
    wanted = [*(item for item in library if item.name in SHIPPED), *own_scenarios()]
    boards = [item for item in library if item.name in WITH_A_DASHBOARD]
    if names:
        wanted, boards = ([item for item in each if item.name in names] for each in (wanted, boards))
    for old in (HERE / "runs").iterdir():
        if old.name not in WITH_A_DASHBOARD and (not names or old.name in names):
            shutil.rmtree(old)
    record(wanted, ClusterKind.EMBEDDED)
    record(boards, ClusterKind.CONTAINERS)


def own_scenarios() -> list[Scenario]:
    """Those of `tests/golden/scenarios`: lists that never hold are what some of them are for."""
    files = sorted((HERE / "scenarios").glob("*.scenario.yaml"))
    return [parse_scenario(file.read_text("utf-8"), str(file), reach=False) for file in files]


def record(scenarios: Sequence[Scenario], on: ClusterKind) -> None:
    """Run them, and keep the runs; on containers only those that could be judged."""
    with (
        tempfile.TemporaryDirectory(prefix="rocketchaos-golden-") as runs,
        Runner(Options(on=on, runs=Path(runs), seed=1, use_running=False, progress=print)) as runner,
    ):
        for scenario in scenarios:
            # The file's own name, without where it lies on this machine.
            named = parse_scenario(scenario.source, Path(scenario.file).name, reach=False)
            report = runner.run(runner.job(named))
            print(scenario.name, report.outcome.kind, report.outcome.reason)
            if on is ClusterKind.EMBEDDED or report.outcome.kind is not OutcomeKind.ERROR:
                keep(report.folder, HERE / "runs" / scenario.name)


def keep(run: Path, target: Path) -> None:
    """Copy what can be judged again."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in KEPT:
        shutil.copyfile(run / name, target / name)
    record = json.loads((target / "run.json").read_text(encoding="utf-8"))
    public = {key: value for key, value in record.items() if key not in PRIVATE}
    (target / "run.json").write_text(json.dumps(public, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
