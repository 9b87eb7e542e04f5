"""Run folders for tests: golden ones, as other runs."""

from __future__ import annotations

import json
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden" / "runs"
KILL, TAGS = "kill-of-the-other", "same-group-different-tags"
ASKED = "consumed-and-nobody-got-it"
"""Golden runs of eight messages each; of the last one a dashboard was asked."""


def copy(runs: Path, name: str, token: str) -> Path:
    """A golden folder, as another run."""
    source, folder = GOLDEN / name, runs / name / token
    folder.mkdir(parents=True)
    run = json.loads((source / "run.json").read_text())["run"]
    for file in source.iterdir():
        (folder / file.name).write_text(file.read_text().replace(run, token))
    return folder
