"""A real standalone master with two workers on loopback, and what `spark-submit` makes of the packaged zip."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pyspark
import pytest
from pyspark.sql import SparkSession
from tenacity import Retrying, stop_after_delay, wait_fixed

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.package import Package, make_package
from rocketchaos.spark_reports.render.document import document
from rocketchaos.spark_reports.report_kinds import REPORTS
from rocketchaos.spark_reports.store import Store
from tests.spark.stores import made, rows

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

HOME = Path(pyspark.__file__).parent
GOLDEN = Path(__file__).parent.parent / "golden" / "runs"
LIMIT_S = 240
OF_THE_DRIVER = (
    "msgspec", "pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection", "numpy",
    "scipy", "deltalake", "arro3.core", "deprecated", "wrapt", "pyarrow",
)  # fmt: skip
"""msgspec, Pydantic, SciPy, deltalake and PyArrow, with what they need."""
PROBE = """
import rocketchaos.spark_reports
from rocketchaos.spark_reports.spark_session import spark_session
with spark_session() as spark:
    print(spark.conf.get("spark.sql.shuffle.partitions"))
print(rocketchaos.spark_reports.__file__)
"""


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


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has what is asked of a driver's, and nothing else: neither the project nor its packages."""
    folder = tmp_path_factory.mktemp("python")
    site = folder / "site"
    site.mkdir()
    for name in OF_THE_DRIVER:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        there = Path(spec.origin)
        if "." in name:  # its whole folder is linked
            there = there.parent
        for item in (
            (there.parent, there.parent.with_name(f"{name}.libs")) if spec.parent == name else (there,)
        ):
            if item.exists():
                (site / item.name).symlink_to(item)
    script = folder / "python"
    # -S: without site-packages, and so without what is installed to be edited.
    script.write_text(
        f'#!/bin/sh\nPYTHONPATH="{site}${{PYTHONPATH:+:$PYTHONPATH}}" exec "{sys.executable}" -S "$@"\n'
    )
    script.chmod(0o755)
    return script


@pytest.fixture(scope="module")
def stores(
    spark: SparkSession,
    master: str,
    package: Package,
    python: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Store, Store]:
    """Of the same run folders, by this process and by the cluster."""
    folder = tmp_path_factory.mktemp("stores")
    runs = [str(item) for item in sorted(GOLDEN.iterdir())[:2]]
    _submit(package, python, master, "ingest", *runs, "--store", str(folder / "there"))
    ingest(spark, made(spark, folder / "here"), runs, print)
    return Store.open(spark, str(folder / "here")), Store.open(spark, str(folder / "there"))


@pytest.mark.nightly
def test_a_cluster_gets_the_same_tables_as_this_process(stores: tuple[Store, Store]) -> None:
    here, there = stores
    assert rows(here) == rows(there)


@pytest.mark.nightly
@pytest.mark.parametrize("name", REPORTS)
def test_a_cluster_gets_the_same_report_as_this_process(
    stores: tuple[Store, Store],
    spark: SparkSession,
    master: str,
    package: Package,
    python: Path,
    name: str,
    tmp_path: Path,
) -> None:
    _, there = stores
    # A store of one ingest has nothing before it: `report diff` writes its page and ends with 3.
    code = 3 if name == "diff" else 0
    _submit(package, python, master, name, "--store", there.place.uri, "--out", str(tmp_path), code=code)
    assert (tmp_path / f"{name}.html").is_file()
    written = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    there.register()
    assert written["sections"] == document(REPORTS[name](Answers(spark), there.summary()))["sections"]


def test_on_a_local_master_it_has_few_tasks_is_quiet_and_is_the_zip_s(
    package: Package, python: Path, tmp_path: Path
) -> None:
    alone = subprocess.run(
        [python, "-c", "import rocketchaos"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert "No module named 'rocketchaos'" in alone.stderr
    probe = tmp_path / "probe.py"
    probe.write_text(PROBE)
    found = _submit(replace(package, script=probe), python, "local[2]").stdout
    partitions, module = found.splitlines()
    assert int(partitions) == max(2, os.cpu_count() or 2)
    assert Path(module).is_relative_to(package.zip)


def test_without_its_zip_the_script_says_what_it_needs(package: Package) -> None:
    alone = subprocess.run(
        [sys.executable, "-S", package.script], capture_output=True, text=True, check=False, timeout=60
    )
    assert (alone.returncode, "--py-files" in alone.stderr) == (2, True)


def _submit(
    package: Package, python: Path, master: str, *arguments: str, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """By the command that is printed; what is said besides what was asked for is a failure."""
    words = shlex.split(package.command)
    words = [
        {"spark-submit": str(HOME / "bin" / "spark-submit"), "MASTER": master}.get(item, item)
        for item in words
    ]
    settings = [
        "spark.driver.host=127.0.0.1",
        "spark.driver.memory=1g",
        "spark.executor.memory=512m",
        "spark.ui.enabled=false",
        # As for all tests of few rows (conftest.py): each of these JVMs would compile it anew.
        "spark.sql.codegen.wholeStage=false",
        "spark.sql.codegen.factoryMode=NO_CODEGEN",
    ]
    done = subprocess.run(
        [
            *words[: words.index("--py-files") + 2],
            *(word for setting in settings for word in ("--conf", setting)),
            package.script, *arguments,
        ],
        env=_environment() | {"PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": str(python)},
        capture_output=True, text=True, check=False, timeout=LIMIT_S,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    # What Java itself says of Spark's modules, before anything else runs, nobody can keep it from.
    said = [line for line in done.stderr.splitlines() if "incubator modules" not in line]
    noise = [line for line in said if re.search(r"\b(INFO|WARN|WARNING)\b|log4j", line)]
    assert not noise, done.stderr
    return done


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
        for item in alive:
            item.kill()
        process.wait()


def _wait_for(log: Path, pattern: str) -> str:
    for attempt in Retrying(stop=stop_after_delay(LIMIT_S), wait=wait_fixed(0.05), reraise=True):
        with attempt:
            said = log.read_text(errors="replace")
            found = re.search(pattern, said)
            assert found, f"no {pattern!r} within {LIMIT_S} s in {said}"
    return found[found.re.groups]
