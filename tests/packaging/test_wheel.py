"""What users install: the wheel and the source distribution, in an environment of their own.

The dependencies are those of the environment that runs the tests: only this project itself is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = {path.relative_to(ROOT).as_posix() for path in (ROOT / "scenarios").rglob("*.scenario.yaml")}
LIMIT_S = 120


def run(*command: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Without what would lead to this checkout."""
    known = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST"))}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**known, "COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The source distribution, and the wheel that is made from it, as a package index would get them."""
    target = tmp_path_factory.mktemp("dist")
    ended = run(sys.executable, "-m", "build", "--no-isolation", "--outdir", target, ROOT, cwd=target)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return {path.suffix: path for path in target.iterdir()}


@pytest.fixture(scope="module")
def installed(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True, with_pip=False)
    python = folder / "bin" / "python"
    ended = run(
        *(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"),
        built[".whl"],
        cwd=folder,
    )
    assert ended.returncode == 0, ended.stderr
    paths = {"base": str(folder), "platbase": str(folder)}
    own = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    # The dependencies only: an editable install's .pth files in that folder aren't read.
    (own / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def test_the_wheel_has_everything_in_its_place(built: dict[str, Path]) -> None:
    names = set(zipfile.ZipFile(built[".whl"]).namelist())

    assert {f"rocketchaos/{name}" for name in ("__init__.py", "__main__.py", "py.typed")} <= names
    data = {
        f"rocketchaos/{path.relative_to(ROOT).as_posix()}"
        for room in ("harness", "assertions", "spark_reports", "scenarios")
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert data <= names
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {
        "rocketchaos",
        "rocketmq_chaos_harness",
    }


def test_the_wheel_says_what_it_is(built: dict[str, Path]) -> None:
    wheel = zipfile.ZipFile(built[".whl"])
    information = {
        Path(name).name: wheel.read(name).decode() for name in wheel.namelist() if ".dist-info/" in name
    }

    assert "License-Expression: Apache-2.0" in information["METADATA"]
    assert "Apache License" in information["LICENSE"]
    assert "rocketchaos = rocketchaos.__main__:main" in information["entry_points.txt"]
    assert "[pytest11]\nrocketchaos = rocketchaos.harness.pytest_plugin" in information["entry_points.txt"]


def test_the_source_distribution_has_what_it_takes_to_develop(built: dict[str, Path]) -> None:
    with tarfile.open(built[".gz"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {"Makefile", "constraints.txt", "LICENSE", "README.md", "tests/packaging/test_wheel.py"} <= names
    assert names >= {f"rocketchaos/{scenario}" for scenario in SCENARIOS}
    assert not {name for name in names if name.startswith((".venv", "runs", "dist", "build"))}


def test_the_command_works_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    listed = run(installed / "rocketchaos", "list", "--json", cwd=tmp_path)

    assert listed.returncode == 0, listed.stderr
    for scenario in SCENARIOS:
        assert Path(scenario).name.removesuffix(".scenario.yaml") in listed.stdout
    assert str(ROOT) not in listed.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_shipped_scenario_is_valid_as_a_file_of_one_s_own(installed: Path, tmp_path: Path) -> None:
    for scenario in SCENARIOS:
        (tmp_path / Path(scenario).name).write_bytes((ROOT / scenario).read_bytes())

    ended = run(installed / "rocketchaos", "validate", ".", cwd=tmp_path)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(f"{len(SCENARIOS)} valid")


def test_pytest_finds_the_plugin_by_itself(installed: Path, tmp_path: Path) -> None:
    for scenario in SCENARIOS:
        (tmp_path / Path(scenario).name).write_bytes((ROOT / scenario).read_bytes())

    ended = run(
        installed / "python", "-m", "pytest", "--collect-only", "-q", "--strict-markers", cwd=tmp_path
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{len(SCENARIOS)} tests collected" in ended.stdout


def test_a_project_may_have_packages_of_such_names(installed: Path, tmp_path: Path) -> None:
    for name in ("harness", "assertions", "spark_reports", "scenarios", "tests"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"ANSWER = {name!r}\n")
    (tmp_path / "test_mine.py").write_text(
        "import assertions, harness, scenarios, spark_reports, tests\n"
        "def test_mine(): assert harness.ANSWER == 'harness'\n"
    )

    listed = run(installed / "rocketchaos", "list", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    tested = run(installed / "python", "-m", "pytest", "-W", "error", cwd=tmp_path)

    assert listed.returncode == 0, listed.stderr
    assert tested.returncode == 0, tested.stdout
