"""`validate` warns of programs and templates that are not there yet, each at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.cli.main import main

SCENARIO = """\
name: own
title: own programs
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, app: {jar: target/a.jar, files: {app.yml: app.yml.template}}, subscribe: {orders: '*'}}
  b: {group: g, app: {command: [./b], sees: {log: '(?P<key>\\S+)'}}, subscribe: {orders: '*'}}
steps:
  - start: [a, b]
  - settle: {ownership: g}
  - send: {topic: orders, count: 4}
anomaly: [{delivered: {to: g, at_most: 3}}]
healthy: [{delivered: {to: g, count: 4}}]
"""


def test_missing_programs_and_templates_are_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "own.scenario.yaml"
    file.write_text(SCENARIO)
    assert main(["validate", str(file)]) == 0
    warned = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert [line.split(": ", 1)[0].rpartition("/")[2] for line in warned] == [
        "own.scenario.yaml:5:28",
        "own.scenario.yaml:5:59",
        "own.scenario.yaml:6:23",
    ]
    assert all(str(tmp_path) in line for line in warned)
    assert "Build it before the run, or correct `jar`." in warned[0]


def test_a_missing_body_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "own.scenario.yaml"
    own = "app: {jar: target/a.jar, files: {app.yml: app.yml.template}}, "
    text = "".join(line for line in SCENARIO.splitlines(True) if not line.startswith("  b:"))
    text = (
        text.replace(own, "")
        .replace("[a, b]", "a")
        .replace("count: 4}\n", "count: 4, body: order.json}\n", 1)
    )
    file.write_text(text)
    assert main(["validate", str(file)]) == 0
    (warned,) = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert "own.scenario.yaml:9:43: warning: the messages' body do" in warned
    assert "Correct `body` in the step `send`." in warned
    (tmp_path / "order.json").write_text("{}")
    assert main(["validate", str(file)]) == 0
    assert "warning" not in capsys.readouterr().err


def test_files_that_are_there_are_no_news(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "target").mkdir()
    for name in ("target/a.jar", "app.yml.template", "b"):
        (tmp_path / name).touch(mode=0o755)
    file = tmp_path / "own.scenario.yaml"
    file.write_text(SCENARIO)
    assert main(["validate", str(file)]) == 0
    assert "warning" not in capsys.readouterr().err
