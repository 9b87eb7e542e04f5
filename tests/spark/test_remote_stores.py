"""Stores on S3 and on HDFS, on real servers: the same rows as on a disk, whoever writes and whatever breaks."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from py4j.java_collections import ListConverter
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.spark_reports import log_store
from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.render.document import document
from rocketchaos.spark_reports.report_kinds import REPORTS
from rocketchaos.spark_reports.store import Store
from tests.spark import servers, stores
from tests.spark.broken import set_in
from tests.spark.folders import KILL, TAGS, copy
from tests.spark.test_session import REPORT

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

LIMIT_S = 480


@pytest.fixture(scope="module")
def small_s3(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Server]:
    """One that this process's Spark reaches, too."""
    with servers.small_s3(tmp_path_factory.mktemp("small-s3")) as server:
        _reach(spark, server)
        yield server


@pytest.fixture(scope="module")
def minio(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Server]:
    with servers.minio(tmp_path_factory.mktemp("minio")) as server:
        _reach(spark, server)
        yield server


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Server]:
    with servers.hdfs(tmp_path_factory.mktemp("hdfs")) as server:
        yield server


def _reach(spark: SparkSession, server: servers.Server) -> None:
    """Let the Spark of this process reach a bucket, which others are told by their environment."""
    settings = {
        "endpoint": server.environment["AWS_ENDPOINT_URL"],
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "access.key": servers.USER,
        "secret.key": servers.SECRET,
    }
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    for name, value in settings.items():
        configuration.set(f"fs.s3a.bucket.{server.uri.removeprefix('s3a://')}.{name}", value)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["small_s3", "hdfs"])
def test_a_store_elsewhere_is_made_written_and_read(
    spark: SparkSession, kind: str, request: pytest.FixtureRequest
) -> None:
    store = Store.create(spark, f"{request.getfixturevalue(kind).uri}/made")
    stores.ingest(store, "one", "other")
    stores.ingest(store, "other", digest="judged again", messages=5)
    assert stores.visible(Store.open(spark, store.place.uri)) == {"one": 3, "other": 5}


def test_on_s3_a_commit_that_is_there_is_never_replaced(
    spark: SparkSession, small_s3: servers.Server
) -> None:
    jvm: Any = spark.sparkContext._jvm
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    assert spark.sparkContext.getConf().get("spark.delta.logStore.s3a.impl") == log_store.CLASS
    log = jvm.rocketchaos.ConditionalPutLogStore(configuration)
    path = jvm.org.apache.hadoop.fs.Path(f"{small_s3.uri}/commits/_delta_log/{0:020}.json")
    log.write(path, _java(spark, ["mine", "too"]), False, configuration)
    for others in (["theirs"], ["mine"], []):
        with pytest.raises(Py4JJavaError, match=r"java\.nio\.file\.FileAlreadyExistsException"):
            log.write(path, _java(spark, others), False, configuration)
    # As where the answer is lost, and S3A writes the same once more.
    log.write(path, _java(spark, ["mine", "too"]), False, configuration)
    assert list(log.read(path, configuration)) == ["mine", "too"]


