"""A Spark that can read and write Delta tables, quietly, and that leaves nothing behind.

Its JVM is a child of this process, which ends when the pipe to its standard input closes: with the session, and
also where this process is killed. Its output goes into a log. Under `spark-submit` there is a JVM already;
then it is used as it is.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pyspark
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.jars.bundles import jars
from rocketchaos.harness.jars.java_home import find_java
from rocketchaos.spark_reports import file_systems, requirements
from rocketchaos.spark_reports.driver import SCHEME
from rocketchaos.spark_reports.failures import spark_failures

MASTER_VARIABLE = "ROCKETCHAOS_SPARK_MASTER"
"""The environment variable that names Spark's master, instead of `local[*]`."""
MEMORY_VARIABLE = "ROCKETCHAOS_SPARK_MEMORY"
"""The environment variable that says how much memory Spark's JVM may use: `2g`."""
LOG_LEVEL = "spark.log.level"
"""Spark's setting of what it says, for the terminal of `spark-submit`."""

Progress = Callable[[str], None]

_GIB = 2**30
_COMPACT = str(128 * 2**20)
"""Bytes of a file of a table that is large enough."""
_SMALL = " -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
"""Options of a JVM without its second compiler, and with the collector that has no threads. By default it
has 48 MB for compiled code: Spark fills that, and the first compiler compiles much of it again."""
_INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Queries without generated code. Reports on 41 runs take 30 s of processor time instead of 48 s, those on 10^6
message facts 92 s instead of 78 s."""
_LEAST_MIB = 450
"""Spark doesn't start with less (`UnifiedMemoryManager.getMaxMemory`, Spark 4.1.0)."""
_END_LIMIT_S = 20
_ARCHIVE_LIMIT_S = 120
"""Of the end of a JVM that writes its classes."""
LOG4J = Path(__file__).with_name("log4j2.properties")
"""The standard error of Spark's JVM."""
_HERE = "127.0.0.1"


@contextmanager
def spark_session(
    master: str | None = None,
    progress: Progress | None = None,
    places: Sequence[str] = (),
    *,
    small: bool = False,
    tiny: bool = False,
) -> Iterator[SparkSession]:
    """A session, ended with the block together with its JVM.

    Args:
        master: of Spark, or a Spark Connect server as `sc://host:port`; None: `ROCKETCHAOS_SPARK_MASTER`,
            otherwise `local[*]`.
        progress: called with a few words before anything that takes time.
        places: paths and URIs that the session must reach; see `spark_reports.file_systems`.
        small: whether little data is read: then a JVM that is started here leaves out its second compiler, which
            costs more than it saves.
        tiny: whether so little data is read that Spark interprets queries: compiling them takes longer.

    Raises:
        EnvironmentNotReady: a package, Java or Delta's jars are missing, Spark doesn't start, or it fails for
            a reason that lies in the machine; the message names its log.
        UsageProblem: `ROCKETCHAOS_SPARK_MEMORY` is no amount of memory, or too little.
    """
    chosen = master or os.environ.get(MASTER_VARIABLE) or "local[*]"
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        if (master or "").startswith(SCHEME):
            raise UsageProblem(
                f"under spark-submit there is a Spark already: {master}", "Leave out --master."
            )
        with spark_failures(None):
            yield from _submitted(master, places)
        return
    if chosen.startswith(SCHEME):
        # Only here: its packages are an extra of their own.
        from rocketchaos.spark_reports.connect_session import connect_session

        (progress or (lambda _text: None))("connecting to Spark")
        with connect_session(chosen, _settings(""), _few_tasks()) as session:
            yield session
        return
    # Only here: what it needs is not there under `spark-submit`.
    from rocketchaos.spark_reports.scratch import LOG, scratch
    from rocketchaos.spark_reports.spark_archive import spark_archive

    say = progress or (lambda _text: None)
    memory = _memory()
    java = find_java(full_jdk=True)
    of_places = file_systems.needed(places)
    spark_jars = [*jars(requirements.delta(), say), *(jar for item in of_places for jar in item.jars(say))]
    with scratch() as folder, spark_failures(folder / LOG):
        settings = {
            **_settings(chosen),
            "spark.driver.memory": memory,
            **_jars(spark_jars),
            **(_INTERPRETED if tiny else {}),
        }
        with spark_archive(java, spark_jars, folder, make=small) as archive:
            settings |= _places(folder, small, archive.options)
            say("starting Spark")
            # Failures are read once more within: the JVM must live to tell what happened.
            with (
                _jvm(settings, java.home, folder / LOG, writes_archive=archive.makes) as gateway,
                _hearing_signals(gateway),
                spark_failures(folder / LOG),
            ):
                yield from _session(gateway, settings, places)
                if archive.makes:
                    say("preparing fast starts of Spark, once")


