"""`check`: stored histories are judged again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.core.errors import ExitCode

GOLDEN = Path(__file__).parents[2] / "golden" / "runs"


def test_a_run_that_is_named_twice_is_judged_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "first"
    shutil.copytree(GOLDEN / "same-group-same-tags", folder)
    (tmp_path / "latest").symlink_to("first")
    assert main(["check", "--json", *map(str, sorted(tmp_path.iterdir()))]) == ExitCode.AS_EXPECTED
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["run_dir"] == str(folder)
