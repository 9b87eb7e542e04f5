"""Programs in Go that tests start, built by `go install` from its module proxy and kept in the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.cache_lock import cache_lock

_LIMIT_S = 1200


def go_program(package: str, version: str) -> Path:
    """The program of this package, built if the cache lacks it; without Go the test is skipped."""
    name = package.rpartition("/")[2]
    folder = paths.cache_folder() / "test-servers"
    program = folder / f"{name}-{version}"
    if program.exists():
        return program
    if shutil.which("go") is None:
        pytest.skip(f"{name} is built with Go, which isn't here")
    folder.mkdir(exist_ok=True)
    with cache_lock(folder, "test-servers", print), tempfile.TemporaryDirectory(dir=folder) as scratch:
        if not program.exists():
            built = subprocess.run(
                ["go", "install", f"{package}@{version}"],
                env={**os.environ, "GOBIN": scratch},
                capture_output=True,
                text=True,
                check=False,
                timeout=_LIMIT_S,
            )
            assert built.returncode == 0, built.stderr[-2000:]
            (Path(scratch) / name).rename(program)
    return program
