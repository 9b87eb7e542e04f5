from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from rocketchaos.harness.containers.container_engine import Engine

LINUX = {"OperatingSystem": "Debian GNU/Linux 12 (bookworm)", "KernelVersion": "6.1.0-18-amd64"}
DESKTOP = {"OperatingSystem": "Docker Desktop", "KernelVersion": "6.10.14-linuxkit"}
WSL = {"OperatingSystem": "Docker Desktop", "KernelVersion": "5.15.153.1-microsoft-standard-WSL2"}
ROOTLESS = {**LINUX, "SecurityOptions": ["name=seccomp,profile=builtin", "name=rootless"]}
OWN = f"{os.getuid()}:{os.getgid()}"


def engine_of(info: dict[str, Any]) -> Engine:
    client: Any = SimpleNamespace(info=lambda: info)
    return Engine(client)


@pytest.mark.parametrize(
    ("info", "said", "expected"),
    [
        (LINUX, None, False),
        (LINUX, "", False),
        (LINUX, "1", True),
        (LINUX, "0", False),
        (DESKTOP, None, True),
        (DESKTOP, "0", False),
        (WSL, None, True),
    ],
)
def test_whether_it_is_in_a_vm(
    monkeypatch: pytest.MonkeyPatch, info: dict[str, Any], said: str | None, expected: bool
) -> None:
    monkeypatch.delenv("ROCKETCHAOS_ENGINE_IN_VM", raising=False)
    if said is not None:
        monkeypatch.setenv("ROCKETCHAOS_ENGINE_IN_VM", said)
    assert engine_of(info).in_vm is expected


@pytest.mark.parametrize(
    ("info", "expected"), [(LINUX, OWN), (WSL, OWN), (DESKTOP, "0:0"), (ROOTLESS, "0:0")]
)
def test_as_whom_containers_write_this_user_s_files(info: dict[str, Any], expected: str) -> None:
    assert engine_of(info).user == expected
