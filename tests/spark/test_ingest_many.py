"""Very many small folders: several portions, and each folder is counted once, whatever is wrong with it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.ingest import ingest as module
from tests.spark import stores
from tests.spark.broken import change
from tests.spark.folders import TAGS, copy

pytestmark = [pytest.mark.spark, pytest.mark.nightly, pytest.mark.timeout(1200)]

FOLDERS, AT_ONCE = 2_000, 700
EACH_BROKEN = 40
"""One of so many is broken, in turns in one of three ways."""


def test_thousands_of_folders_come_in_portions_and_broken_ones_are_counted_exactly(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "portions", partial(module.portions, most_folders=AT_ONCE))
    folders = [copy(tmp_path / "runs", TAGS, f"run-{number:05}") for number in range(FOLDERS)]
    broken = folders[::EACH_BROKEN]
    for folder in broken[::3]:
        (folder / "checks.json").write_text("{")
    for folder in broken[1::3]:
        change(folder, "events.jsonl", lambda lines: lines[:-5])
    for folder in broken[2::3]:
        (folder / "messages.jsonl").unlink()
    store = stores.made(spark, tmp_path / "store")
    found: list[str] = []
    done = module.ingest(spark, store, [str(tmp_path / "runs")], found.append)
    sound = FOLDERS - len(broken)
    assert (done.seen, done.ingested, done.messages) == (FOLDERS, sound, 8 * sound)
    assert done.quarantined == {
        "broken-json": len(broken[::3]),
        "truncated": len(broken[1::3]),
        "missing-file": len(broken[2::3]),
    }
    assert [text for text in found if text.startswith("ingesting")] == [
        "ingesting run folders 1 to 700 of 2000",
        "ingesting run folders 701 to 1400 of 2000",
        "ingesting run folders 1401 to 2000 of 2000",
    ]
    assert stores.visible(store) == {item.name: 8 for item in folders if item not in broken}
    summary = store.summary()
    assert (summary.runs, summary.messages, summary.quarantined) == (sound, 8 * sound, len(broken))
    found.clear()
    again = module.ingest(spark, store, [str(tmp_path / "runs")], found.append)
    assert (again.unchanged, again.quarantined) == (sound, done.quarantined)
    assert not any(text.startswith("ingesting") for text in found)
