"""Class-data archives: which one fits, which is used, and what is kept of those that a JVM has written."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.jars.class_archive import SWITCH, ClassArchive
from rocketchaos.harness.jars.java_home import Java


def java(folder: Path, *, base: bool = True, refuses: bool = False) -> Java:
    """A Java of which all but the answer to `-version` is missing."""
    folder.mkdir(exist_ok=True)
    executable = folder / "java"
    executable.write_text(f"#!/bin/sh\necho no such archive >&2\nexit {int(refuses)}\n")
    executable.chmod(0o755)
    libjvm = folder / "libjvm.so"
    libjvm.write_bytes(b"jvm")
    if base:
        (folder / "classes.jsa").write_bytes(b"base")
    return Java(folder, executable, 17, "JAVA_HOME", libjvm, True)


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClassArchive:
    monkeypatch.setenv(paths.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.delenv(SWITCH, raising=False)
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"classes")
    return ClassArchive("broker", java(tmp_path / "java"), (jar,))


def write(archive: ClassArchive, folder: Path, content: bytes = b"archived classes") -> None:
    """As a JVM that was started with the options of `making` does at its end."""
    folder.mkdir(exist_ok=True)
    option = next(item for item in archive.making(folder) if item.startswith("-XX:ArchiveClassesAtExit="))
    Path(option.partition("=")[2]).write_bytes(content)


def kept(archive: ClassArchive, tmp_path: Path) -> Path:
    write(archive, tmp_path / "made")
    archive.keep(tmp_path / "made")
    (file,) = paths.archives_folder().glob("*.jsa")
    return file


def test_without_an_archive_a_jvm_gets_no_option(archive: ClassArchive) -> None:
    assert archive.options() == []
    assert archive.can_be_made()


def test_what_was_kept_is_used_silently_and_its_content_is_checked(
    archive: ClassArchive, tmp_path: Path
) -> None:
    file = kept(archive, tmp_path)
    assert file.read_bytes() == b"archived classes"
    assert archive.options() == ["-XX:+VerifySharedSpaces", f"-XX:SharedArchiveFile={file}", "-Xlog:cds*=off"]
    assert not archive.can_be_made()


def test_it_fits_the_jars_and_the_java_that_it_was_made_with_and_no_others(
    archive: ClassArchive, tmp_path: Path
) -> None:
    kept(archive, tmp_path)
    other_jar, newer_java = tmp_path / "b.jar", java(tmp_path / "newer")
    other_jar.write_bytes(b"classes")
    assert ClassArchive("broker", archive.java, (*archive.jars, other_jar)).options() == []
    assert ClassArchive("proxy", archive.java, archive.jars).options() == []
    assert ClassArchive("broker", newer_java, archive.jars).options() == []
    assert archive.options() != []


@pytest.mark.parametrize("changed", ["jar", "java"])
def test_where_a_jar_or_the_java_has_changed_it_is_not_used(
    archive: ClassArchive, tmp_path: Path, changed: str
) -> None:
    kept(archive, tmp_path)
    file = archive.jars[0] if changed == "jar" else archive.java.libjvm
    os.utime(file, (time.time(), file.stat().st_mtime + 1))
    assert archive.options() == []
    assert archive.can_be_made()


def test_one_that_was_cut_off_is_not_used(archive: ClassArchive, tmp_path: Path) -> None:
    file = kept(archive, tmp_path)
    os.truncate(file, 5)
    assert archive.options() == []
    assert archive.can_be_made()


def test_one_that_was_not_written_to_its_end_is_not_used(archive: ClassArchive, tmp_path: Path) -> None:
    """As after a SIGKILL: under its name there is nothing yet."""
    file = kept(archive, tmp_path)
    file.rename(file.with_name(f"{file.name.partition('.')[0]}.part"))
    assert archive.options() == []
    kept(archive, tmp_path)
    assert archive.options() != []


def test_what_no_jvm_can_start_with_is_not_kept(archive: ClassArchive, tmp_path: Path) -> None:
    java(tmp_path / "java", refuses=True)
    write(archive, tmp_path / "made")
    with pytest.raises(EnvironmentNotReady, match="broker can't be used: no such archive"):
        archive.keep(tmp_path / "made")
    assert list(paths.archives_folder().iterdir()) == []


def test_a_jvm_that_has_written_none_is_named(archive: ClassArchive, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentNotReady, match="Java 17 has written no class-data archive of broker"):
        archive.keep(tmp_path)


def test_a_java_without_an_archive_of_its_own_classes_can_make_none(
    archive: ClassArchive, tmp_path: Path
) -> None:
    assert not ClassArchive("broker", java(tmp_path / "bare", base=False), archive.jars).can_be_made()


def test_after_a_failure_nobody_tries_for_a_day(archive: ClassArchive) -> None:
    archive.note_failure("it ended with signal SIGSEGV")
    assert not archive.can_be_made()
    (note,) = paths.archives_folder().iterdir()
    assert note.read_text() == "it ended with signal SIGSEGV\n"
    a_day_ago = time.time() - 24 * 3600 - 1
    os.utime(note, (a_day_ago, a_day_ago))
    assert archive.can_be_made()


def test_a_switch_turns_them_off(
    archive: ClassArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(archive, tmp_path)
    monkeypatch.setenv(SWITCH, "0")
    assert archive.options() == []
    assert not ClassArchive("proxy", archive.java, archive.jars).can_be_made()


def test_those_of_a_program_that_nobody_has_used_for_a_month_are_removed(
    archive: ClassArchive, tmp_path: Path
) -> None:
    month_ago = time.time() - 31 * 24 * 3600
    old, fresh, other = (
        paths.archives_folder() / name for name in ("broker-old.3.jsa", "broker-new.3.jsa", "proxy-old.3.jsa")
    )
    for file in (old, fresh, other):
        file.write_bytes(b"abc")
    for file in (old, other):
        os.utime(file, (month_ago, month_ago))
    write(archive, tmp_path / "made")
    archive.keep(tmp_path / "made")
    assert (old.exists(), fresh.exists(), other.exists()) == (False, True, True)
