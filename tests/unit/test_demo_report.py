"""What `make demo-report` does with how its commands end; what these do is tested elsewhere."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = """\
#!/bin/bash
echo "$*" >> {calls}
case "$1 $2" in
  run*) echo '320 runs: 319 as expected, 1 not'; exit {run} ;;
  'report ingest') mkdir -p "${{@: -1}}" ;;
  report*) mkdir -p "${{@: -1}}"; touch "${{@: -1}}/$2.html"; echo "the $2 in short"; exit {report} ;;
esac
"""


def demo(folder: Path, *, run: int, report: int = 0) -> tuple[int, str, list[str]]:
    """Exit code, what was said, and the commands."""
    command, calls = folder / "rocketchaos", folder / "calls"
    command.write_text(COMMAND.format(calls=calls, run=run, report=report))
    command.chmod(0o755)
    made = folder / "venv"
    variables = (f"VENV={made}", f"BIN={folder}", f"DEMO={folder}/demo", "REPEAT=2")
    ended = subprocess.run(
        ["make", "-o", f"{made}/.reports", *variables, "demo-report"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return ended.returncode, ended.stdout, calls.read_text().splitlines()


@pytest.mark.parametrize("code", [0, 1, 3, 4])
def test_however_runs_end_the_reports_are_made(tmp_path: Path, code: int) -> None:
    ended, said, commands = demo(tmp_path, run=code)
    assert ended == 0
    assert "--repeat 2 --matrix clients=java,python rocketmq=4.9.4,5.5.0" in commands[0]
    assert [" ".join(one.split()[:2]) for one in commands[1:]] == [
        "report ingest", "report flakiness", "report divergence", "report timing",
    ]  # fmt: skip
    assert "320 runs: 319 as expected, 1 not" in said
    for name in ("flakiness", "divergence", "timing"):
        assert f"the {name} in short" in said
        assert f"{tmp_path}/demo/reports/{name}.html" in said


@pytest.mark.parametrize("code", [2, 70, 130, 143])
def test_what_is_no_outcome_ends_it(tmp_path: Path, code: int) -> None:
    ended, _, commands = demo(tmp_path, run=code)
    assert ended != 0
    assert len(commands) == 1


def test_a_report_that_can_not_be_made_is_a_failure(tmp_path: Path) -> None:
    ended, _, commands = demo(tmp_path, run=0, report=4)
    assert ended != 0
    assert [one.split()[1] for one in commands[1:]] == ["ingest", "flakiness"]


def test_its_scenarios_are_there() -> None:
    text = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    (line,) = (one for one in text.splitlines() if one.startswith("DEMO_SCENARIOS := "))
    names = line.partition(":=")[2].split()
    assert len(names) >= 4
    assert all((ROOT / "scenarios" / f"{name}.scenario.yaml").is_file() for name in names)
