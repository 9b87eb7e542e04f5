"""What `doctor` says of images where there is a container engine."""

from __future__ import annotations

import json

import pytest

from rocketchaos.harness.cli.doctor import doctor
from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.core.errors import ExitCode

pytestmark = pytest.mark.containers


def test_with_an_engine_it_says_which_images_are_there(
    engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCKETCHAOS_IMAGE_ROCKETMQ", "example.invalid/rocketmq:{version}")
    assert doctor(as_json=True) is ExitCode.AS_EXPECTED
    found = json.loads(capsys.readouterr().out)["found"]
    (containers,) = (load for load in found if load["name"] == "containers")
    assert containers["ok"] is False
    assert "example.invalid/rocketmq:4.9.4 is not there yet" in containers["text"]
    assert "API" in containers["text"]
