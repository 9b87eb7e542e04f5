"""Frames of a test's own rows, and a program that writes a store as another process does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from rocketchaos.spark_reports.local_rows import local_rows
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.tables import MESSAGES, RUNS, TABLES, Table

ANEW = ("run_key", "batch", "ingested", "found")
"""Columns that each ingest fills anew."""
NOW = datetime(2026, 1, 2, tzinfo=UTC)


@cache
def _empty(spark: SparkSession) -> tempfile.TemporaryDirectory[str]:
    """An empty store, made once; the folder lasts as long as this process."""
    folder = tempfile.TemporaryDirectory(prefix="empty-store-")
    Store.create(spark, folder.name)
    return folder


def made(spark: SparkSession, folder: Path) -> Store:
    """A store that is empty yet, by copying one: where making its tables isn't the subject, that is faster."""
    shutil.copytree(_empty(spark).name, folder, dirs_exist_ok=True)
    return Store.open(spark, str(folder))


def frame(spark: SparkSession, table: Table, *rows: Mapping[str, Any]) -> DataFrame:
    """Rows of a table; what a row doesn't say is null."""
    return local_rows(spark, [[row.get(name) for name in table.columns] for row in rows], table.schema)


def key(run: str, batch: str) -> int:
    return hash((run, batch)) % 2**62


def append(store: Store, batch: str, *runs: str, messages: int = 3) -> None:
    facts = [
        {"run_key": key(run, batch), "run": run, "batch": batch, "message_key": f"{run}-{n}"}
        for run in runs
        for n in range(messages)
    ]
    store.append(MESSAGES, frame(store.spark, MESSAGES, *facts))


def commit(
    store: Store,
    batch: str,
    *runs: str,
    messages: int = 3,
    digest: str = "d",
    each: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    **more: Any,
) -> None:
    """`each`: by run, columns of its own."""
    rows = [
        {
            "run_key": key(run, batch),
            "run": run,
            "batch": batch,
            "source": f"file:/runs/{run}",
            "digest": digest,
            "ingested": NOW,
            "message_count": messages,
            **more,
            **each.get(run, {}),
        }
        for run in runs
    ]
    store.commit(frame(store.spark, RUNS, *rows))


def ingest(store: Store, *runs: str, messages: int = 3, digest: str = "d") -> str:
    """As an ingest does: facts, then runs; the name of its batch."""
    batch = store.begin()
    append(store, batch, *runs, messages=messages)
    commit(store, batch, *runs, messages=messages, digest=digest)
    return batch


def visible(store: Store) -> dict[str, int]:
    """Run: so many messages that count."""
    store.register()
    rows = store.spark.sql(
        "SELECT runs.run, count(*) AS messages FROM messages JOIN runs ON messages.run_key = runs.run_key"
        " GROUP BY runs.run"
    )
    return {row.run: row.messages for row in rows.collect()}


def rows(store: Store) -> dict[str, list[str]]:
    """By table, its rows, in an order of their own, without `ANEW`."""
    found = {
        name: sorted(map(repr, store.read(table).drop(*ANEW).collect())) for name, table in TABLES.items()
    }
    assert sum(map(len, found.values())) > 10
    return found


@contextmanager
def process(code: str, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A Python of its own that runs this code; it doesn't outlive the test, and its JVM doesn't outlive it."""
    path = os.pathsep.join([str(Path(__file__).parent.parent.parent), *filter(None, sys.path)])
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            yield running
        finally:
            running.kill()
