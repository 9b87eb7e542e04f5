"""A Spark Connect server that isn't there, and what it must be asked before anything is written."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.spark_reports import connect_session as module
from rocketchaos.spark_reports import requirements
from rocketchaos.spark_reports.connect_session import connect_session
from rocketchaos.spark_reports.driver.connect import ConnectDriver
from rocketchaos.spark_reports.spark_session import spark_session


def _open(url: str) -> None:
    with connect_session(url, {}, {}):
        pass


@pytest.mark.parametrize("url", ["sc://", "sc://:15002", "sc://host:port", "sc://token@host:15002"])
def test_what_is_no_address_is_wrong_usage(url: str) -> None:
    with pytest.raises(UsageProblem, match="no Spark Connect server") as raised:
        _open(url)
    assert "token" not in str(raised.value)
    assert "sc://host:15002" in raised.value.hint


def test_where_no_server_answers_it_says_so_at_once() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(EnvironmentNotReady, match=f"at 127.0.0.1:{port}: Connection refused") as raised:
            _open(f"sc://127.0.0.1:{port}/;token=secret")
    assert "secret" not in str(raised.value) + raised.value.hint
    assert "SPARK_CONNECT_MODE_ENABLED" not in os.environ


def _server(monkeypatch: pytest.MonkeyPatch, condition: str) -> str:
    """The address of a server that answers all statements with an error of this condition."""

    def sql(statement: str) -> Any:
        raise AnalysisException(statement, errorClass=condition)

    settings = SimpleNamespace(get=lambda _name, default: default, isModifiable=lambda _name: False)
    server = SimpleNamespace(sql=sql, conf=settings, stop=lambda: None)
    monkeypatch.setattr(module, "_answering", lambda _url: "host:15002")
    monkeypatch.setattr(module, "_opened", lambda _url: server)
    monkeypatch.setattr(module, "_retry", lambda *_: None)
    return "sc://host:15002"


def test_a_server_without_delta_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Spark answers where Delta's extension is missing; the nightly tests ask a real one."""
    with pytest.raises(
        EnvironmentNotReady, match="server at host:15002 has no Delta Lake: PARSE_SYNTAX_ERROR"
    ):
        _open(_server(monkeypatch, "PARSE_SYNTAX_ERROR"))


def test_a_server_with_delta_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with connect_session(_server(monkeypatch, "DELTA_PATH_DOES_NOT_EXIST"), {}, {}) as session:
        assert session is module._opened("sc://host:15002")


def test_a_missing_package_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    there = requirements.importlib.util.find_spec
    monkeypatch.setattr(
        requirements.importlib.util, "find_spec", lambda name: None if name == "grpc" else there(name)
    )
    with pytest.raises(EnvironmentNotReady, match="Spark Connect needs the package `grpcio`") as raised:
        _open("sc://127.0.0.1:1")
    assert "rocketmq-chaos-harness[connect]" in raised.value.hint


def test_under_spark_submit_there_is_a_spark_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    with pytest.raises(UsageProblem, match="a Spark already"), spark_session("sc://127.0.0.1:1"):
        pass


def _blind() -> SparkSession:
    """A server that sees no file of this machine."""

    def load(_: str) -> Any:
        raise AnalysisException("no such path", errorClass="PATH_NOT_FOUND")

    options = SimpleNamespace(load=load)
    read = SimpleNamespace(format=lambda _: SimpleNamespace(option=lambda *_: options))
    return cast("SparkSession", SimpleNamespace(read=read))


def test_a_store_that_the_server_does_not_see_is_neither_locked_nor_left_with_anything(
    tmp_path: Path,
) -> None:
    driver = ConnectDriver(_blind())
    with (
        pytest.raises(EnvironmentNotReady, match=f"doesn't see this machine's folder {tmp_path}"),
        driver.lock(tmp_path / ".lock", lambda: None),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_run_folders_that_the_server_does_not_see_end_the_ingest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocketchaos.spark_reports.ingest import ingest

    monkeypatch.setattr(ingest, "driver_of", ConnectDriver)
    run = tmp_path / "scenario" / "20260101T000000.000-1"
    run.mkdir(parents=True)
    (run / "run.json").write_text("{}")
    with pytest.raises(EnvironmentNotReady, match="doesn't see the run folders of this machine"):
        ingest.ingest(
            _blind(), cast("Any", SimpleNamespace(begin_ingest=lambda: None)), [str(tmp_path)], print
        )


def test_facts_are_not_brought_to_where_only_the_server_reaches(tmp_path: Path) -> None:
    driver = ConnectDriver(_blind())
    (tmp_path / "000001").mkdir()
    driver.put(tmp_path, "hdfs://host/store/staging/anew")
    (tmp_path / "000001" / "facts.jsonl").write_text("{}")
    with pytest.raises(EnvironmentNotReady, match="1 run folders need new facts") as raised:
        driver.put(tmp_path, "hdfs://host/store/staging/anew")
    assert "rocketchaos check" in raised.value.hint
