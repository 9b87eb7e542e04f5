"""Packages of a user's own that have the names of ours: found before anything is imported, in a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = ROOT / "harness" / "launch"
PLUGIN = (
    "import importlib.metadata as m, sys; sys.exit(not m.entry_points(group='pytest11', name='rocketchaos'))"
)


@pytest.fixture(scope="module")
def plugin_arguments() -> list[str]:
    """How pytest comes to the plugin: by its entry point where the project is installed."""
    installed = subprocess.run([sys.executable, "-c", PLUGIN], env=environment(), check=False).returncode == 0
    return [] if installed else ["-p", "rocketchaos_pytest"]


def environment(*in_front: Path) -> dict[str, str]:
    path = os.pathsep.join(map(str, [*in_front, ROOT, LAUNCH]))
    return {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}


def run(arguments: list[str], folder: Path, *in_front: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment(*in_front),
        capture_output=True,
        text=True,
        check=False,
    )


def package(folder: Path, name: str, text: str = "raise SystemExit('imported')\n") -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(text)
    return folder / name


def test_the_command_works_where_nothing_is_in_its_way(tmp_path: Path) -> None:
    ended = run(["-m", "rocketchaos", "--version"], tmp_path)

    assert ended.returncode == 0
    assert ended.stdout.startswith("rocketchaos ")


def test_python_dash_m_harness_is_the_same(tmp_path: Path) -> None:
    ended = run(["-m", "harness", "--version"], tmp_path)

    assert ended.returncode == 0
    assert ended.stdout.startswith("rocketchaos ")


@pytest.mark.parametrize("name", ["harness", "assertions", "spark_reports"])
def test_a_package_on_pythonpath_that_hides_ours_is_named(tmp_path: Path, name: str) -> None:
    stranger = package(tmp_path / "mine", name)

    ended = run(["-m", "rocketchaos", "list"], tmp_path, tmp_path / "mine")

    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr == (
        f"rocketchaos: {stranger} hides rocketchaos's own package `{name}` ({ROOT / name})\n"
        f"  Rename it, or take {tmp_path / 'mine'} off PYTHONPATH.\n"
    )


def test_a_module_in_the_current_folder_that_hides_ours_is_named(tmp_path: Path) -> None:
    (tmp_path / "harness.py").write_text("raise SystemExit('imported')\n")

    ended = run(["-m", "rocketchaos", "list"], tmp_path)

    assert ended.returncode == 2
    assert f"{tmp_path / 'harness.py'} hides" in ended.stderr
    assert f"run from another folder than {tmp_path}" in ended.stderr


def test_a_missing_dependency_is_named(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'typer'\", name='typer')\n"
    )

    ended = run(["-m", "rocketchaos", "list"], tmp_path)

    assert ended.returncode == 4
    assert ended.stderr.startswith("rocketchaos: the package `typer`, which it needs, is not installed\n")
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("name", ["harness", "assertions", "spark_reports", "tests", "scenarios"])
@pytest.mark.parametrize("options", [[], ["-W", "error"]], ids=["", "warnings are errors"])
def test_a_project_with_a_package_of_such_a_name_runs_its_tests(
    tmp_path: Path, plugin_arguments: list[str], name: str, options: list[str]
) -> None:
    package(tmp_path, name, "ANSWER = 42\n")
    text = (
        f"def test_plain(): pass\ndef test_own():\n    from {name} import ANSWER\n    assert ANSWER == 42\n"
    )
    (tmp_path / "test_mine.py").write_text(text)

    ended = run(["-m", "pytest", *plugin_arguments, *options], tmp_path)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 passed" in ended.stdout
    warned = name in ("harness", "assertions", "spark_reports") and not options
    assert ("rocketchaos steps aside" in ended.stdout) == warned


@pytest.mark.parametrize("place", ["", "tests", "tests/unit"])
def test_a_package_that_ours_would_hide_is_named_in_a_warning(
    tmp_path: Path, plugin_arguments: list[str], place: str
) -> None:
    stranger = package(tmp_path / place, "assertions")
    tests = tmp_path / "tests" / "unit"
    tests.mkdir(parents=True, exist_ok=True)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tests / "test_mine.py").write_text("def test_plain(): pass\n")

    # -P: the current folder is not on the path, as where pytest is called by its own name.
    ended = run(["-P", "-m", "pytest", *plugin_arguments, "tests/unit/test_mine.py"], tmp_path)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{stranger} can't be imported beside rocketchaos" in ended.stdout
    assert "-p no:rocketchaos" in ended.stdout


def test_what_needs_rocketchaos_says_why_it_is_not_there(tmp_path: Path, plugin_arguments: list[str]) -> None:
    stranger = package(tmp_path, "harness", "")
    (tmp_path / "test_mine.py").write_text("def test_plain(): pass\ndef test_mine(rocketmq): pass\n")
    (tmp_path / "mine.scenario.yaml").write_text("name: mine\n")

    ended = run(["-m", "pytest", *plugin_arguments, "--continue-on-collection-errors"], tmp_path)

    assert ended.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 passed" in ended.stdout
    assert "2 errors" in ended.stdout
    told = f"rocketchaos can't be used here: {stranger} hides rocketchaos's own package `harness`"
    assert ended.stdout.count(told) >= 2  # the summary repeats one
    assert "Traceback" not in ended.stderr + ended.stdout


def test_a_folder_of_tests_with_such_a_name_is_in_nobody_s_way(
    tmp_path: Path, plugin_arguments: list[str]
) -> None:
    tests = tmp_path / "harness"
    tests.mkdir()
    (tests / "conftest.py").write_text("")
    (tests / "test_mine.py").write_text("def test_mine(): pass\n")

    ended = run(["-m", "pytest", *plugin_arguments], tmp_path)

    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_plugin_imports_nothing_of_rocketchaos_unless_needed(
    tmp_path: Path, plugin_arguments: list[str]
) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import sys\ndef test_mine():\n    assert 'harness' not in sys.modules and 'pydantic' not in sys.modules\n"
    )

    ended = run(["-m", "pytest", *plugin_arguments, "-p", "no:hypothesispytest"], tmp_path)

    assert ended.returncode == 0, ended.stdout
