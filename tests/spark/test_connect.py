"""A store over Spark Connect, of a real server on loopback: the same rows and pages as by a JVM of one's own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.facts.folder_facts import write_facts
from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.driver import driver_of
from rocketchaos.spark_reports.driver.connect import ConnectDriver
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.render.document import document
from rocketchaos.spark_reports.report_kinds import REPORTS
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.store_lock import FILE
from rocketchaos.spark_reports.tables import FACTS
from tests.spark import servers, stores
from tests.spark.broken import set_in
from tests.spark.folders import ASKED, KILL, TAGS, copy
from tests.spark.test_session import REPORT

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

LIMIT_S = 480
# Times are told in the zone of the one who asks, and must not move by it.
ZONE = "Asia/Tokyo"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Server]:
    with servers.connect(tmp_path_factory.mktemp("connect")) as running:
        yield running


@pytest.mark.nightly
def test_what_is_ingested_over_connect_is_the_same(
    spark: SparkSession, server: servers.Server, tmp_path: Path
) -> None:
    night, there = tmp_path / "night", str(tmp_path / "there")
    write_facts(RunFolder(copy(night, TAGS, "tags")))
    # Without facts: they are made here, for the server to read.
    copy(night, KILL, "killed")
    set_in(copy(night, ASKED, "newer"), "run.json", schema_version=99)
    here = stores.made(spark, tmp_path / "here")
    ingest(spark, here, [str(night)], print)
    assert ": 2 new, 0 judged again, 0 unchanged, 1 in" in _command(
        server, "ingest", str(night), "--store", there
    )
    assert stores.rows(Store.open(spark, there)) == stores.rows(here)
    assert list((tmp_path / "there" / "staging").iterdir()) == []


@pytest.mark.nightly
def test_all_commands_do_over_connect_what_they_do_without(
    spark: SparkSession, server: servers.Server, tmp_path: Path
) -> None:
    nights, there = [str(tmp_path / "first"), str(tmp_path / "second")], str(tmp_path / "there")
    copy(Path(nights[0]), KILL, "killed")
    copy(Path(nights[1]), TAGS, "tags")
    here = stores.made(spark, tmp_path / "here")
    for night in nights:
        ingest(spark, here, [night], print)
        _command(server, "ingest", night, "--store", there)
    assert "2 unchanged" in _command(server, "ingest", *nights, "--store", there)
    remote = Store.open(spark, there)
    assert stores.rows(remote) == stores.rows(here)
    _command(server, "all", "--store", there, "--out", str(tmp_path / "out"))
    for name in REPORTS:
        _require_same_page(here, name, tmp_path / "out")
    assert list((tmp_path / "out" / "flakiness" / "cells.parquet").glob("*.parquet"))
    said = _command(server, "diff", "--store", there, "--line", code=ExitCode.INCONCLUSIVE)
    assert "the newest ingest (1 run)" in said
    exported = str(tmp_path / "exported")
    assert f"{len(FACTS) + 2} tables" in _command(server, "export", "--store", there, "--out", exported)
    said = _command(server, "export", "--store", there, "--out", exported, code=ExitCode.USAGE)
    assert "there is something in" in said
    assert "small files became" in _command(server, "tidy", "--store", there)
    assert stores.rows(remote) == stores.rows(here)
    assert "2 runs from before" in _command(server, "tidy", "--store", there, "--keep", "1d")
    assert "0 new" in _command(server, "ingest", *nights, "--store", there)
    assert "already" in _command(server, "migrate", "--store", there)


@pytest.mark.nightly
def test_on_hdfs_it_fetches_what_lacks_facts_and_brings_none(
    spark: SparkSession, server: servers.Server, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole, lacking = copy(tmp_path, TAGS, "whole"), copy(tmp_path, KILL, "lacking")
    set_in(copy(tmp_path / "broken", ASKED, "newer"), "run.json", schema_version=99)
    write_facts(RunFolder(whole))
    with servers.hdfs(tmp_path_factory.mktemp("hdfs")) as hdfs:
        runs, there = f"{hdfs.uri}/runs", f"{hdfs.uri}/store"
        for folder in (whole, lacking, tmp_path / "broken"):
            driver_of(spark).put(folder, f"{runs}/{folder.name}")
        for asked in (f"{runs}/{whole.name}", f"{runs}/broken"):
            _command(server, "ingest", asked, "--store", there)
        said = _command(server, "ingest", runs, "--store", there, code=ExitCode.ENVIRONMENT)
        assert "1 run folders need new facts" in said
        remote = Store.open(spark, there)
        assert stores.visible(remote) == {"whole": 8}
        assert remote.summary().quarantined == 1
        assert driver_of(spark).names(f"{there}/staging") == []
        _command(server, "ingest", runs, "--store", str(tmp_path / "here"))
        assert stores.visible(Store.open(spark, str(tmp_path / "here"))) == {"whole": 8, "lacking": 8}


@pytest.mark.nightly
def test_its_driver_waits_for_the_lock_that_a_jvm_holds(spark: SparkSession, tmp_path: Path) -> None:
    """In this process, as always; that Spark is no server is nothing to it."""
    held, waited = driver_of(spark).lock(tmp_path / FILE, lambda: None), []

    def waiting() -> None:
        waited.append(True)
        held.__exit__(None, None, None)

    held.__enter__()
    with ConnectDriver(spark).lock(tmp_path / FILE, waiting):
        assert waited == [True]
        with pytest.raises(TimeoutError), driver_of(spark).lock(tmp_path / FILE, _give_up):
            pass
    with driver_of(spark).lock(tmp_path / FILE, _give_up):
        pass


def _give_up() -> None:
    raise TimeoutError


@pytest.mark.nightly
def test_it_waits_for_the_lock_that_another_jvm_holds(
    spark: SparkSession, server: servers.Server, tmp_path: Path
) -> None:
    store = stores.made(spark, tmp_path / "store")
    stores.ingest(store, "one")
    arguments = ("tidy", "--store", store.place.uri)
    with (
        driver_of(spark).lock(tmp_path / "store" / FILE, lambda: None),
        _started(server, *arguments) as tidying,
    ):
        assert tidying.stderr is not None
        assert "waiting for another process that writes to the store ...\n" in iter(
            tidying.stderr.readline, ""
        )
    # The block has ended the process; the lock is free again, and was held by nobody but it.
    assert stores.ingest(store, "other")
    assert stores.visible(store) == {"one": 3, "other": 3}


@pytest.mark.nightly
def test_a_server_that_ends_is_a_message(tmp_path: Path) -> None:
    with (
        servers.connect(tmp_path) as ending,
        _started(ending, "tidy", "--store", str(tmp_path / "s")) as running,
    ):
        assert running.stderr is not None
        assert "connecting to Spark ...\n" in iter(running.stderr.readline, "")
        ending.kill()
        said = _ended(running, ExitCode.ENVIRONMENT)
    assert "Spark Connect server" in said


@pytest.mark.nightly
def test_a_server_without_delta_is_a_message(tmp_path: Path) -> None:
    with servers.connect(tmp_path, delta=False) as bare:
        said = _command(bare, "tidy", "--store", str(tmp_path / "store"), code=ExitCode.ENVIRONMENT)
    assert f"server at {bare.uri.removeprefix('sc://')} has no Delta Lake" in said


def _require_same_page(store: Store, name: str, out: Path) -> None:
    page = json.loads((out / f"{name}.json").read_text(encoding="utf-8"))
    store.register()
    assert page["sections"] == document(REPORTS[name](Answers(store.spark), store.summary()))["sections"], (
        name
    )


def _command(server: servers.Server, *arguments: str, code: int = ExitCode.AS_EXPECTED) -> str:
    """Of `rocketchaos report`, as a process; what it says."""
    with _started(server, *arguments) as running:
        return _ended(running, code)


@contextmanager
def _started(server: servers.Server, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with stores.process(REPORT, *arguments, "--master", server.uri, TZ=ZONE) as running:
        yield running


def _ended(running: subprocess.Popen[str], code: int) -> str:
    out, errors = running.communicate(timeout=LIMIT_S)
    assert running.returncode == code, out + errors
    assert "Traceback" not in errors
    return out + errors
