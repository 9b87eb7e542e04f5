"""Run folders become facts: golden ones row by row, and every kind of broken one a row with the reason."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from chispa import assert_df_equality
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.spark_reports.failures import spark_failures
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.ingest.quarantine import KINDS
from rocketchaos.spark_reports.ingest.reading import reading
from rocketchaos.spark_reports.ingest.summary import IngestSummary
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.tables import (
    CHECKS,
    CONDITIONS,
    FAULTS,
    FINDINGS,
    MESSAGES,
    OFFSETS,
    OWNERSHIP,
    QUARANTINE,
    RUNS,
    SUBSCRIPTIONS,
    Table,
)
from tests.spark import stores
from tests.spark.broken import JUMP_MS, broken_folders, change, late, set_in
from tests.spark.folders import ASKED, KILL, TAGS, copy

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]


def quiet(_text: str) -> None:
    """Tells nobody."""


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


@dataclass(frozen=True)
class Ingested:
    runs: Path
    store: Store
    summary: IngestSummary
    broken: Mapping[str, tuple[str, str | None, int | None]]

    def of(self, table: Table, run: str) -> DataFrame:
        """Facts of a run that count."""
        visible = self.store.read(RUNS).where(fn.col("run") == run).select("run_key")
        return self.store.read(table).join(visible, "run_key", "left_semi")

    def source_of(self, run: str) -> str:
        (row,) = self.store.read(RUNS).where(fn.col("run") == run).collect()
        return str(row.source)

    def again(self, progress: Callable[[str], None] = quiet) -> IngestSummary:
        return ingest(self.store.spark, self.store, [str(self.runs)], progress)


@pytest.fixture(scope="module")
def ingested(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    place = tmp_path_factory.mktemp("ingest")
    runs = place / "runs +1"
    copy(runs, KILL, "killed")
    set_in(
        copy(runs, ASKED, "asked"),
        "run.json",
        parallel={"waited_s": 2.5},
        phases={"waited": 7.0, "tear down": 1.0, "tear_down": 1.0},
    )
    whole = copy(runs, TAGS, "whole")
    (whole.parent / "latest").symlink_to("whole")
    change(copy(runs, TAGS, "jumped"), "events.jsonl", late)
    copy(runs, TAGS, "set-back")
    wrong = copy(runs, TAGS, "wrong")
    set_in(wrong, "outcome.json", outcome="not-reproduced", as_expected=False)
    (wrong / "logs" / "a").mkdir(parents=True)
    (wrong / "logs" / "broker-a.log").write_text(
        "2026-11-21 21:51:18.983 ERROR Thread_12 - no disk for g-wrong at 127.0.0.1:30123\n"
        "2026-11-21 21:51:19.007 ERROR Thread_7 - no disk for g-wrong at 127.0.0.1:30124\n"
        "2026-11-21 21:51:19.010 ERROR Thread_7 - no disk for g-mwqxztiaupsjsm at 127.0.0.1:30124\n"
        "2026-11-21 21:51:19.010 WARN Thread_7 - nothing of interest\n"
    )
    broken = broken_folders(runs)
    store = stores.made(spark, place / "store")

    def remove(text: str) -> None:
        if text.startswith("ingesting"):
            shutil.rmtree(runs / TAGS / "removed")

    return Ingested(runs, store, ingest(spark, store, [str(runs)], remove), broken)


def test_every_folder_is_counted_once(ingested: Ingested) -> None:
    summary = ingested.summary
    assert (summary.seen, summary.ingested) == (30, 7)
    assert summary.replaced == summary.unchanged == 0
    assert sum(summary.quarantined.values()) == 23
    assert set(summary.quarantined) == set(KINDS)
    assert summary.messages == 56


def test_broken_folders_are_rows_with_the_reason(ingested: Ingested) -> None:
    rows = ingested.store.read(QUARANTINE).collect()
    found = {Path(row.source).name: (row.kind, row.file, row.line) for row in rows}
    assert found == ingested.broken
    assert all(row.reason and row.batch and row.found and row.host for row in rows)
    assert {row.kind for row in rows if not row.listing} == {"gone"}
    assert sum("`rocketchaos " in row.reason for row in rows) == 21


def test_facts_of_broken_folders_are_not_seen(ingested: Ingested) -> None:
    runs = {row.run for row in ingested.store.read(RUNS).select("run").collect()}
    assert runs == {"killed", "asked", "whole", "jumped", "set-back", "wrong", "torn"}


def test_a_sound_folder_of_a_run_replaces_a_broken_one_which_is_no_problem_then(ingested: Ingested) -> None:
    assert ingested.source_of("torn") == f"file:{ingested.runs / 'copies' / 'torn'}"
    assert ingested.store.read(QUARANTINE).where("run = 'torn'").count() == 1
    ingested.store.register()
    assert ingested.store.spark.table("quarantine").where("run = 'torn'").count() == 0


@pytest.mark.parametrize(("scenario", "run", "dashboard"), [(TAGS, "whole", False), (ASKED, "asked", True)])
def test_messages_are_those_of_the_folder_with_their_times_and_tracks(
    spark: SparkSession, ingested: Ingested, scenario: str, run: str, *, dashboard: bool
) -> None:
    folder = ingested.runs / scenario / run
    events = lines(folder, "events.jsonl")
    sent = {e["data"]["key"]: e["mono_ns"] for e in events if e["kind"] == "sent"}
    got: dict[str, int] = {}
    tracks: dict[tuple[str, str], str] = {}
    for event in events:
        if event["kind"] == "received":
            got.setdefault(event["data"]["key"], event["mono_ns"])
        elif event["kind"].endswith("tracks-observed"):
            tracks[event["kind"], event["data"]["key"]] = event["data"]["tracks"]["g"]
    expected = [
        (
            line["key"],
            line["message_class"],
            line["queue"],
            line["offset"],
            line["deliveries"],
            line["events"],
            round(max(0, got[line["key"]] - sent[line["key"]]) / 1e6, 3) if line["deliveries"] else None,
            tracks.get(("tracks-observed", line["key"])),
            tracks.get(("dashboard-tracks-observed", line["key"])),
        )
        for line in lines(folder, "messages.jsonl")
    ]
    assert any(item[6] for item in expected)
    assert any(item[7] for item in expected)
    assert any(item[8] for item in expected) is dashboard
    seen = ingested.of(MESSAGES, run).select(
        "message_key",
        "message_class",
        "queue",
        "queue_offset",
        "deliveries",
        "events",
        fn.round("delivery_ms", 3).alias("delivery_ms"),
        "broker_track",
        "dashboard_track",
    )
    assert_df_equality(
        seen, spark.createDataFrame(expected, seen.schema), ignore_row_order=True, ignore_nullable=True
    )


def test_one_row_of_runs_tells_how_it_was_run(ingested: Ingested) -> None:
    record = json.loads((ingested.runs / KILL / "killed" / "run.json").read_text())
    row = ingested.store.read(RUNS).where("run = 'killed'").first()
    assert row is not None
    assert (row.scenario, row.client, row.rocketmq, row.cluster, row.timing) == (
        KILL,
        "java",
        "4.9.4",
        "embedded",
        "compressed",
    )
    assert (row.outcome, row.expected, row.as_expected, row.trouble) == (
        "not-reproduced",
        "not-reproduced",
        True,
        None,
    )
    assert row.seconds == record["seconds"]
    assert row.source == f"file:{ingested.runs / KILL / 'killed'}"
    assert (row.event_count, row.clock_jump_ms) == (107, 0)
    assert row.host is None


def test_a_fault_has_its_times_and_its_proof(ingested: Ingested) -> None:
    events = lines(ingested.runs / KILL / "killed", "events.jsonl")
    injected, effective = (event for event in events if event["kind"].startswith("fault-"))
    (row,) = ingested.of(FAULTS, "killed").collect()
    assert (row.n, row.fault, row.target, row.healed_ms) == (injected["n"], "kill", "a", None)
    assert row.injected_ms == pytest.approx((injected["mono_ns"] - events[0]["mono_ns"]) / 1e6)
    assert row.effective_ms == pytest.approx((effective["mono_ns"] - events[0]["mono_ns"]) / 1e6)
    assert row.proof == effective["data"]["proof"]


def test_offsets_and_checks_are_all_there(ingested: Ingested) -> None:
    folder = ingested.runs / TAGS / "whole"
    looks = [e for e in lines(folder, "events.jsonl") if e["kind"] == "offsets-observed"]
    expected = {
        (e["n"], f"{q['broker']}:{q['queue_id']}", q["max_offset"], q["consumer_offset"])
        for e in looks
        for q in e["data"]["queues"]
    }
    rows = ingested.of(OFFSETS, "whole").collect()
    assert {(row.n, row.queue, row.max_offset, row.consumer_offset) for row in rows} == expected
    checks = json.loads((folder / "checks.json").read_text())["checks"]
    rows = ingested.of(CHECKS, "whole").orderBy("position").collect()
    assert [(row.section, row.name, row.holds, row.events) for row in rows] == [
        (check["section"], check["name"], check["holds"], check["events"]) for check in checks
    ]


def test_changes_of_subscriptions_and_ownership_follow_each_other(ingested: Ingested) -> None:
    held = ingested.of(SUBSCRIPTIONS, "whole").orderBy("n").collect()
    assert held[0].previous_expression is None
    assert [row.previous_expression for row in held[1:]] == [row.expression for row in held[:-1]]
    assert {row.topic for row in held} == {"orders"}
    for member in ("a", "b"):
        owned = ingested.of(OWNERSHIP, "whole").where(fn.col("consumer") == member).orderBy("n").collect()
        assert owned
        assert [row.previous_queues for row in owned] == [None, *(row.queues for row in owned[:-1])]
        assert all(row.queues != row.previous_queues for row in owned)


def test_a_clock_that_jumps_is_reported_and_moves_no_time_within_the_run(ingested: Ingested) -> None:
    jumps = {row.run: row.clock_jump_ms for row in ingested.store.read(RUNS).collect()}
    assert jumps["jumped"] == pytest.approx(JUMP_MS, abs=5)
    assert jumps["whole"] < 5
    times = {
        run: [row.delivery_ms for row in ingested.of(MESSAGES, run).orderBy("message_key").collect()]
        for run in ("jumped", "whole")
    }
    assert times["jumped"] == times["whole"]


def test_findings_are_of_what_is_not_as_it_should_be(ingested: Ingested) -> None:
    assert ingested.of(FINDINGS, "whole").count() == 0
    found = {row.kind: row for row in ingested.of(FINDINGS, "wrong").collect()}
    assert set(found) == {"outcome", "log"}
    assert found["outcome"].text.startswith("not-reproduced, expected reproduced: ")
    log = found["log"]
    assert (log.node, log.side, log.occurrences) == ("broker-a", "product", 2)
    assert log.signature == "ERROR no disk for g-<run> at <address>"


def test_conditions_are_measured(ingested: Ingested) -> None:
    found = {row["name"]: row.value for row in ingested.of(CONDITIONS, "killed").collect()}
    events = lines(ingested.runs / KILL / "killed", "events.jsonl")
    started = [e["mono_ns"] for e in events if e["kind"] == "consumer-started"]
    (fault,) = (e["mono_ns"] for e in events if e["kind"] == "fault-injected")
    assert found["start_gap_ms"] == pytest.approx((started[1] - started[0]) / 1e6)
    assert found["fault_offset_ms"] == pytest.approx((fault - max(started)) / 1e6)
    assert "provision_s" in found
    assert "waited_s" not in found


def test_phases_with_names_that_collide_hide_nothing_that_was_measured(ingested: Ingested) -> None:
    found = [(row["name"], row.value) for row in ingested.of(CONDITIONS, "asked").collect()]
    assert [value for name, value in found if name == "waited_s"] == [2.5]
    assert [value for name, value in found if name == "tear_down_s"] == [1.0]


@pytest.mark.nightly
def test_the_same_again_changes_nothing_and_what_was_judged_anew_replaces_whatever_its_clock_says(
    ingested: Ingested,
) -> None:
    before = ingested.store.read(RUNS).orderBy("run").collect()
    same = ingested.again()
    assert (same.ingested, same.replaced, same.unchanged) == (0, 0, 8)
    # One is gone, and of another one the run is there.
    there = Counter(ingested.summary.quarantined)
    assert same.quarantined == there - Counter(("gone", "broken-json"))
    assert same.released == 1
    assert ingested.store.read(RUNS).orderBy("run").collect() == before

    copy(ingested.runs, KILL, "written")

    def write(text: str) -> None:
        if text.startswith("ingesting"):
            with (ingested.runs / KILL / "written" / "events.jsonl").open("a") as file:
                file.write("\n")

    for name, archive in ((TAGS, TAGS), (KILL, "old")):
        (ingested.runs / "archive" / archive).mkdir(parents=True)
        run = "jumped" if name == TAGS else "killed"
        (ingested.runs / name / run).rename(ingested.runs / "archive" / archive / run)
    # A copy, judged as before, comes in the same ingest: the later judgement counts, and counts once.
    for name in ("wrong", "whole"):
        shutil.copytree(ingested.runs / TAGS / name, ingested.runs / "copies" / name)
    checks = ingested.of(CHECKS, "wrong").count()
    set_in(ingested.runs / TAGS / "wrong", "outcome.json", outcome="reproduced", as_expected=True)
    # By a clock that was set back.
    outcome = ingested.runs / TAGS / "set-back" / "outcome.json"
    set_in(outcome.parent, outcome.name, outcome="not-reproduced", as_expected=False)
    os.utime(outcome, (1_600_000_000, 1_600_000_000))
    anew = ingested.again(write)
    assert (anew.ingested, anew.replaced, anew.unchanged) == (0, 2, 8)
    assert [row.outcome for row in ingested.of(RUNS, "set-back").collect()] == ["not-reproduced"]
    for run, folder in (("jumped", TAGS), ("killed", "old")):
        assert ingested.source_of(run) == f"file:{ingested.runs / 'archive' / folder / run}"
    assert ingested.of(MESSAGES, "killed").count() == 8
    assert ingested.of(CHECKS, "wrong").count() == checks
    assert [row.outcome for row in ingested.of(RUNS, "wrong").collect()] == ["reproduced"]
    assert anew.quarantined["still-running"] == 2
    assert ingested.of(FINDINGS, "wrong").count() == 0
    assert ingested.of(MESSAGES, "wrong").count() == 8

    found: list[str] = []
    shutil.rmtree(ingested.runs / KILL / "written")
    done = ingested.again(found.append)
    # What the set-back clock judged is replaced once.
    assert (done.replaced, done.unchanged, done.released) == (0, 10, 1)
    assert not any(text.startswith("ingesting") for text in found), "a copy is read again and again"

    # Its folder is gone, and the copy, judged alike, is its folder from now on.
    shutil.rmtree(ingested.runs / TAGS / "whole")
    assert ingested.again().unchanged == 9
    assert ingested.source_of("whole") == f"file:{ingested.runs / 'copies' / 'whole'}"


def test_what_is_passed_over_in_run_folders_is_not_in_the_store(spark: SparkSession, tmp_path: Path) -> None:
    broken = tmp_path / "part.parquet"
    broken.write_bytes(b"PAR1 no footer PAR1")
    with (
        reading(spark),
        pytest.raises(EnvironmentNotReady, match=r"a file is damaged.*part\.parquet"),
        spark_failures(None),
    ):
        spark.read.schema("run_key long").parquet(f"file:{broken}").count()
