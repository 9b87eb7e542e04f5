"""When the class-data archive of Spark's JVM is made, used and kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocketchaos.harness.core import paths
from rocketchaos.harness.jars.class_archive import SWITCH, alone
from rocketchaos.harness.jars.java_home import Java
from rocketchaos.spark_reports.spark_archive import ArchiveUse, spark_archive
from tests.unit.jars.test_class_archive import java as java_in


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    monkeypatch.setenv(paths.CACHE_VARIABLE, str(tmp_path / "cache"))
    for name in (SWITCH, "SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    return java_in(tmp_path / "java")


def run(
    java: Java, folder: Path, *, make: bool = True, fails: bool = False, writes: bool = True
) -> ArchiveUse:
    """As a session of Spark, whose JVM writes its archive when it ends."""
    folder.mkdir(exist_ok=True)
    with spark_archive(java, (), folder, make=make) as archive:
        if fails:
            raise ZeroDivisionError
        if archive.makes and writes:
            option = next(item for item in archive.options if item.startswith("-XX:ArchiveClassesAtExit="))
            Path(option.partition("=")[2]).write_bytes(b"classes")
    return archive


def kept() -> list[str]:
    return [file.suffix for file in paths.archives_folder().iterdir() if file.name != "lock-of-spark"]


def test_it_is_made_once_and_then_used(java: Java, tmp_path: Path) -> None:
    assert run(java, tmp_path / "session", make=False) == ArchiveUse([], makes=False)
    assert run(java, tmp_path / "session").makes
    assert kept() == [".jsa"]
    for make in (True, False):
        used = run(java, tmp_path / "session", make=make)
        assert not used.makes
        assert any(option.startswith("-XX:SharedArchiveFile=") for option in used.options)


def test_a_session_that_fails_keeps_nothing_and_the_next_makes_it(java: Java, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        run(java, tmp_path / "session", fails=True)
    assert kept() == []
    assert run(java, tmp_path / "session").makes


def test_a_jvm_that_writes_none_is_noted_and_not_asked_again(java: Java, tmp_path: Path) -> None:
    assert run(java, tmp_path / "session", writes=False).makes
    assert kept() == [".failed"]
    assert not run(java, tmp_path / "session").makes


@pytest.mark.parametrize(
    "why", ["busy", "folder on the class path", "made by another process", "switched off"]
)
def test_nothing_is_made(java: Java, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    if why == "busy":
        monkeypatch.setattr(os, "getloadavg", lambda: (1000.0, 0.0, 0.0))
    if why == "folder on the class path":
        monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    if why == "switched off":
        monkeypatch.setenv(SWITCH, "0")
    if why == "made by another process":
        with alone("lock-of-spark") as mine:
            assert mine
            assert run(java, tmp_path / "session") == ArchiveUse([], makes=False)
        return
    assert run(java, tmp_path / "session") == ArchiveUse([], makes=False)
