"""What `doctor` says of containers where there is no engine, and of clients."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocketchaos.harness.cli.doctor import doctor
from rocketchaos.harness.core.errors import ExitCode


def containers(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """What it found of them."""
    assert doctor(as_json=True) is ExitCode.AS_EXPECTED
    found = json.loads(capsys.readouterr().out)["found"]
    (item,) = (load for load in found if load["name"] == "containers")
    return dict(item)


def test_without_an_engine_nothing_else_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///there/is/no.sock")
    found = containers(capsys)
    assert (found["ok"], found["needed"]) == (False, False)
    assert found["text"] == "no container engine runs here: no `--on containers`"


def test_a_machine_without_the_native_library_lacks_that_client_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///there/is/no.sock")
    monkeypatch.setenv("ROCKETCHAOS_LIBROCKETMQ", "/there/is/no.so")
    assert doctor(as_json=True) is ExitCode.AS_EXPECTED
    found = json.loads(capsys.readouterr().out)["found"]
    (item,) = (load for load in found if load["name"] == "client python")
    assert (item["ok"], item["needed"]) == (False, False)
    assert "ROCKETCHAOS_LIBROCKETMQ names no library: No such file or directory" in item["text"]


def test_everything_that_fails_has_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCKETCHAOS_CACHE", str(tmp_path / "file"))
    (tmp_path / "file").write_text("no folder")
    assert doctor(as_json=True) is ExitCode.ENVIRONMENT
    failed = [found["name"] for found in json.loads(capsys.readouterr().out)["found"] if found["needed"]]
    assert "jars" in failed
    assert not [name for name in failed if "lambda" in name]


def test_a_configuration_file_that_is_broken_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rocketchaos.toml").write_text("[images")
    monkeypatch.chdir(tmp_path)
    assert doctor(as_json=True) is ExitCode.ENVIRONMENT
    (found,) = [
        item for item in json.loads(capsys.readouterr().out)["found"] if item["name"] == "configuration"
    ]
    assert (found["ok"], found["needed"]) == (False, True)
    assert "is no TOML: rocketchaos.toml" in found["text"]
