"""Configuration files of users' programs: templates with placeholders."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.engine.program_homes import write_files
from rocketchaos.harness.language.app_spec import App

APP = App(jar="a.jar", files={"application.yaml": "template.yaml"})


def written(tmp_path: Path, template: str, places: dict[str, str]) -> str:
    (tmp_path / "template.yaml").write_text(template)
    write_files(APP, str(tmp_path / "own.scenario.yaml"), tmp_path / "files", places)
    return (tmp_path / "files" / "application.yaml").read_text()


def test_placeholders_of_a_template_are_replaced(tmp_path: Path) -> None:
    places = {"$nameserver": "127.0.0.1:9876", "$proxy": "127.0.0.1:8081", "$files": "/run/files"}
    assert written(tmp_path, "$nameserver $proxy $files $HOME", places) == (
        "127.0.0.1:9876 127.0.0.1:8081 /run/files $HOME"
    )


def test_a_template_that_wants_a_proxy_where_there_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentNotReady, match=r"application\.yaml has `\$proxy`, and the") as caught:
        written(tmp_path, "endpoint: $proxy", {"$nameserver": "127.0.0.1:9876"})
    assert "cluster: {proxy: local}" in str(caught.value.hint)
    assert not (tmp_path / "files" / "application.yaml").exists()
