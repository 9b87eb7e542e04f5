"""Packages of clients in folders of their own, with a pip that finds wheels in a folder instead of an index."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import rocketchaos
from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from rocketchaos.harness.workers import client_packages
from rocketchaos.harness.workers.worker_kinds import KINDS

REAL_REQUIREMENTS = client_packages.requirements


def wheel(folder: Path, name: str, version: str, content: str) -> None:
    """A wheel with one module, `rocketmq`."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr("rocketmq/__init__.py", content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("ROCKETCHAOS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    for name in ("one", "two"):
        wheel(folder, name, "1.0", f"OWNER = '{name}'\n")
    monkeypatch.setattr(client_packages, "requirements", lambda extra: (f"{extra}==1.0",))
    return folder


def test_two_owners_of_one_import_name_live_in_two_folders(wheels: Path) -> None:
    said: list[str] = []
    folders = [client_packages.packages_folder(name, said.append) for name in ("one", "two")]
    owners = [(folder / "rocketmq" / "__init__.py").read_text() for folder in folders]
    assert owners == ["OWNER = 'one'\n", "OWNER = 'two'\n"]
    assert said == ["installing one==1.0 into the cache", "installing two==1.0 into the cache"]


def test_what_is_there_is_not_installed_again(wheels: Path) -> None:
    assert not client_packages.installed("one")
    folder = client_packages.packages_folder("one")
    assert client_packages.installed("one")
    shutil.rmtree(wheels)
    said: list[str] = []
    assert client_packages.packages_folder("one", said.append) == folder
    assert said == []


@pytest.mark.parametrize(
    "damage", ["lost", *(pytest.param(each, marks=pytest.mark.nightly) for each in ("cut", "index"))]
)
def test_what_is_not_whole_is_installed_anew(wheels: Path, damage: str) -> None:
    folder = client_packages.packages_folder("one")
    module, index = folder / "rocketmq" / "__init__.py", folder / "rocketchaos-index.json"
    match damage:
        case "lost":
            module.unlink()
        case "cut":
            module.write_text("")
        case "index":
            index.write_text(json.dumps({"schema_version": 0}))
    assert not client_packages.installed("one")
    assert client_packages.packages_folder("one") == folder
    assert module.read_text() == "OWNER = 'one'\n"


def test_another_version_gets_another_folder(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = client_packages.packages_folder("one")
    wheel(wheels, "one", "1.1", "OWNER = 'newer'\n")
    monkeypatch.setattr(client_packages, "requirements", lambda extra: (f"{extra}==1.1",))
    second = client_packages.packages_folder("one")
    assert first != second
    assert client_packages._whole(first)


def test_several_at_once_install_once(wheels: Path) -> None:
    said: list[str] = []
    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(lambda _: client_packages.packages_folder("one", said.append), range(4)))
    assert len(folders) == 1
    assert said.count("installing one==1.0 into the cache") == 1


def test_what_can_not_be_had_is_one_message_and_leaves_nothing(
    wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (wheels / "one-1.0-py3-none-any.whl").unlink()
    with pytest.raises(
        EnvironmentNotReady, match=r"one==1\.0 can't be installed: ERROR: No matching"
    ) as raised:
        client_packages.packages_folder("one")
    assert "PIP_INDEX_URL" in raised.value.hint
    assert not client_packages.installed("one")


def test_without_pip_uv_installs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    assert client_packages._installer() == [
        "/bin/uv",
        "pip",
        "install",
        "--quiet",
        "--python",
        sys.executable,
    ]
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(EnvironmentNotReady, match="no pip, and there is no `uv`"):
        client_packages._installer()


def test_the_extras_have_the_versions_that_the_kinds_of_clients_name() -> None:
    for kind in CLIENT_KINDS.values():
        extra = KINDS[kind.worker].packages
        if extra is not None:
            (requirement,) = REAL_REQUIREMENTS(extra)
            assert requirement.endswith(f"=={kind.version}")
    with pytest.raises(HarnessDefect, match="no extra `nothing`"):
        REAL_REQUIREMENTS("nothing")


def test_an_installed_distribution_tells_its_extras_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    info = tmp_path / "rocketmq_chaos_harness-1.dist-info"
    info.mkdir()
    lines = [
        *("Metadata-Version: 2.1", "Name: rocketmq-chaos-harness", "Version: 1"),
        "Requires-Dist: filelock>=3.12",
        'Requires-Dist: rocketmq-client-python==2.0.0; extra == "client-python"',
    ]
    (info / "METADATA").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    # There is no pyproject.toml beside an installed package.
    monkeypatch.setattr(rocketchaos, "__file__", str(tmp_path / "rocketchaos" / "__init__.py"))
    assert REAL_REQUIREMENTS("client-python") == ("rocketmq-client-python==2.0.0",)
