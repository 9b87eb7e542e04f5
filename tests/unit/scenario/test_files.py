from __future__ import annotations

import codecs
import os
from pathlib import Path

import pytest

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.scenario import InvalidScenario, load_scenario
from rocketchaos.harness.scenario.file_text import LARGEST_BYTES


def refused(path: Path) -> str:
    with pytest.raises(UsageProblem) as problem:
        load_scenario(path)
    return str(problem.value)


def test_a_missing_file(tmp_path: Path) -> None:
    assert refused(tmp_path / "x.yaml").startswith(f"there is no file {tmp_path / 'x.yaml'}\n")


def test_a_file_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    assert refused(tmp_path / "x" / "y.yaml").startswith("there is no file ")


def test_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    assert "no file" in refused(tmp_path / "x\0y")
    assert "can't be read: file name too long" in refused(tmp_path / ("x" * 5000))


def test_a_directory(tmp_path: Path) -> None:
    assert refused(tmp_path) == f"{tmp_path} is a directory: give a scenario file"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refused(tmp_path / "pipe") == f"{tmp_path / 'pipe'} is no regular file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_must_not_be_read(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("name: x")
    file.chmod(0)
    assert refused(file) == f"{file} can't be read: permission denied"


def test_an_error_of_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Path, mode: str) -> None:
        raise OSError(5, "Input/output error")

    file = tmp_path / "x.yaml"
    file.write_text("name: x")
    monkeypatch.setattr(Path, "open", fail)
    assert refused(file) == f"{file} can't be read: input/output error"


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes(b"#" * (LARGEST_BYTES + 1))
    assert refused(file) == f"{file} is larger than 1 MiB: it can't be a scenario"


def test_another_encoding_has_a_place(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes("name: x\ntitle: schön\n".encode("latin-1"))
    with pytest.raises(InvalidScenario) as problem:
        load_scenario(file)
    (item,) = problem.value.diagnostics
    assert (item.line, item.column) == (2, 11)
    assert item.message == "the byte 0xF6 is not UTF-8: save the file as UTF-8"


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE])
def test_wide_encodings(tmp_path: Path, mark: bytes) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes(mark + b"n\0a\0")
    assert "the file is in UTF-16 or UTF-32: save it as UTF-8" in refused(file)
