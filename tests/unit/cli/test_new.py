"""`rocketchaos new`: what it writes is valid, and nothing is overwritten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.scenario import load_scenario


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_it_writes_a_valid_commented_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new"]) == 0
    path = Path("my-scenario.scenario.yaml")
    assert load_scenario(path).name == "my-scenario"
    assert sum("#" in line for line in path.read_text().splitlines()) >= 15
    assert f"rocketchaos reproduce {path}" in capsys.readouterr().out
    assert main(["validate", str(path)]) == 0


def test_it_takes_a_name_and_another_scenario() -> None:
    assert main(["new", "mine", "--from", "kill-flips-the-subscription"]) == 0
    copy = load_scenario(Path("mine.scenario.yaml"))
    assert copy.name == "mine"
    assert any(step.word == "kill" for step in copy.steps)
    assert main(["new", "again", "--from", "mine.scenario.yaml"]) == 0
    assert load_scenario(Path("again.scenario.yaml")).steps == copy.steps


def test_it_overwrites_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.scenario.yaml").write_text("precious")
    assert main(["new", "mine"]) == ExitCode.USAGE
    assert "mine.scenario.yaml exists already" in capsys.readouterr().err
    assert Path("mine.scenario.yaml").read_text() == "precious"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Bad Name"], "can't be called `Bad Name`"),
        (["../up"], "can't be called `../up`"),
        (["x", "--from", "nothing-of-the-kind"], "there is no scenario or file `nothing-of-the-kind`"),
        (["x", "--from", "broken.yaml"], "broken.yaml:1:1: "),
    ],
)
def test_what_can_t_be_meant(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.yaml").write_text("nmae: x\n")
    assert main(["new", *arguments]) == ExitCode.USAGE
    assert message in capsys.readouterr().err
    assert sorted(Path().iterdir()) == [Path("broken.yaml")]


def test_a_folder_that_can_t_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    as_ever = Path.open

    def refuse(path: Path, mode: str = "r", **more: Any) -> Any:
        if mode == "x":
            raise PermissionError(13, "Permission denied")
        return as_ever(path, mode, **more)

    monkeypatch.setattr(Path, "open", refuse)
    assert main(["new"]) == ExitCode.ENVIRONMENT
    assert "can't be written: permission denied" in capsys.readouterr().err
