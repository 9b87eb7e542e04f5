"""Runs a scenario of a test's own, as a user does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.embedded.command import rocketchaos


def run_scenario(text: str, folder: Path, version: str = "4.9.4", *, limit_s: float = 280) -> dict[str, Any]:
    """The run, as `--json` tells it; one that ended with trouble fails the test."""
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
