"""Damage that Delta doesn't notice is seen by names and sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.spark_reports.delta_log import unnoticed_damage


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Three commits, as Delta leaves them on a local disk."""
    folder = tmp_path / "_delta_log"
    folder.mkdir()
    for number in range(3):
        for ending in ("json", "crc"):
            (folder / f"{number:020}.{ending}").write_text("{}")
            (folder / f".{number:020}.{ending}.crc").write_bytes(b"")
    return folder


def test_a_whole_log_is_sound(log: Path) -> None:
    assert unnoticed_damage(log.parent) is None
    # Delta has removed old ones, and has not written the newest's checksum yet.
    (log / f"{0:020}.json").unlink()
    (log / f"{2:020}.crc").unlink()
    assert unnoticed_damage(log.parent) is None
    assert unnoticed_damage(log) is None


def test_a_commit_that_is_empty_was_cut(log: Path) -> None:
    (log / f"{1:020}.json").write_text("")
    assert unnoticed_damage(log.parent) == f"{log}/{1:020}.json is empty"


def test_a_checksum_without_its_commit_has_lost_it(log: Path) -> None:
    (log / f"{2:020}.json").unlink()
    assert unnoticed_damage(log.parent) == f"{log} has lost its newest commit, and has {2:020}.crc still"
