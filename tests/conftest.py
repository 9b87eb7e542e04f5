"""`make` collects only the folders of what it runs: no test may have the mark of another one, or lack its own."""

from __future__ import annotations

import gc

import pytest

# What pytest and the modules have loaded stays: looking for garbage in all of it takes a tenth of the time.
gc.set_threshold(50_000, 20, 100)

FOLDERS = {
    "embedded": "tests/embedded/",
    "containers": "tests/containers/",
    "spark": "tests/spark/",
    "browser": ("tests/browser/", "tests/spark/"),
}
"""Mark: the folders of the tests that may carry it. Every test of a folder carries one that may be there."""


def misplaced(nodeid: str, marks: set[str]) -> bool:
    """Whether no part of `make` would run the test, or a part that has not what it needs."""
    wanted = {mark for mark, folders in FOLDERS.items() if nodeid.startswith(folders)}
    carried = marks & set(FOLDERS)
    return not carried <= wanted or bool(wanted) != bool(carried)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    wrong = [
        item.nodeid for item in items if misplaced(item.nodeid, {mark.name for mark in item.iter_markers()})
    ]
    if wrong:
        raise pytest.UsageError(
            f"these tests carry a mark of another folder, or lack that of theirs (tests/conftest.py): {wrong}"
        )