def _settings(master: str) -> dict[str, str]:
    """What holds for every session."""
    settings = {
        "spark.master": master,
        "spark.app.name": "rocketchaos",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # The log of a table of ours is small: 50 tasks, as by default, take longer than reading it.
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.ansi.enabled": "true",
        # What is put together: not all of a large store each time.
        "spark.databricks.delta.optimize.minFileSize": _COMPACT,
        "spark.databricks.delta.optimize.maxFileSize": _COMPACT,
        # An ingest has more pieces of generated code than the 100 that are kept by default, and compiles
        # them, and warms them up for each portion.
        "spark.sql.codegen.cache.maxEntries": "2000",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if master.startswith("local"):
        settings |= {"spark.driver.bindAddress": _HERE, "spark.driver.host": _HERE, **_few_tasks()}
    return settings


def _few_tasks() -> dict[str, str]:
    """For one machine. They can be changed while a session runs."""
    return {
        "spark.sql.shuffle.partitions": str(max(2, os.cpu_count() or 2)),
        # VACUUM lists folders in this many tasks, 10000 by default.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
    }


def _jars(files: Sequence[Path]) -> dict[str, str]:
    """Executors get them by `spark.jars`. A class-data archive has only classes of the JVM's own class path."""
    names = list(map(str, files))
    return {"spark.jars": ",".join(names), "spark.driver.extraClassPath": os.pathsep.join(names)}


def _places(folder: Path, small: bool, archive_options: Sequence[str]) -> dict[str, str]:
    temporary = folder / "temporary"
    temporary.mkdir()
    with_paths = [
        f"-Dlog4j2.configurationFile={LOG4J.as_uri()}",
        f"-Djava.io.tmpdir={temporary}",
        f"-Dderby.system.home={temporary}",
        *archive_options,
    ]
    # Quoted, because a path may have a blank.
    options = " ".join(f'"{option}"' for option in with_paths)
    return {
        "spark.local.dir": str(temporary),
        "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
        "spark.driver.extraJavaOptions": f"{options} -XX:-UsePerfData{_SMALL if small else ''}",
    }


def _memory() -> str:
    """For Spark's JVM: as the user says, otherwise half of the machine's, but 1 GiB at least and 4 at most."""
    configured = os.environ.get(MEMORY_VARIABLE)
    if not configured:
        # Under `spark-submit`, where this isn't asked, it may not be installed.
        import psutil

        return f"{min(4, max(1, psutil.virtual_memory().total // 2 // _GIB))}g"
    amount = re.fullmatch(r"([1-9]\d*)([mg])", configured, re.IGNORECASE)
    if amount is None:
        raise UsageProblem(
            f"{MEMORY_VARIABLE} is no amount of memory: {configured}", "Give one such as `2g` or `1500m`."
        )
    if amount[2].lower() == "m" and int(amount[1]) < _LEAST_MIB:
        raise UsageProblem(
            f"{MEMORY_VARIABLE} is too little for Spark, which needs {_LEAST_MIB}m: {configured}",
            "Give `1g`, or more.",
        )
    return configured


@contextmanager
def _jvm(settings: Mapping[str, str], java_home: Path, log: Path, *, writes_archive: bool) -> Iterator[Any]:
    """Spark's JVM, ended with the block; at once, without an archive, if the block fails."""
    environment = {"JAVA_HOME": str(java_home)}
    pip_home = Path(pyspark.__file__).parent
    if (pip_home / "bin" / "spark-submit").is_file():
        # Another Spark on this machine may have another version.
        environment["SPARK_HOME"] = str(pip_home)
    configured = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    with log.open("ab") as output, _environment(environment):
        gateway = launch_gateway(  # type: ignore[no-untyped-call]
            configured, {"stdout": output, "stderr": subprocess.STDOUT}
        )
    limit_s = 0 if writes_archive else _END_LIMIT_S
    try:
        yield gateway
        limit_s = _ARCHIVE_LIMIT_S if writes_archive else _END_LIMIT_S
    finally:
        _end(gateway, limit_s)


@contextmanager
def _environment(changes: Mapping[str, str]) -> Iterator[None]:
    """These environment variables, within the block: Spark's scripts take them in no other way."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _hearing_signals(gateway: Any) -> Iterator[None]:
    """Lets SIGINT and SIGTERM end the block wherever they arrive.

    Errors of a handler are lost if Python runs something by itself, as py4j's clean-up of objects that are
    gone. So the JVM begins to end at the signal: who waits for it gets an error, in whose place the handler's is
    raised.
    """
    raised: list[BaseException] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def hear(number: int, frame: FrameType | None) -> None:
        handler = handlers[signal.Signals(number)]
        assert callable(handler)
        try:
            handler(number, frame)
        except BaseException as error:
            raised.append(error)
            with suppress(Exception):
                gateway.proc.stdin.close()
            raise

    in_main_thread = threading.current_thread() is threading.main_thread()
    heard = [number for number, handler in handlers.items() if callable(handler) and in_main_thread]
    for number in heard:
        signal.signal(number, hear)
    try:
        yield
        if raised:
            raise raised[0]
    except Exception:
        if raised:
            raise raised[0] from None
        raise
    finally:
        for number in heard:
            signal.signal(number, handlers[number])


def _session(gateway: Any, settings: Mapping[str, str], places: Sequence[str]) -> Iterator[SparkSession]:
    # It logs with loggers of its own, and with the root's.
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_not_of_py4j)
    on_interrupt = signal.getsignal(signal.SIGINT)
    configured = SparkConf(_jvm=gateway.jvm).setAll(list(settings.items()))
    configured.setAll(list(_unless_set(configured, places).items()))
    SparkContext(conf=configured, gateway=gateway)
    with suppress(ValueError):
        # Spark's own handler talks to the JVM in the midst of another talk; and signals belong to the main thread.
        signal.signal(signal.SIGINT, on_interrupt)
    session = SparkSession.builder.getOrCreate()
    try:
        yield session
    except Exception:
        with suppress(Exception):
            session.stop()
        raise
    session.stop()


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """Hide py4j's messages about Ctrl-C, which is no error."""
    return "py4j" not in record.pathname


def _end(gateway: Any, limit_s: float) -> None:
    """End the JVM, whatever it does, and let pyspark forget it, so that another session can start one."""
    with suppress(Exception):
        gateway.proc.stdin.close()
    try:
        gateway.proc.wait(limit_s)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
    with suppress(Exception):
        gateway.close()
    SparkContext._gateway = SparkContext._jvm = None
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None


def _unless_set(configured: SparkConf, places: Sequence[str]) -> dict[str, str]:
    """What the file systems of these places need, without what the user has set in `spark-defaults.conf`."""
    user = dict(configured.getAll())
    found = {
        name: value for item in file_systems.needed(places) for name, value in item.settings(user).items()
    }
    return {name: value for name, value in found.items() if name not in user}


def _submitted(master: str | None, places: Sequence[str]) -> Iterator[SparkSession]:
    """A session in the JVM that `spark-submit` has started; its settings of memory and places hold."""
    # Only now the options of `spark-submit` are seen.
    SparkContext._ensure_initialized()
    builder = SparkSession.builder
    settings = _settings(master or "")
    for name, value in (settings | _unless_set(SparkConf(), places)).items():
        if name not in ("spark.master", "spark.app.name"):
            builder = builder.config(name, value)
    session = (builder.master(master) if master else builder).appName("rocketchaos").getOrCreate()
    context = session.sparkContext
    if not context.getConf().contains(LOG_LEVEL):
        context.setLogLevel("ERROR")
    if (context.master or "").startswith("local"):
        # Only now it is known: the command of `spark-submit` says it, or a file of its settings.
        for name, value in _few_tasks().items():
            session.conf.set(name, value)
    try:
        yield session
    finally:
        session.stop()
