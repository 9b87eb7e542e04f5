"""A real standalone master with two workers on loopback, and what `spark-submit` makes of the packaged zip."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pyspark
import pytest
from pyspark.sql import SparkSession
from tenacity import Retrying, stop_after_delay, wait_fixed

from spark_reports.ingest.ingest import ingest
from spark_reports.package import Package, make_package
from spark_reports.store import Store
from spark_reports.tables import TABLES

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

HOME = Path(pyspark.__file__).parent
GOLDEN = Path(__file__).parent.parent / "golden" / "runs"
LIMIT_S = 240


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("cluster")
    with ExitStack() as started:
        log = folder / "master.log"
        started.enter_context(
            _spark_class(log, "master.Master", "-h", "127.0.0.1", "-p", "0", "--webui-port", "0")
        )
        url = _wait_for(log, r"Starting Spark master at (spark://\S+)")
        for number in (1, 2):
            mine = folder / f"worker-{number}.log"
            started.enter_context(
                _spark_class(
                    mine, "worker.Worker", "-h", "127.0.0.1", "-c", "1", "-m", "1g", "--webui-port", "0",
                    "-d", str(folder / f"work-{number}"), url,
                )
            )  # fmt: skip
        for number in (1, 2):
            _wait_for(folder / f"worker-{number}.log", "Successfully registered with master")
        yield url


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    return make_package(tmp_path_factory.mktemp("package") / "rocketchaos-spark.zip", print)


def test_a_cluster_gets_the_same_tables_as_this_process(
    spark: SparkSession, master: str, package: Package, tmp_path: Path
) -> None:
    runs = [str(one) for one in sorted(GOLDEN.iterdir())[:2]]
    done = _submit(package, master, "ingest", *runs, "--store", str(tmp_path / "there"))
    assert done.returncode == 0, done.stdout + done.stderr
    ingest(spark, Store.create(spark, str(tmp_path / "here")), runs, print)
    here, there = (Store.open(spark, str(tmp_path / name)) for name in ("here", "there"))
    counted = 0
    for table in TABLES.values():
        columns = [name for name in table.columns if name not in ("run_key", "batch", "ingested", "found")]
        rows = [sorted(map(repr, one.read(table).select(columns).collect())) for one in (here, there)]
        assert rows[0] == rows[1], table.name
        counted += len(rows[0])
    assert counted > 10
    out = tmp_path / "reports"
    made = _submit(package, master, "timing", "--store", str(tmp_path / "there"), "--out", str(out))
    assert made.returncode == 0, made.stdout + made.stderr
    assert (out / "timing.html").is_file()


def test_without_its_zip_the_script_says_what_it_needs(package: Package) -> None:
    alone = subprocess.run(
        [sys.executable, "-S", package.script], capture_output=True, text=True, check=False, timeout=60
    )
    assert (alone.returncode, "--py-files" in alone.stderr) == (2, True)


def _submit(package: Package, master: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    jars = shlex.split(package.command)[shlex.split(package.command).index("--jars") + 1]
    settings = [
        "spark.driver.host=127.0.0.1",
        "spark.driver.memory=1g",
        "spark.executor.memory=512m",
        "spark.ui.enabled=false",
    ]
    return subprocess.run(
        [
            HOME / "bin" / "spark-submit", "--master", master, "--jars", jars, "--py-files", package.zip,
            *(word for one in settings for word in ("--conf", one)),
            package.script, *arguments,
        ],
        env=_environment() | {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable},
        capture_output=True, text=True, check=False, timeout=LIMIT_S,
    )  # fmt: skip


def _environment() -> dict[str, str]:
    """Without the path to our sources."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1"
    }  # fmt: skip


@contextmanager
def _spark_class(log: Path, name: str, *arguments: str) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            [HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *arguments],
            env=_environment(), stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        yield
    finally:
        # A worker's executors are its children.
        family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        process.terminate()
        _gone, alive = psutil.wait_procs(family, timeout=20)
        for one in alive:
            one.kill()
        process.wait()


def _wait_for(log: Path, pattern: str) -> str:
    for attempt in Retrying(stop=stop_after_delay(LIMIT_S), wait=wait_fixed(0.05), reraise=True):
        with attempt:
            said = log.read_text(errors="replace")
            found = re.search(pattern, said)
            assert found, f"no {pattern!r} within {LIMIT_S} s in {said}"
    return found[found.re.groups]
