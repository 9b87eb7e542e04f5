"""What is wrong with a place is told before Spark starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rocketchaos.harness.core.errors import ExitCode


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        *(
            (("tidy", "--store", "none", "--keep", keep), f"--keep takes days, 1d to 36500d, not `{keep}`")
            for keep in ("400", "0d", "1y", "-1d", "d", "99999d", f"{'9' * 5000}d")
        ),
        (("package", "--out", "."), "a package is a zip: ."),
        (("package", "--out", "rocketchaos.py"), "a package is a zip: rocketchaos.py"),
        (
            ("flakiness", "--store", "none", "--out", "s3a://bucket/x"),
            "s3a://bucket/x is no folder of this machine",
        ),
    ],
)
def test_a_place_that_can_not_be_is_one_message(
    tmp_path: Path, arguments: tuple[str, ...], found: str
) -> None:
    run = subprocess.run(
        [
            sys.executable,
            "-P",
            "-c",
            "import sys, rocketchaos.harness.cli.main; sys.exit(rocketchaos.harness.cli.main.main())",
            "report",
            *arguments,
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (run.returncode, run.stdout) == (ExitCode.USAGE, "")
    assert run.stderr.startswith(f"rocketchaos: {found}")
    assert not any(tmp_path.iterdir())