def _java(spark: SparkSession, lines: list[str]) -> Any:
    return ListConverter().convert(lines, spark.sparkContext._gateway._gateway_client).iterator()


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["minio", "hdfs"])
def test_commands_do_on_a_store_elsewhere_what_they_do_on_a_disk(
    spark: SparkSession, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server = request.getfixturevalue(kind)
    nights = [str(tmp_path / "first"), str(tmp_path / "second")]
    copy(Path(nights[0]), KILL, "killed")
    set_in(copy(Path(nights[0]), TAGS, "newer"), "run.json", schema_version=99)
    copy(Path(nights[1]), TAGS, "tags")
    here, there = stores.made(spark, tmp_path / "store"), f"{server.uri}/commands"
    for number, night in enumerate(nights):
        done = ingest(spark, here, [night], print)
        said = _command(server, "ingest", night, "--store", there).stdout
        quarantined = sum(done.quarantined.values())
        assert (done.ingested, quarantined) == (1, 1 - number)
        assert f": 1 new, 0 judged again, 0 unchanged, {quarantined} in quarantine" in said
    remote = Store.open(spark, there)
    rows = stores.rows(here)
    assert stores.rows(remote) == rows

    _command(server, "all", "--store", there, "--out", str(tmp_path / "out"))
    here.register()
    for name, report in REPORTS.items():
        page = json.loads((tmp_path / "out" / f"{name}.json").read_text(encoding="utf-8"))
        assert page["sections"] == document(report(Answers(spark), here.summary()))["sections"], name
    _command(server, "diff", "--store", there, "--line", code=ExitCode.INCONCLUSIVE)
    assert "small files became" in _command(server, "tidy", "--store", there).stdout
    assert stores.rows(remote) == rows
    written = [item for item in (tmp_path / "out").rglob("*") if item.is_file()]
    assert len(written) > 10
    assert not [item for item in written if servers.SECRET.encode() in item.read_bytes()]


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["minio", "hdfs"])
def test_two_commands_that_fill_a_store_at_once_lose_nothing(
    spark: SparkSession, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Both make the very store. A run that both ingest counts once."""
    server = request.getfixturevalue(kind)
    names = [f"{side}-{number}" for side in ("left", "right") for number in range(1, 3)]
    folder = {name: str(copy(tmp_path, TAGS, name)) for name in ("shared", *names)}
    there = f"{server.uri}/at-once"
    with ExitStack() as ended:
        writers = [
            ended.enter_context(
                _started(
                    server, "ingest", folder["shared"], *(folder[name] for name in mine), "--store", there
                )
            )
            for mine in (names[:2], names[2:])
        ]
        for writer in writers:
            _ended(writer)
    assert stores.visible(Store.open(spark, there)) == dict.fromkeys(folder, 8)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["minio", "hdfs"])
def test_a_server_that_dies_during_an_ingest_is_a_message_and_the_next_ingest_completes_the_store(
    spark: SparkSession, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server = request.getfixturevalue(kind)
    there = f"{server.uri}/dies"
    before, after = (str(copy(tmp_path, TAGS, name)) for name in ("before", "after"))
    _command(server, "ingest", before, "--store", there)
    files, staging = _file_system(spark, f"{there}/staging")
    with _started(server, "ingest", after, "--store", there) as writer:
        Retrying(
            retry=retry_if_result(lambda begun: not begun), stop=stop_after_delay(180), wait=wait_fixed(0.05)
        )(lambda: files.exists(staging) and len(files.listStatus(staging)) > 0)
        server.kill()
        said = _ended(writer, ExitCode.ENVIRONMENT).stderr
    assert "a server can't be reached" in said or "the connection to a server is broken" in said
    server.start()
    assert stores.visible(Store.open(spark, there)) == {"before": 8}
    assert ": 1 new" in _command(server, "ingest", before, after, "--store", there).stdout
    assert stores.visible(Store.open(spark, there)) == {"before": 8, "after": 8}


def _file_system(spark: SparkSession, uri: str) -> tuple[Any, Any]:
    """Hadoop's own view of a place, and its path there."""
    jvm: Any = spark.sparkContext._jvm
    path = jvm.org.apache.hadoop.fs.Path(uri)
    return path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()), path


def _command(
    server: servers.Server, *arguments: str, code: int = ExitCode.AS_EXPECTED, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Of `rocketchaos report`, as a process; it never says the secret."""
    with _started(server, *arguments, **environment) as running:
        return _ended(running, code)


@contextmanager
def _started(server: servers.Server, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    with tempfile.TemporaryDirectory() as folder:
        # As for all tests of few rows (conftest.py): each of these JVMs would compile it anew.
        (Path(folder) / "spark-defaults.conf").write_text(
            "spark.sql.codegen.wholeStage false\nspark.sql.codegen.factoryMode NO_CODEGEN\n"
        )
        told = {**server.environment, "SPARK_CONF_DIR": folder, **environment}
        with stores.process(REPORT, *arguments, "--master", "local[1]", **told) as running:
            yield running


def _ended(
    running: subprocess.Popen[str], code: int = ExitCode.AS_EXPECTED
) -> subprocess.CompletedProcess[str]:
    out, errors = running.communicate(timeout=LIMIT_S)
    assert servers.SECRET not in out + errors
    assert running.returncode == code, out + errors
    return subprocess.CompletedProcess(running.args, running.returncode, out, errors)
