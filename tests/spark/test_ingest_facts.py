"""Facts that the judge has written are loaded as they are; what doesn't fit its folder any more is made anew."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import IntegerType, LongType

from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.facts.folder_facts import (
    FACTS,
    MESSAGES,
    lines_of_messages,
    read_folder,
    write_facts,
)
from rocketchaos.harness.facts.kinds import KINDS, Fact, OffsetFact, Seal
from rocketchaos.spark_reports.contract import FACT
from rocketchaos.spark_reports.ingest import made_anew, portion
from rocketchaos.spark_reports.ingest.folder_list import Folder
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.ingest.summary import IngestSummary
from rocketchaos.spark_reports.spark_schema import columns_of
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.tables import FACTS as TABLES_OF_FACTS
from rocketchaos.spark_reports.tables import MESSAGES as OF_MESSAGES
from rocketchaos.spark_reports.tables import QUARANTINE, RUNS, TABLES
from tests.recorded_rows import as_recorded, corpus, digests, recorded
from tests.spark import stores
from tests.spark.broken import change
from tests.spark.folders import TAGS, copy

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]

OF_THE_INGEST = {"run_key", "run", "batch", "source", "digest", "listing", "judged", "ingested"}


def judged(folder: Path) -> Path:
    """As the judge of this version leaves it."""
    lines = [line + b"\n" for line in lines_of_messages(read_folder(folder))]
    (folder / MESSAGES).write_bytes(b"".join(lines))
    write_facts(RunFolder(folder))
    return folder


def rows_of(store: Store) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for name, table in TABLES.items():
        for row in store.read(table).collect():
            columns = row.asDict(recursive=True)
            yield (
                name,
                str(row.run),
                {column: _plain(value) for column, value in columns.items() if column not in OF_THE_INGEST},
            )


def _plain(value: Any) -> Any:
    return round(value.timestamp() * 1000) if isinstance(value, datetime) else value


NAMES = (
    "fresh", "older", "cut", "edited", "unsealed", "judged-since", "history-edited", "history-cut", "messages-cut",
)  # fmt: skip
"""Copies of one run that was judged by this version, each changed since in a way of its own, but for `fresh`."""
OWNED = {"owned-sealed": True, "owned": False}
"""Of whose record somebody is the owner: whether the judge of this version has made its facts."""


@dataclass(frozen=True)
class Ingested:
    """By one ingest for all tests of this file."""

    store: Store
    summary: IngestSummary
    corpus: Sequence[Path]
    """Of these every other one has facts."""
    asked: Collection[str]
    """The folders of which facts were made anew."""


@pytest.fixture(scope="module")
def ingested(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    place = tmp_path_factory.mktemp("facts")
    runs = place / "runs"
    folders = corpus(runs)
    for folder in folders[::2]:
        judged(folder)
    change_what_was_judged(runs)
    for name, sealed in OWNED.items():
        folder = copy(runs, TAGS, name)
        record = json.loads((folder / "run.json").read_text())
        (folder / "run.json").write_text(json.dumps({**record, "owner": f"@acme/{name}"}))
        if sealed:
            judged(folder)
    asked: list[str] = []

    def columns(spark: SparkSession, folders: list[Folder], target: Path) -> list[made_anew.MadeAnew]:
        asked.extend(Path(item.source).name for item in folders)
        return made_anew.made_anew(spark, folders, target)

    store = stores.made(spark, place / "store")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(portion, "made_anew", columns)
        return Ingested(store, ingest(spark, store, [str(runs)], print), folders, asked)


def change_what_was_judged(runs: Path) -> None:
    folders = {name: judged(copy(runs, TAGS, name)) for name in NAMES}

    def set_in_facts(name: str, old: str, new: str) -> None:
        change(folders[name], FACTS, lambda lines: [line.replace(old, new) for line in lines])

    set_in_facts("older", '"facts_version":1', '"facts_version":0')
    set_in_facts("edited", '"cluster":"embedded"', '"cluster":"elsewhere"')
    change(folders["cut"], FACTS, lambda lines: [*lines[:3], *lines[4:]])
    change(folders["unsealed"], FACTS, lambda lines: lines[:-1])
    outcome = folders["judged-since"] / "outcome.json"
    outcome.write_text(json.dumps({**json.loads(outcome.read_text()), "reason": "another"}))
    # Of the same size, and still a whole history.
    change(
        folders["history-edited"], "events.jsonl",
        lambda lines: [line.replace('"consumer_offset": 2', '"consumer_offset": 1') for line in lines],
    )  # fmt: skip
    change(folders["history-cut"], "events.jsonl", lambda lines: lines[:-5])
    change(folders["messages-cut"], MESSAGES, lambda lines: lines[:-1])


def test_rows_are_those_of_before_whether_facts_are_there_or_made_anew(ingested: Ingested) -> None:
    of_corpus = {folder.name for folder in ingested.corpus}
    assert of_corpus & set(ingested.asked) == {folder.name for folder in ingested.corpus[1::2]}
    assert ingested.summary.ingested == len(of_corpus) + len(NAMES) - 2 + len(OWNED)
    assert as_recorded(digests(rows_of(ingested.store))) == recorded()


def test_facts_that_do_not_fit_are_made_anew_and_what_is_broken_is_quarantined(ingested: Ingested) -> None:
    assert sorted(set(ingested.asked) & set(NAMES)) == sorted(set(NAMES) - {"fresh"})
    assert len(ingested.asked) == len(set(ingested.asked))
    assert ingested.summary.quarantined == {"truncated": 2}
    problems = {Path(row.source).name: row.file for row in ingested.store.read(QUARANTINE).collect()}
    assert problems == {"history-cut": "events.jsonl", "messages-cut": MESSAGES}
    found = {row.run: row for row in ingested.store.read(RUNS).collect() if row.run in NAMES}
    assert set(found) == set(NAMES) - set(problems)
    assert {row.cluster for row in found.values()} == {"embedded"}
    assert found["judged-since"].reason == "another"
    delivered = ingested.store.read(OF_MESSAGES).where("delivery_ms IS NOT NULL")
    assert delivered.where(delivered.run.isin(*NAMES)).count() == 4 * len(found)


@pytest.mark.parametrize("name", OWNED)
def test_the_owner_of_a_run_s_record_is_in_the_store(ingested: Ingested, name: str) -> None:
    assert (name in ingested.asked) is not OWNED[name]
    rows = ingested.store.read(RUNS).where(f"run = '{name}'").collect()
    assert [row.scenario_owner for row in rows] == [f"@acme/{name}"]


def test_schemas_are_made_of_the_types() -> None:
    assert FACT["n"].dataType == IntegerType()
    assert FACT["max_offset"].dataType == LongType()
    assert {item.kind for item in TABLES_OF_FACTS if item.kind} | {RUNS.kind, Seal} == set(KINDS)
    assert [*columns_of(OffsetFact)][:3] == ["n", "at_ms", "moment"]

    class Strange(Fact):
        field: complex

    with pytest.raises(TypeError, match="no column holds"):
        columns_of(Strange)
