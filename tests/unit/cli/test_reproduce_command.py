"""`rocketchaos reproduce` of a run's folder, from wherever it is called. Nothing is started."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocketchaos.harness.cli import reproduce
from rocketchaos.harness.cli.main import main
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.language.app_spec import App
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.workers.app_home import java_program

SCENARIO = """\
name: example
title: an example
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: paid}, app: {jar: a.jar}}
steps: [start: a, send: {topic: orders, tag: paid, count: 4}]
anomaly: [delivered: {to: a, count: 0}]
healthy: [delivered: {to: a, count: 4}]
"""


@pytest.mark.parametrize("recorded", ["example.scenario.yaml", "test-example (recorded)"])
def test_a_program_with_a_relative_path_is_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorded: str
) -> None:
    """Also that of a run of pytest's, which has no file."""
    shop, run, elsewhere = (tmp_path / name for name in ("shop", "run", "elsewhere"))
    for folder in (shop, run, elsewhere):
        folder.mkdir()
    (shop / "a.jar").touch()
    record = {"scenario_file": recorded, "working_folder": str(shop), "rocketmq": "4.9.4"}
    (run / "run.json").write_text(json.dumps(record))
    (run / "scenario.yaml").write_text(SCENARIO)
    (run / "events.jsonl").touch()
    found: list[str] = []

    def note(_runner: object, jobs: list[Job], **_: object) -> ExitCode:
        found.extend(java_program(App(jar="a.jar"), job.scenario.file)[1] for job in jobs)
        return ExitCode.AS_EXPECTED

    monkeypatch.setattr(reproduce, "run_and_tell", note)
    monkeypatch.chdir(elsewhere)
    assert main(["reproduce", str(run)]) == ExitCode.AS_EXPECTED
    assert found == [str(shop / "a.jar")]


@pytest.mark.parametrize("option", ["--junit", "--runs"])
def test_what_cannot_be_written_is_said_before_anything_runs(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    options = {"--runs": tmp_path / "runs", option: tmp_path / "file" / "inside"}
    words = [str(word) for pair in options.items() for word in pair]
    assert main(["reproduce", "same-group-same-tags", *words]) == ExitCode.ENVIRONMENT
    said = capsys.readouterr().err
    assert "can't be written: " in said
    assert said.endswith(f"Choose another {option}.\n")
    assert not [path for path in tmp_path.rglob("*") if path.name == "events.jsonl"]
