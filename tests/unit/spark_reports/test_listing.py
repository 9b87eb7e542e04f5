"""Run folders are found by listing alone, each once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import pytest
from pyspark.sql import SparkSession

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.spark_reports.ingest.folder_list import (
    READ,
    File,
    Folder,
    again,
    local_bytes,
    run_folders,
)
from rocketchaos.spark_reports.ingest.ingest import portions

NO_SPARK = cast(SparkSession, None)


def make(runs: Path, scenario: str, name: str = "20261121T192459.680-7", *files: str) -> Path:
    folder = runs / scenario / name
    (folder / "logs").mkdir(parents=True)
    for file in files or READ:
        (folder / file).write_text("{}")
    return folder


def sources(*runs: Path | str) -> list[str]:
    return [run_folder.source for run_folder in run_folders(NO_SPARK, [str(run) for run in runs])]


def test_folders_above_them_globs_and_uris_name_the_same(tmp_path: Path) -> None:
    runs = tmp_path / "my runs+100%"
    item, other = make(runs, "a"), make(runs, "b")
    both = [f"file:{item}", f"file:{other}"]
    assert sources(runs) == both
    assert sources(runs / "a", other) == both
    assert sources(runs / "*") == both
    assert sources(runs.as_uri()) == both
    assert sources(runs, runs / "a", item) == both


def test_the_link_latest_makes_no_run_count_twice(tmp_path: Path) -> None:
    folder = make(tmp_path, "a")
    (folder.parent / "latest").symlink_to(folder.name)
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    assert sources(tmp_path) == [f"file:{folder}"]
    assert sources(folder.parent / "latest") == [f"file:{folder}"]


def test_a_folder_with_a_runs_name_is_one_though_it_has_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "20261121T192459.680-7-2"
    folder.mkdir(parents=True)
    assert run_folders(NO_SPARK, [str(tmp_path)]) == [Folder(f"file:{folder}", {})]


def test_a_path_that_is_no_utf_8_is_a_message(tmp_path: Path) -> None:
    make(tmp_path, os.fsdecode(b"caf\xe9"))
    with pytest.raises(UsageProblem, match=r"is no UTF-8: .*caf\\udce9"):
        sources(tmp_path)


def test_no_place_and_no_run_folder_are_said(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"there is no .*nowhere"):
        sources(tmp_path / "nowhere")
    with pytest.raises(UsageProblem, match=r"there is no .*nowhere"):
        sources(tmp_path / "nowhere*")
    with pytest.raises(UsageProblem, match="there are no run folders"):
        sources(tmp_path)
    with pytest.raises(UsageProblem, match="there are no run folders"):
        local_bytes([str(tmp_path)], 0)
    assert local_bytes([str(tmp_path), "s3a://bucket/runs"], 9) == 10  # which only Spark can list


def test_few_bytes_are_told_from_many(tmp_path: Path) -> None:
    for name in "abc":
        (make(tmp_path, name) / "events.jsonl").write_bytes(bytes(100))
    one, two, three = (local_bytes([str(tmp_path)], limit) for limit in (50, 150, 1000))
    assert 100 <= one < two < three
    assert local_bytes([str(tmp_path)], three) == three


def test_a_listing_tells_what_was_changed_and_not_where_it_is(tmp_path: Path) -> None:
    folder = make(tmp_path, "a")
    (before,) = run_folders(NO_SPARK, [str(folder)])
    moved = tmp_path / "archive" / "a"
    moved.parent.mkdir()
    folder.parent.rename(moved)
    (after,) = run_folders(NO_SPARK, [str(tmp_path / "archive")])
    assert after.source != before.source
    assert after.listing == before.listing
    os.utime(moved / folder.name / "outcome.json", (1, 1))
    assert again(NO_SPARK, [after])[after.source] != after.listing


def test_portions_have_an_end() -> None:
    folders = [Folder(str(n), {"events.jsonl": File(10, 1)}) for n in range(5)]
    assert [len(portion) for portion in portions(folders, most_folders=2)] == [2, 2, 1]
    assert [len(portion) for portion in portions(folders, most_bytes=30)] == [3, 2]
    assert [len(portion) for portion in portions(folders, most_bytes=1)] == [1] * 5
    assert not list(portions([]))
