from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from rocketchaos.harness.core import configuration
from rocketchaos.harness.core.configuration import CONFIGURATION_VARIABLE, FILE_NAME, load
from rocketchaos.harness.core.errors import UsageProblem


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "user").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(platformdirs, "user_config_path", lambda _name: tmp_path / "user")


def write(file: Path, worker: str) -> Path:
    file.write_text(f'[images]\nworker = "{worker}"\n')
    return file


def test_without_a_file_everything_is_as_it_is_by_default() -> None:
    assert load({}).images.model_dump(exclude_none=True) == {}
    assert load({}).file is None


def test_the_named_file_comes_before_the_folder_s_and_that_before_the_user_s(tmp_path: Path) -> None:
    named = write(tmp_path / "named.toml", "named")
    write(tmp_path / "user" / FILE_NAME, "user")
    assert load({}).images.worker == "user"
    write(tmp_path / "here" / FILE_NAME, "here")
    assert load({}).images.worker == "here"
    assert load({CONFIGURATION_VARIABLE: str(named)}).images.worker == "named"
    assert load({CONFIGURATION_VARIABLE: str(named)}).file == named


def test_all_images_can_be_set() -> None:
    Path(FILE_NAME).write_text(
        '[images]\nrocketmq = "a/r:{version}"\ndashboard = "d"\nworker = "w"\ntoxiproxy = "t@sha256:1f"\n'
    )
    assert load({}).images.rocketmq == "a/r:{version}"
    assert load({}).images.toxiproxy == "t@sha256:1f"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[images\n", ["no TOML", FILE_NAME, "line 1"]),
        ("[image]\n", [f"image in {FILE_NAME} is unknown", "Is `images` meant?"]),
        (
            '[images]\nrocketmg = "x"\n',
            [f"images.rocketmg in {FILE_NAME}", "Is `rocketmq` meant?", "`worker`"],
        ),
        ('[images]\nzzz = "x"\n', [f"images.zzz in {FILE_NAME} is unknown", "There is `rocketmq`"]),
        ("[images]\nworker = 5\n", [f"images.worker in {FILE_NAME}", "string"]),
        ("images = 5\n", [f"images in {FILE_NAME}"]),
        ('[images]\nworker = ""\n', [f"images.worker in {FILE_NAME}", "at least 1"]),
        ('[images]\nworker = "w:{vers}"\n', [f"images.worker in {FILE_NAME}", "'w:{vers}'", "{version}"]),
        ('[images]\nworker = "w:{version"\n', ["images.worker", "{version}"]),
        ('[images]\nworker = "two words"\n', ["images.worker", "'two words'"]),
    ],
)
def test_what_is_wrong_is_named(text: str, words: list[str]) -> None:
    Path(FILE_NAME).write_text(text)
    with pytest.raises(UsageProblem) as raised:
        load({})
    for word in words:
        assert word in str(raised.value)


def test_a_named_file_that_is_not_there_is_no_default(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"can't be read: No such file.*gone\.toml"):
        load({CONFIGURATION_VARIABLE: str(tmp_path / "gone.toml")})


def test_a_file_that_is_no_text_is_no_toml() -> None:
    Path(FILE_NAME).write_bytes(b"\xff\xfe")
    with pytest.raises(UsageProblem, match="no TOML"):
        load({})


def test_an_empty_name_is_none() -> None:
    with pytest.raises(UsageProblem, match="HERE is no name of an image"):
        configuration.check_image_name("", "HERE")
