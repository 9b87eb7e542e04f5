"""Writers as processes of their own: side by side, killed, and on a full disk."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.facts.folder_facts import write_facts
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.tables import MESSAGES
from tests.spark import stores
from tests.spark.folders import TAGS, copy

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

MESSAGES_EACH = 8
# Ingests run folders, one after the other, and says so; a line on its standard input lets it go on.
WRITER = """
import sys
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.spark_session import spark_session
from rocketchaos.spark_reports.store import Store
with spark_session("local[1]") as spark:
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    store = Store.create(spark, sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    for folder in sys.argv[2:]:
        ingest(spark, store, [folder], lambda text: None)
        print(folder, flush=True)
"""

# As far as it gets before the commit: its facts are appended, and it waits.
UNCOMMITTED = """
import sys
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.spark_session import spark_session
from rocketchaos.spark_reports.store import Store
def wait(store, runs):
    print("before the commit", flush=True)
    sys.stdin.readline()
with spark_session("local[1]") as spark:
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    store = Store.create(spark, sys.argv[1])
    Store.commit = wait
    ingest(spark, store, sys.argv[2:], lambda text: None)
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """By run, its folder."""
    place = tmp_path_factory.mktemp("runs")
    names = ("shared-1", "shared-2", "left", "right", "killed-1", "killed-2", "killed-3")
    return {name: str(copy(place, TAGS, name)) for name in names}


def said(writer: subprocess.Popen[str]) -> str:
    assert writer.stdout is not None
    return writer.stdout.readline().strip()


def go(writer: subprocess.Popen[str]) -> None:
    assert writer.stdin is not None
    writer.stdin.write("\n")
    writer.stdin.flush()


@pytest.mark.nightly
def test_two_processes_that_make_and_fill_a_store_side_by_side_lose_nothing(
    spark: SparkSession, tmp_path: Path, runs: dict[str, str]
) -> None:
    """The very store is made by both; some runs are ingested by both, and count once."""
    place = tmp_path / "store"
    mine = [["shared-1", name, "shared-2"] for name in ("left", "right")]
    with ExitStack() as ended:
        writers = [
            ended.enter_context(stores.process(WRITER, str(place), *(runs[name] for name in names)))
            for names in mine
        ]
        for writer in writers:
            assert said(writer) == "ready"
        for writer in writers:
            go(writer)
        for writer in writers:
            _out, errors = writer.communicate(timeout=480)
            assert writer.returncode == 0, errors
    store = Store.open(spark, str(place))
    assert stores.visible(store) == dict.fromkeys({run for names in mine for run in names}, MESSAGES_EACH)


@pytest.mark.nightly
def test_a_killed_writer_leaves_a_readable_store_and_no_jvm(
    spark: SparkSession, tmp_path: Path, runs: dict[str, str]
) -> None:
    """It is killed at some moment of an ingest; what it has said is done is there, and the rest can be done."""
    place = tmp_path / "store"
    stores.made(spark, place)
    mine = [name for name in runs if name.startswith("killed")]
    with stores.process(WRITER, str(place), *(runs[name] for name in mine)) as writer:
        assert said(writer) == "ready"
        jvms = [
            child for child in psutil.Process(writer.pid).children(recursive=True) if "java" in child.name()
        ]
        assert jvms
        go(writer)
        assert said(writer) == runs[mine[0]]
        # In the midst of the second: its facts are being written.
        Retrying(
            retry=retry_if_result(lambda staged: not staged),
            stop=stop_after_delay(120),
            wait=wait_fixed(0.05),
        )(lambda: list((place / "staging").glob("*/facts-anew")))
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        assert not psutil.wait_procs(jvms, timeout=30)[1], "the JVM outlives its Python"
    store = Store.open(spark, str(place))
    seen = stores.visible(store)
    assert {mine[0]} <= set(seen) <= set(mine)
    assert set(seen.values()) == {MESSAGES_EACH}
    ingest(spark, store, [runs[name] for name in mine], print)
    assert stores.visible(store) == dict.fromkeys(mine, MESSAGES_EACH)


@pytest.mark.nightly
def test_a_writer_killed_between_its_facts_and_its_commit_leaves_the_same_and_no_jvm(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder, place = copy(tmp_path / "runs", TAGS, "ended"), tmp_path / "store"
    stores.made(spark, place)
    with stores.process(UNCOMMITTED, str(place), str(folder)) as writer:
        assert said(writer) == "before the commit"
        jvms = [
            child for child in psutil.Process(writer.pid).children(recursive=True) if "java" in child.name()
        ]
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        assert not psutil.wait_procs(jvms, timeout=30)[1], "the JVM outlives its Python"
    _require_uncommitted(spark, place, folder)


def _require_uncommitted(spark: SparkSession, place: Path, folder: Path) -> None:
    """The facts of the run `ended` are there and show nowhere, until it is ingested again."""
    store = Store.open(spark, str(place))
    assert store.read(MESSAGES).count() == MESSAGES_EACH
    assert stores.visible(store) == {}
    done = ingest(spark, store, [str(folder)], print)
    assert (done.ingested, done.replaced, done.unchanged) == (1, 0, 0)
    assert stores.visible(store) == {"ended": MESSAGES_EACH}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=False)


@pytest.mark.nightly
def test_a_full_disk_is_a_message_and_the_store_stays_whole(
    spark: SparkSession, small_disk: Path, tmp_path: Path
) -> None:
    from rocketchaos.harness.core.errors import EnvironmentNotReady
    from rocketchaos.spark_reports.failures import spark_failures

    sealed, lacking = (copy(tmp_path, TAGS, name) for name in ("sealed", "lacking"))
    write_facts(RunFolder(sealed))
    store = stores.made(spark, small_disk / "store")
    stores.ingest(store, "fits", messages=MESSAGES_EACH)
    ballast = small_disk / "ballast"
    with pytest.raises(OSError, match="No space left"):
        _fill(ballast)
    # Facts that are there are written by Spark; those that are made, by this process.
    for folder, said_of_it in ((sealed, "the disk is full"), (lacking, "No space left")):
        with pytest.raises(EnvironmentNotReady, match=said_of_it), spark_failures(None):
            ingest(spark, store, [str(folder)], print)
    assert stores.visible(store) == {"fits": MESSAGES_EACH}
    ballast.unlink()
    ingest(spark, store, [str(sealed), str(lacking)], print)
    assert stores.visible(store) == dict.fromkeys(("fits", "sealed", "lacking"), MESSAGES_EACH)


def _fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
