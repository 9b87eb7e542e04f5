"""Whoever reads what a command says may go at any time, as `head` does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["explain"], ["explain", "retry"]])
def test_that_nobody_reads_on_is_no_failure(arguments: list[str]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "rocketchaos", *arguments],
            stdout=write_end,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            check=False,
            timeout=60,
        )
    finally:
        os.close(write_end)
    assert (ended.returncode, ended.stderr) == (0, "")
