"""Two nights of real runs, the second on an older broker: `report diff` names that first, and leads to its run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rocketchaos.harness.core.errors import ExitCode

pytestmark = [pytest.mark.spark, pytest.mark.nightly, pytest.mark.slow, pytest.mark.timeout(1800)]

SCENARIOS = Path(__file__).parents[2] / "scenarios"
REGRESSED, SOUND = "retries-of-a-changed-sql", "same-group-same-tags"
RUNS = 4


def rocketchaos(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rocketchaos", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def night(place: Path, rocketmq: str) -> None:
    """Up to 5.1.3 a broker filters retries with the stored SQL, and a failed message never comes again."""
    text = (SCENARIOS / "filter" / "retries-pass-the-sql-anyhow.scenario.yaml").read_text(encoding="utf-8")
    text = text.replace("name: retries-pass-the-sql-anyhow", f"name: {REGRESSED}").replace(
        'rocketmq: ">=5.1.4"\n', ""
    )
    own = place / f"{REGRESSED}.scenario.yaml"
    own.write_text(
        text.replace(
            "settle: {retried: a, count: 2, within: 60s}",
            "settle: {retried: a, count: 1, within: 60s}\n  - wait: 4s",
        ),
        encoding="utf-8",
    )
    sound = SCENARIOS / "tags" / f"{SOUND}.scenario.yaml"
    options = ["--rocketmq", rocketmq, "--repeat", str(RUNS), "--runs", f"runs-{rocketmq}"]
    done = rocketchaos("run", str(own), str(sound), *options, cwd=place)
    assert done.returncode in (ExitCode.AS_EXPECTED, ExitCode.NOT_AS_EXPECTED), done.stdout + done.stderr
    assert rocketchaos("report", "ingest", f"runs-{rocketmq}", "--store", "store", cwd=place).returncode == 0


def test_the_older_broker_of_the_second_night_is_named_first(tmp_path: Path) -> None:
    night(tmp_path, "5.5.0")
    night(tmp_path, "4.9.4")
    done = rocketchaos("report", "diff", "--store", "store", "--out", "reports", "--line", cwd=tmp_path)
    assert done.returncode == ExitCode.NOT_AS_EXPECTED, done.stdout + done.stderr
    (line,) = done.stdout.splitlines()
    assert f"first: {REGRESSED} java 4.9.4 became failing: {RUNS} of {RUNS} → 0 of {RUNS} as expected" in line
    assert "with rocketmq 5.5.0 → 4.9.4" in line
    report = json.loads((tmp_path / "reports" / "diff.json").read_text(encoding="utf-8"))
    tables = {part["name"]: part["rows"] for part in report["sections"][0]["parts"]}
    assert [row["scenario"] for row in tables["new_cells"]] == [REGRESSED]
    run = Path(tables["new_cells"][0]["source"].removeprefix("file:"))
    assert run.is_relative_to(tmp_path / "runs-4.9.4")
    page = (tmp_path / "reports" / "diff.html").read_text(encoding="utf-8")
    link = f"../{run.relative_to(tmp_path)}/report.html"
    assert f'href="{link}"' in page
    assert (tmp_path / "reports" / link).is_file()
