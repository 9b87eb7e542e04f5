"""From a finding to a scenario: it is valid, it states what must be seen, and its control takes the cause away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.diagnose.reproduction import written
from rocketchaos.harness.nightly.document import text_of
from rocketchaos.harness.scenario import load_scenario, parse_scenario
from tests.unit.diagnose.reports import RECORDED, diagnosed


def _one(code: str, *changes: Any, looks: int = 1) -> tuple[Any, Any]:
    report = diagnosed("mismatch-4.9.4.json", *changes, looks=looks)
    (finding,) = [item for item in report.findings if item.check.code == code]
    documents = written(report.views[finding.group], finding)
    assert not isinstance(documents, str), documents
    for document in documents:
        parse_scenario(text_of(document), "written.scenario.yaml")
    return documents


def test_different_tags_lose_as_much_as_the_allocation_says() -> None:
    scenario, control = _one("RC0101")
    # Of tagA and tagB in each of 4 queues, the holder gets its own tag in its own two queues.
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "at_least": 6}}]
    assert [item["subscribe"] for item in scenario["consumers"].values()] == [{"t1": "tagA"}, {"t1": "tagB"}]
    assert scenario["control"] == control["name"]
    assert {item["subscribe"]["t1"] for item in control["consumers"].values()} == {"tagA || tagB"}


def test_different_strategies_are_counted_by_recomputing_them() -> None:
    strategies = iter(["AllocateMessageQueueAveragely", "AllocateMessageQueueAveragelyByCircle"])

    def change(document: Any) -> None:
        document["properties"]["allocateMessageQueueStrategy"] = f"x.{next(strategies)}@1"
        for item in document["subscriptionSet"]:
            item["subString"] = "*"

    scenario, control = _one("RC0207", (307, change))
    assert scenario["anomaly"] == [
        {"duplicated": {"to": "g", "topic": "t1", "count": 2}},
        {"undelivered": {"group": "g", "topic": "t1", "count": 2, "because": "stranded"}},
    ]
    assert "strategy" not in str(control["consumers"])


def test_what_no_scenario_does_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def sql(document: Any) -> None:
        for number, item in enumerate(document["subscriptionSet"]):
            item |= {"expressionType": "SQL92", "subString": f"a = {number}{len(document['mqTable'])}"}

    report = diagnosed("mismatch-4.9.4.json", (307, sql))
    (finding,) = [entry for entry in report.findings if entry.check.code == "RC0101"]
    assert written(report.views[finding.group], finding) == "what SQL takes can't be seen from outside"


def test_the_command_writes_both_files(tmp_path: Path) -> None:
    recorded = str(RECORDED / "mismatch-5.5.0.json")
    assert main(["diagnose", recorded, "--write-scenario", str(tmp_path)]) == 1
    assert {load_scenario(path).name for path in tmp_path.iterdir()} == {
        "diagnosed-rc0101",
        "diagnosed-rc0101-control",
    }
