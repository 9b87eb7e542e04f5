"""Writers as processes of their own: side by side, killed, and on a full disk."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

from spark_reports.store import Store
from spark_reports.tables import MESSAGES
from tests.spark import stores

pytestmark = pytest.mark.spark

# Ingests runs, each in a batch of its own, and says so; a line on its standard input lets it go on.
WRITER = """
import sys
from spark_reports.session import spark_session
from spark_reports.store import Store
from tests.spark import stores
with spark_session("local[1]") as spark:
    store = Store.create(spark, sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    for run in sys.argv[2:]:
        stores.ingest(store, run)
        print(run, flush=True)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("writers") / "store"


def said(writer: subprocess.Popen[str]) -> str:
    assert writer.stdout is not None
    return writer.stdout.readline().strip()


def go(writer: subprocess.Popen[str]) -> None:
    assert writer.stdin is not None
    writer.stdin.write("\n")
    writer.stdin.flush()


def test_two_processes_that_make_and_fill_a_store_side_by_side_lose_nothing(
    spark: SparkSession, place: Path
) -> None:
    """The very store is made by both; some runs are written by both, and count once."""
    runs = [["shared-1", *(f"{name}-{n}" for n in range(4)), "shared-2"] for name in ("left", "right")]
    writers = [stores.process(WRITER, str(place), *mine) for mine in runs]
    for writer in writers:
        assert said(writer) == "ready"
    for writer in writers:
        go(writer)
    for writer in writers:
        _out, errors = writer.communicate(timeout=240)
        assert writer.returncode == 0, errors
    store = Store.open(spark, str(place))
    assert stores.visible(store) == dict.fromkeys({run for mine in runs for run in mine}, 3)
    # Those that were written twice are there twice, and are seen once.
    assert store.read(MESSAGES).count() == 3 * sum(map(len, runs))


def test_a_killed_writer_leaves_a_readable_store_and_no_jvm(spark: SparkSession, place: Path) -> None:
    """It is killed at some moment of an ingest; what it has said is done is there, and the rest can be done."""
    before = set(stores.visible(Store.create(spark, str(place))))
    mine = [f"killed-{n}" for n in range(40)]
    writer = stores.process(WRITER, str(place), *mine)
    assert said(writer) == "ready"
    jvms = [one for one in psutil.Process(writer.pid).children(recursive=True) if "java" in one.name()]
    assert jvms
    go(writer)
    done = [said(writer), said(writer)]
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    assert not psutil.wait_procs(jvms, timeout=30)[1], "the JVM outlives its Python"
    store = Store.open(spark, str(place))
    seen = stores.visible(store)
    assert before | set(done) <= set(seen) <= before | set(mine)
    assert set(seen.values()) == {3}
    for run in mine[len(done) : len(done) + 2]:
        stores.ingest(store, run)
    assert set(mine[: len(done) + 2]) <= set(stores.visible(store))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=False)


def test_a_full_disk_is_a_message_and_the_store_stays_whole(spark: SparkSession, small_disk: Path) -> None:
    from harness.errors import EnvironmentNotReady
    from spark_reports.failures import spark_failures

    store = Store.create(spark, str(small_disk / "store"))
    stores.ingest(store, "fits")
    ballast = small_disk / "ballast"
    with pytest.raises(OSError, match="No space left"):
        _fill(ballast)
    with pytest.raises(EnvironmentNotReady, match="the disk is full"), spark_failures(None):
        stores.ingest(store, "too-much", messages=1000)
    assert stores.visible(store) == {"fits": 3}
    ballast.unlink()
    stores.ingest(store, "too-much", messages=1000)
    assert stores.visible(store) == {"fits": 3, "too-much": 1000}


def _fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
