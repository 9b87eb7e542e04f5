"""Runs of scenarios that tests write themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.embedded.command import rocketchaos

RunScenario = Callable[..., dict[str, Any]]
"""The fixture `run_scenario`: text and version of a scenario -> the run, as `--json` tells it.

Trouble fails the test, but for the kind that the test expects: `trouble="precondition"`.
"""


def reproduce(text: str, folder: Path, version: str = "4.9.4", *, limit_s: float = 280) -> dict[str, Any]:
    """By a command of its own; the run, as `--json` tells it. One that ended with trouble fails the test."""
    file = folder / "s.scenario.yaml"
    file.write_text(text)
    ended = rocketchaos("reproduce", file, "--rocketmq", version, "--json", cwd=folder, limit_s=limit_s)
    assert ended.out, ended.err
    run: dict[str, Any] = ended.document["runs"][0]
    assert run["trouble"] is None, run["reason"]
    return run


def events_of(run: dict[str, Any]) -> list[dict[str, Any]]:
    """Its history, as it was written."""
    lines = (Path(run["run_dir"]) / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def held(run: dict[str, Any], section: str = "anomaly") -> list[bool | None]:
    """What each check of a section says."""
    return [check["passed"] for check in run["checks"] if check["section"] == section]
