"""Runs `rocketchaos` as a user does, as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CODE = "import sys, rocketchaos.harness.cli.main; sys.exit(rocketchaos.harness.cli.main.main())"


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Its JSON."""
        document: dict[str, Any] = json.loads(self.out)
        return document


def started(*arguments: str | Path, cwd: Path) -> subprocess.Popen[str]:
    """A command that runs, with its output kept."""
    return subprocess.Popen(
        [sys.executable, "-P", "-c", CODE, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def rocketchaos(
    *arguments: str | Path, cwd: Path, limit_s: float = 180, group: int | None = None, **environment: str
) -> Ended:
    """Run a command to its end, as a member of this group of users; never a traceback, whatever it was asked."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", CODE, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=limit_s,
        check=False,
        group=group,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Ended(done.returncode, done.stdout, done.stderr)
