"""A project may have packages that are called as folders of this repository are: each finds its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = ["harness", "assertions", "scenarios", "spark_reports", "tests"]
PLUGIN = (
    "import importlib.metadata as m, sys; sys.exit(not m.entry_points(group='pytest11', name='rocketchaos'))"
)
SCENARIO = ROOT / "scenarios" / "tags" / "same-group-different-tags.scenario.yaml"


@pytest.fixture(scope="module")
def plugin_arguments() -> list[str]:
    """How pytest comes to the plugin: by its entry point where the project is installed."""
    installed = subprocess.run([sys.executable, "-c", PLUGIN], env=environment(), check=False).returncode == 0
    return [] if installed else ["-p", "rocketchaos.harness.pytest_plugin"]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Packages of each of these names, and tests that import them."""
    for name in NAMES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"ANSWER = {name!r}\n")
    imports = "".join(f"    from {name} import ANSWER\n    assert ANSWER == {name!r}\n" for name in NAMES)
    (tmp_path / "tests" / "test_mine.py").write_text(f"def test_plain(): pass\ndef test_own():\n{imports}")
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    return tmp_path


def test_the_command_runs_beside_them(project: Path) -> None:
    valid = run(["-m", "rocketchaos", "validate", str(SCENARIO)], project)

    assert valid.returncode == 0, valid.stderr
    assert valid.stdout.startswith("1 valid")


@pytest.mark.parametrize("options", [[], ["-W", "error"], ["-p", "no:rocketchaos"]])
def test_its_own_tests_run_with_the_plugin_and_without(
    project: Path, plugin_arguments: list[str], options: list[str]
) -> None:
    given = [] if "no:rocketchaos" in options else plugin_arguments
    ended = run(["-m", "pytest", *given, *options], project)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 passed" in ended.stdout
    assert "warning" not in ended.stdout


def test_scenarios_and_the_fixture_are_there_too(project: Path, plugin_arguments: list[str]) -> None:
    (project / SCENARIO.name).write_bytes(SCENARIO.read_bytes())

    collected = run(["-m", "pytest", *plugin_arguments, "--collect-only", "-q"], project)
    fixtures = run(["-m", "pytest", *plugin_arguments, "--fixtures", "-q"], project)

    assert f"{SCENARIO.name}::same-group-different-tags" in collected.stdout, collected.stdout
    assert "3 tests collected" in collected.stdout
    assert "rocketmq" in fixtures.stdout


def test_a_missing_dependency_is_named(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'typer'\", name='typer')\n"
    )

    ended = run(["-m", "rocketchaos", "list"], tmp_path)

    assert ended.returncode == 4
    assert ended.stderr.startswith("rocketchaos: the package `typer`, which it needs, is not installed\n")
    assert "Traceback" not in ended.stderr
