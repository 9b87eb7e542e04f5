"""Whoever reads what a command says may go at any time, as `head` does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

ROOT = Path(__file__).resolve().parents[3]


def _ended(arguments: list[str], output: int | IO[bytes]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rocketchaos", *arguments],
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=60,
    )


def _unread(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """A command whose output has no reader."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        return _ended(arguments, write_end)
    finally:
        os.close(write_end)


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["explain"], ["explain", "retry"]])
def test_that_nobody_reads_on_is_no_failure(arguments: list[str]) -> None:
    ended = _unread(arguments)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("output", ["text", "json", "html"])
def test_that_nobody_reads_on_changes_no_exit_code_of_a_diagnosis(output: str) -> None:
    bundle = ROOT / "tests/unit/diagnose/recorded/mismatch-4.9.4.json"
    ended = _unread(["diagnose", str(bundle), "-o", output])
    assert (ended.returncode, ended.stderr) == (1, "")


def test_that_nobody_reads_on_changes_no_exit_code_of_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(ROOT / "tests/golden/runs/same-group-same-tags", folder)
    assert _unread(["check", str(folder)]).returncode == 0
    (folder / "events.jsonl").write_text("x")
    assert _unread(["check", str(folder)]).returncode == 70


def test_a_full_disk_under_the_output_is_no_defect() -> None:
    with Path("/dev/full").open("wb") as full:
        ended = _ended(["explain", "retry"], full)
    said = "rocketchaos: nothing more can be written: No space left on device\n  Make room on the disk.\n"
    assert (ended.returncode, ended.stderr) == (4, said)
