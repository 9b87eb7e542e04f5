"""What an interruption leaves undone is named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from rocketchaos.harness.cli.common import not_run_lines
from rocketchaos.harness.plan.job import Job, job_of
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.rocketmq.client_kinds import client_choice
from tests.unit.history_builder import EIGHT_MESSAGES, scenario_of

SCENARIO = scenario_of(EIGHT_MESSAGES)


def job(client: str, version: str) -> Job:
    return job_of(SCENARIO, version, client_choice(client))


def report(client: str, version: str) -> Report:
    record: dict[str, Any] = {"cell": {"client": client, "rocketmq": version}}
    return cast(Report, SimpleNamespace(scenario=SCENARIO, record=record))


def test_what_was_not_run_is_named_by_its_cell() -> None:
    jobs = [job(client, version) for client in ("java", "python") for version in ("4.9.4", "5.5.0")] * 2
    reports = [report("java", "4.9.4"), report("java", "4.9.4"), report("python", "5.5.0")]
    assert not_run_lines(jobs, reports) == [
        "java on RocketMQ 5.5.0: same-group-different-tags (2 of 2 times)",
        "python on RocketMQ 4.9.4: same-group-different-tags (2 of 2 times)",
        "python on RocketMQ 5.5.0: same-group-different-tags (1 of 2 times)",
    ]
    assert not_run_lines([job("java", "4.9.4")], []) == ["java on RocketMQ 4.9.4: same-group-different-tags"]


def test_where_all_was_run_nothing_is_said() -> None:
    assert not_run_lines([job("java", "4.9.4")], [report("java", "4.9.4")]) == []
