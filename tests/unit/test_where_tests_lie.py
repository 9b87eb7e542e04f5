"""A test that no part of `make` would run, or a part that lacks what it needs, is refused; folders are rooms."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import misplaced


@pytest.mark.parametrize(
    ("nodeid", "marks"),
    [
        ("tests/unit/test_x.py::test_x", set()),
        ("tests/unit/test_x.py::test_x", {"nightly", "timeout"}),
        ("tests/packaging/test_x.py::test_x", set()),
        ("tests/embedded/test_x.py::test_x[4.9.4]", {"embedded", "shipped"}),
        ("tests/containers/test_x.py::test_x", {"containers", "slow"}),
        ("tests/spark/test_x.py::test_x", {"spark", "browser"}),
        ("tests/browser/test_x.py::test_x", {"browser"}),
    ],
)
def test_a_mark_in_its_folder_is_well(nodeid: str, marks: set[str]) -> None:
    assert not misplaced(nodeid, marks)


@pytest.mark.parametrize(
    ("nodeid", "marks"),
    [
        ("tests/unit/test_x.py::test_x", {"containers"}),
        ("tests/embedded/test_x.py::test_x", set()),
        ("tests/embedded/test_x.py::test_x", {"spark"}),
        ("tests/containers/test_x.py::test_x", {"containers", "embedded"}),
        ("tests/browser/test_x.py::test_x", {"browser", "spark"}),
    ],
)
def test_a_mark_elsewhere_or_none_is_refused(nodeid: str, marks: set[str]) -> None:
    assert misplaced(nodeid, marks)


def test_every_folder_of_unit_tests_is_a_room() -> None:
    unit = Path(__file__).parent
    root = unit.parents[1]
    rooms = {folder.name for folder in (root / "harness").iterdir() if folder.is_dir()}
    rooms |= {"assertions", "spark_reports", "benchmarks"}
    assert {file.parent.relative_to(unit).parts[0] for file in unit.glob("*/**/test_*.py")} <= rooms
