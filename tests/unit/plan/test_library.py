"""The scenarios that come with rocketchaos."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.plan.library import find, scenario_files, shipped


def test_a_name_is_found() -> None:
    assert find("same-group-different-tags") == shipped()["same-group-different-tags"]


def test_a_file_is_found(tmp_path: Path) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.touch()

    assert find(str(file)) == file


@pytest.mark.parametrize("text", ["same-group-diferent-tags", "Same-Group-Different-Tags"])
def test_a_wrong_name_is_answered_with_the_nearest(text: str) -> None:
    with pytest.raises(UsageProblem, match="did you mean `same-group-different-tags`"):
        find(text)


def test_a_wrong_path_is_called_a_file() -> None:
    with pytest.raises(UsageProblem, match=r"there is no file `nowhere/x\.yaml`"):
        find("nowhere/x.yaml")


def test_a_folder_whose_files_end_otherwise_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem) as empty:
        list(scenario_files([tmp_path]))
    assert empty.value.hint == ""
    (tmp_path / "mine.yaml").touch()
    with pytest.raises(UsageProblem) as other:
        list(scenario_files([tmp_path]))
    assert "rename mine.yaml" in str(other.value)
