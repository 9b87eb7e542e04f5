"""The Go worker is built once, here by a program that stands in for `go`; without Go, it says what it needs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode
from rocketchaos.harness.rocketmq.kinds.go import GO
from rocketchaos.harness.workers import go_program as module
from rocketchaos.harness.workers.go_program import go_program

_GO = """#!/bin/sh
here=$(dirname "$0")
case "$1" in
version) cat "$here/says" ;;
build)
  echo "$*" >> "$here/builds"
  echo "$CGO_ENABLED $GOWORK $PWD" > "$here/environment"
  [ -f "$here/broken" ] && { echo "go: downloading" >&2; cat "$here/broken" >&2; exit 1; }
  while [ "$1" != "-o" ]; do shift; done
  cp "$here/says" "$2" ;;
esac
"""


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a toolchain that copies what it says of itself in place of building."""
    folder = tmp_path / "toolchain"
    folder.mkdir()
    program = folder / "go"
    program.write_text(_GO)
    program.chmod(0o755)
    (folder / "says").write_text("go version go1.99 linux/amd64\n")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("ROCKETCHAOS_CACHE", str(tmp_path / "cache"))
    module._version.cache_clear()
    yield folder
    module._version.cache_clear()


def builds(go: Path) -> int:
    file = go / "builds"
    return len(file.read_text().splitlines()) if file.exists() else 0


def test_what_is_built_is_not_built_again(go: Path) -> None:
    said: list[str] = []
    first, second = go_program("2.1.2", said.append), go_program("2.1.2", said.append)
    assert first == second
    assert Path(first.command[0]).read_text() == "go version go1.99 linux/amd64\n"
    assert first.folder == Path(first.command[0]).parent
    assert said == ["building the Go client 2.1.2 with your Go toolchain, once"]
    assert builds(go) == 1
    assert (go / "environment").read_text().split() == ["0", "off", str(module.SOURCE.resolve())]


@pytest.mark.parametrize("setting", sorted(GO.producer_properties))
def test_the_worker_knows_each_setting_of_a_producer(setting: str) -> None:
    """It refuses a field that it doesn't know."""
    assert f'json:"{setting}"' in (module.SOURCE / "producer.go").read_text()


def test_of_many_at_once_one_builds(go: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        programs = set(pool.map(lambda _: go_program("2.1.2"), range(4)))
    assert len(programs) == 1
    assert builds(go) == 1


def test_another_toolchain_builds_its_own(go: Path) -> None:
    first = go_program("2.1.2")
    (go / "says").write_text("go version go2.0 linux/amd64\n")
    module._version.cache_clear()
    assert go_program("2.1.2") != first
    assert builds(go) == 2


def test_each_version_of_the_client_is_a_program_of_its_own(go: Path) -> None:
    programs = {go_program(version).folder for version in ("2.1.2", "2.1.1", "2.0.0")}
    assert len(programs) == builds(go) == 3
    newest, middle, oldest = (go / "builds").read_text().splitlines()
    assert "-tags= " in newest
    assert "-tags=before_2_1_2 " in middle
    assert "-tags=before_2_1_0,before_2_1_2 " in oldest
    module_file = go_program("2.0.0").folder / "go.mod"
    assert f"-modfile={module_file} " in oldest
    assert f"{module.MODULE} v2.0.0" in module_file.read_text()
    assert f"{module.MODULE} v2.0.0 h1:" in (module_file.with_name("go.sum")).read_text()


def test_other_source_is_built_anew(go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "source"
    source.mkdir()
    shutil.copy(module.SOURCE / "go.mod", source)
    shutil.copy(module.SOURCE / "go.sum", source)
    monkeypatch.setattr(module, "SOURCE", source)
    (source / "main.go").write_text("package main\n")
    first = go_program("2.1.2")
    (source / "main.go").write_text("package main // changed\n")
    assert go_program("2.1.2") != first


def test_without_a_toolchain_it_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentNotReady, match="needs a Go toolchain, and there is no `go`") as refusal:
        go_program("2.1.2")
    assert "Install Go 1.18" in refusal.value.hint
    assert refusal.value.exit_code is ExitCode.ENVIRONMENT


def test_modules_that_cannot_be_had_are_named(go: Path) -> None:
    (go / "broken").write_text("main.go:8: example.org/module@v1: no such host\n")
    with pytest.raises(EnvironmentNotReady, match=r"can't be built: main.go:8: .* no such host") as refusal:
        go_program("2.1.2")
    assert "GOPROXY" in refusal.value.hint
    (go / "broken").unlink()
    assert Path(go_program("2.1.2").command[0]).is_file()
    assert builds(go) == 2


def test_a_toolchain_that_does_not_work_is_named(go: Path) -> None:
    (go / "go").write_text("#!/bin/sh\necho 'no GOROOT' >&2\nexit 2\n")
    with pytest.raises(EnvironmentNotReady, match="the Go toolchain doesn't work: no GOROOT"):
        go_program("2.1.2")


def test_the_source_comes_along() -> None:
    assert {"go.mod", "go.sum", "main.go"} <= {file.name for file in module.SOURCE.iterdir()}
