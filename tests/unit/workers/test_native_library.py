"""The C++ client's library: for which machines, whether it is the right one, and what it lacks."""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
import struct
from pathlib import Path

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.workers import native_library
from rocketchaos.harness.workers.child.python_library import Library
from rocketchaos.harness.workers.native_library import (
    LIBRARY_VARIABLE,
    check_architecture,
    check_platform,
    library,
)

X86_64, AARCH64, RISCV = 62, 183, 243


def elf(file: Path, machine: int, *, big_endian: bool = False) -> Path:
    """The beginning of an ELF file."""
    data = 2 if big_endian else 1
    order = ">" if big_endian else "<"
    file.write_bytes(b"\x7fELF" + bytes([2, data, 1]) + bytes(9) + struct.pack(f"{order}HH", 3, machine))
    return file


@pytest.mark.parametrize(
    ("system", "machine", "libc", "said"),
    [
        ("Darwin", "arm64", "", "this is Darwin on arm64"),
        ("Linux", "aarch64", "glibc", "this is Linux on aarch64 with glibc"),
        ("Linux", "x86_64", "", "this is Linux on x86_64 with another C library"),
    ],
)
def test_other_machines_get_the_way_out(system: str, machine: str, libc: str, said: str) -> None:
    with pytest.raises(EnvironmentNotReady, match=said) as raised:
        check_platform(system, machine, libc)
    assert LIBRARY_VARIABLE in raised.value.hint


def test_linux_on_x86_64_has_one() -> None:
    check_platform("Linux", "x86_64", "glibc")


def test_a_library_for_this_machine_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_architecture(elf(tmp_path / "a", X86_64), "x86_64")
    check_architecture(elf(tmp_path / "b", AARCH64), "aarch64")
    check_architecture(elf(tmp_path / "c", 22, big_endian=True), "s390x")
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    monkeypatch.setenv(LIBRARY_VARIABLE, str(tmp_path / "b"))
    assert library() == tmp_path / "b"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file or directory"),
        (b"", "no ELF library"),
        (b"#!/bin/sh\necho this is no library\n", "no ELF library"),
        (AARCH64, "a library for aarch64, and this machine is x86_64"),
        (RISCV, "a library for ELF machine 243, and this machine is x86_64"),
    ],
)
def test_a_library_that_can_not_be_is_refused(tmp_path: Path, content: bytes | int | None, said: str) -> None:
    file = tmp_path / "librocketmq.so"
    if isinstance(content, int):
        elf(file, content)
    elif content is not None:
        file.write_bytes(content)
    with pytest.raises(EnvironmentNotReady, match=said) as raised:
        check_architecture(file, "x86_64")
    assert str(file) in raised.value.message
    assert "unset it" in raised.value.hint


def test_another_file_than_the_wheels_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "rocketmq" / "librocketmq.so"
    file.parent.mkdir()
    elf(file, X86_64)
    monkeypatch.delenv(LIBRARY_VARIABLE, raising=False)
    monkeypatch.setattr(native_library, "check_platform", lambda *_: None)
    monkeypatch.setattr(native_library, "packages_folder", lambda *_: tmp_path)
    with pytest.raises(EnvironmentNotReady, match="its SHA-256 is another"):
        library()


def test_a_function_that_a_library_lacks_says_so_when_it_is_called() -> None:
    loaded = Library(ctypes.util.find_library("c"))
    assert loaded.abs(-3) == 3
    # As rocketmq.ffi declares it, long before anybody calls it.
    loaded.CreateOrderlyProducer.argtypes = [ctypes.c_char_p]
    loaded.CreateOrderlyProducer.restype = ctypes.c_void_p
    assert loaded.CreateOrderlyProducer.argtypes == [ctypes.c_char_p]
    with pytest.raises(NotImplementedError, match="no function CreateOrderlyProducer"):
        loaded.CreateOrderlyProducer(b"group")
    with pytest.raises(AttributeError):
        _ = loaded.__nothing__
