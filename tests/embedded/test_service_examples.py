"""The services of `examples/`, built by Maven or installed by pip, and run as their READMEs say."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.embedded.command import ROOT, rocketchaos

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.extended,
    pytest.mark.timeout(900),
]
by_maven = pytest.mark.skipif(shutil.which("mvn") is None, reason="needs Maven: apt install maven")


def example(name: str, folder: Path, *scenarios: str, version: str = "4.9.4") -> dict[str, dict[str, Any]]:
    """Builds a copy of an example and runs these of its scenarios, all as expected; the runs by scenario."""
    copy = folder / name
    shutil.copytree(ROOT / "examples" / name, copy, ignore=shutil.ignore_patterns("target"))
    subprocess.run(["mvn", "-q", "-B", "-DskipTests", "package"], cwd=copy, check=True, timeout=600)
    ended = rocketchaos("run", *scenarios, "--rocketmq", version, "--json", cwd=copy, limit_s=600)
    found = {run["scenario"]: run for run in ended.document["runs"]}
    assert ended.code == 0, [(run["outcome"], run["reason"]) for run in found.values()]
    return found


@by_maven
def test_two_listeners_of_one_spring_boot_application(tmp_path: Path) -> None:
    found = example("spring-two-listeners", tmp_path, ".")
    assert {name: run["outcome"] for name, run in found.items()} == {
        "spring-two-listeners": "reproduced",
        "spring-a-group-each": "not-reproduced",
    }
    folder = Path(found["spring-two-listeners"]["run_dir"])
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    started = [event for event in events if event["kind"] == "consumer-started"]
    assert {event["node"] for event in started} == {"paid-orders", "cancelled-orders"}
    assert len({event["data"]["pid"] for event in started}) == 1
    assert len({event["data"]["client_id"] for event in started}) == 2
    assert {event["data"]["client_version"] for event in started} == {"5.0.0"}
    said = (folder / "START-HERE.md").read_text()
    for name in ("paid-orders", "cancelled-orders"):
        assert f"{name} is in process {started[0]['data']['pid']}" in said
    assert "and its client dropped it" in said


# Its clients keep RocketMQ's own timers: two minutes.
@pytest.mark.nightly
@by_maven
def test_a_plain_service_crashes_and_is_deployed_anew(tmp_path: Path) -> None:
    found = example("java-service", tmp_path, ".", version="5.5.0")
    assert {name: run["outcome"] for name, run in found.items()} == {
        "billing-crash": "not-reproduced",
        "billing-rolling-deployment": "reproduced",
        "billing-stop-then-start": "not-reproduced",
    }


@pytest.mark.parametrize("version", [pytest.param("4.9.4", marks=pytest.mark.nightly), "5.5.0"])
def test_a_python_service_crashes_and_is_deployed_anew(tmp_path: Path, version: str) -> None:
    copy = tmp_path / "python-service"
    shutil.copytree(
        ROOT / "examples" / "python-service", copy, ignore=shutil.ignore_patterns(".venv", "runs")
    )
    subprocess.run([sys.executable, "-m", "venv", copy / ".venv"], check=True, timeout=120)
    pip = [copy / ".venv" / "bin" / "pip", "install", "-q", "-r", copy / "requirements.txt"]
    subprocess.run(pip, check=True, timeout=300)
    ended = rocketchaos("run", ".", "--rocketmq", version, "--json", cwd=copy, limit_s=600)
    found = {run["scenario"]: run for run in ended.document["runs"]}
    assert ended.code == 0, [(run["outcome"], run["reason"]) for run in found.values()]
    assert {name: run["outcome"] for name, run in found.items()} == {
        "audit-crash": "not-reproduced",
        "audit-rolling-deployment": "reproduced",
    }
    folder = Path(found["audit-rolling-deployment"]["run_dir"])
    fates = [json.loads(line) for line in (folder / "messages.jsonl").read_text().splitlines()]
    nobody = [fate for fate in fates if not fate["deliveries"]]
    assert {fate["message_class"] for fate in nobody} == {"filtered-by-broker"}
    assert len(nobody) == 8
