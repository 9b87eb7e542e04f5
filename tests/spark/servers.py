"""An S3 server, an HDFS and a Spark Connect server, on loopback, each a process that can be killed."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyspark
from tenacity import Retrying, stop_after_delay, wait_fixed

from rocketchaos.harness.jars.bundles import Bundle, jars
from rocketchaos.harness.jars.java_home import find_java
from rocketchaos.spark_reports import requirements
from rocketchaos.spark_reports.file_systems import hadoop_version
from tests.spark.go_programs import go_program

USER, SECRET = "rocketchaos-tests", "seldom-guessed-secret"
_LIMIT_S = 120
_MINIO = ("github.com/minio/minio", "v0.0.0-20260212201848-7aac2a2c5b7c")
_GOFAKES3 = ("github.com/johannesboyne/gofakes3/cmd/gofakes3", "v1.2.0")
_CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
_HDFS = "org.apache.hadoop.test.MiniDFSClusterManager"


@dataclass
class Server:
    """A process that can be killed, and started again."""

    uri: str
    """Of a folder there."""
    port: int
    command: Sequence[str | Path]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    """For those who use it, and for itself."""
    first: Sequence[str] = ()
    """What the command is given in addition at the first start."""
    ready: Path | None = None
    """A file that it writes once it can be used; None: when its port is open."""
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it can be used."""
        if self.ready is not None:
            self.ready.unlink(missing_ok=True)
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                [*self.command, *self.first],
                env={**os.environ, **self.environment},
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.log.parent,
            )
        self.first = ()
        for attempt in Retrying(stop=stop_after_delay(_LIMIT_S), wait=wait_fixed(0.1), reraise=True):
            with attempt:
                assert self._process.poll() is None, self.log.read_text()
                self._require_ready()

    def kill(self) -> None:
        """Kill it, at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _require_ready(self) -> None:
        if self.ready is not None:
            assert self.ready.exists(), f"not ready: {self.log.read_text()}"
        with socket.create_connection(("127.0.0.1", self.port), timeout=5):
            pass


@contextmanager
def minio(folder: Path) -> Iterator[Server]:
    """MinIO, which checks signatures; building it takes minutes."""
    bucket = "large"
    (folder / "data" / bucket).mkdir(parents=True)
    port = _free_port()
    command = (
        go_program(*_MINIO), "server", "--quiet", "--address", f"127.0.0.1:{port}", str(folder / "data")
    )  # fmt: skip
    own = {"MINIO_ROOT_USER": USER, "MINIO_ROOT_PASSWORD": SECRET, "MINIO_BROWSER": "off"}
    with _running(_s3(bucket, folder, port, command, own)) as server:
        yield server


@contextmanager
def small_s3(folder: Path) -> Iterator[Server]:
    """A small server of S3, built in seconds: it keeps all in memory, and asks for no credentials.

    Not for whole ingests: it takes the marks between the chunks of an upload for content, where S3A copies a file.
    """
    bucket, port = "small", _free_port()
    command = (
        go_program(*_GOFAKES3), "-backend", "memory", "-quiet", "-host", f"127.0.0.1:{port}",
        "-initialbucket", bucket,
    )  # fmt: skip
    with _running(_s3(bucket, folder, port, command, {})) as server:
        yield server


@contextmanager
def hdfs(folder: Path) -> Iterator[Server]:
    """Hadoop's own mini cluster, a name node and a data node, of the Hadoop that PySpark brings."""
    hadoop = hadoop_version()
    bundle = Bundle(
        f"hadoop-minicluster-{hadoop}",
        f"the mini cluster of Hadoop {hadoop}",
        [
            f"org.apache.hadoop:hadoop-client-minicluster:{hadoop}",
            "junit:junit:4.13.2",
            "org.hamcrest:hamcrest-core:1.3",
        ],
        complete=True,
    )
    of_spark = Path(pyspark.__file__).parent / "jars"
    needed = [
        jar
        for name in ("hadoop-client-*", "slf4j-api-*", "jcl-over-slf4j-*")
        for jar in of_spark.glob(f"{name}.jar")
    ]
    port, details = _free_port(), folder / "details.json"
    command = (
        find_java(full_jdk=True).executable, "-Xmx400m",
        "-cp", os.pathsep.join(map(str, [*jars(bundle), *needed])),
        _HDFS, "-D", f"hdfs.minidfs.basedir={folder / 'data'}",
        "-datanodes", "1", "-nnport", str(port), "-writeDetails", str(details),
    )  # fmt: skip
    server = Server(
        f"hdfs://127.0.0.1:{port}", port, command, folder / "hdfs.log", first=["-format"], ready=details
    )
    with _running(server) as running:
        yield running


_OF_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


@contextmanager
def connect(folder: Path, *, delta: bool = True) -> Iterator[Server]:
    """A Spark Connect server, with Delta Lake or without."""
    home, port = Path(pyspark.__file__).parent, _free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        # As for all tests of few rows (conftest.py).
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    if delta:
        settings |= {**_OF_DELTA, "spark.jars": ",".join(map(str, jars(requirements.delta())))}
    told = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    server = Server(
        f"sc://127.0.0.1:{port}",
        port,
        [home / "bin" / "spark-submit", "--class", _CONNECT, "--master", "local[2]", *told, "spark-internal"],
        folder / "connect.log",
        {
            "SPARK_HOME": str(home),
            "JAVA_HOME": str(find_java(full_jdk=True).home),
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
    )
    with _running(server) as running:
        yield running


def _s3(
    bucket: str, folder: Path, port: int, command: Sequence[str | Path], own: Mapping[str, str]
) -> Server:
    asked = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": USER,
        "AWS_SECRET_ACCESS_KEY": SECRET,
    }
    return Server(f"s3a://{bucket}", port, command, folder / "s3.log", asked | dict(own))


@contextmanager
def _running(server: Server) -> Iterator[Server]:
    try:
        server.start()
        yield server
    finally:
        server.kill()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
