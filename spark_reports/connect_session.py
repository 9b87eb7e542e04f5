"""A session of a Spark Connect server: the third way to reach a cluster, for which this machine needs no Java.

The server has Delta Lake, and the file systems of the store and of run folders.
"""

import logging
import os
import socket
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import delta.exceptions
from pyspark.errors import PySparkException, PySparkValueError
from pyspark.sql import SparkSession

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.spark_reports import requirements
from rocketchaos.spark_reports.driver import SCHEME
from rocketchaos.spark_reports.failures import spark_failures

_PORT = 15002
_ANSWER_LIMIT_S = 10
_RETRIES = 5
"""Of a call to a server that is gone: about 20 s. By default they go on for ten minutes."""
_MODE = "SPARK_CONNECT_MODE_ENABLED"
"""The environment variable by which PySpark chooses how its functions are made; a session sets it."""
_NOWHERE = "file:/nonexistent/rocketchaos"
_OF_DELTA = "DELTA_"
"""How the names of Delta's conditions begin."""
_URL = f"Give it as {SCHEME}host:{_PORT}."
_START = "spark_reports/README.md says how a server for stores is started."


@contextmanager
def connect_session(
    url: str, settings: Mapping[str, str], of_one_machine: Mapping[str, str]
) -> Iterator[SparkSession]:
    """A session, closed with the block: the server stops the work of a closed session.

    Args:
        url: of the server: `sc://host:port`, with Spark's own parameters behind it.
        settings: of Spark; those that only a server's start can set are left to it.
        of_one_machine: further settings, for a server whose master is local.

    Raises:
        UsageProblem: it is no URL of a server.
        EnvironmentNotReady: a package is missing, no server answers, or it has no Delta Lake.
    """
    requirements.require_connect()
    host = _answering(url)
    # Its own log shows errors that are handled, as lines of JSON.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]")
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    _name_conflicts()
    before = os.environ.get(_MODE)
    try:
        with spark_failures(None):
            session = _opened(url)
            try:
                _require_delta(session, host)
                _set(session, settings)
                if (session.conf.get("spark.master", None) or "").startswith("local"):
                    _set(session, of_one_machine)
                yield session
            finally:
                # A server that is gone is not waited for once more.
                _retry(session, 0)
                with suppress(Exception):
                    session.stop()
    finally:
        if before is None:
            os.environ.pop(_MODE, None)


def _answering(url: str) -> str:
    """The server's host and port, which take connections. A token in the URL is shown nowhere."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, _PORT if parts.port is None else parts.port
    except ValueError as error:
        raise UsageProblem(f"that is no Spark Connect server: {error}", _URL) from error
    if not host or parts.username is not None:
        raise UsageProblem(
            f"that is no Spark Connect server: {SCHEME}{parts.netloc.rpartition('@')[2]}", _URL
        )
    try:
        socket.create_connection((host, port), _ANSWER_LIMIT_S).close()
    except OSError as error:
        raise EnvironmentNotReady(
            f"no Spark Connect server answers at {host}:{port}: {error.strerror or error}",
            f"Start one, or correct --master. {_START}",
        ) from error
    return f"{host}:{port}"


def _opened(url: str) -> SparkSession:
    builder: Any = SparkSession.builder
    try:
        session: SparkSession = builder.remote(url).getOrCreate()
    except PySparkValueError as error:
        raise UsageProblem(f"that is no Spark Connect server: {error}", _URL) from error
    _retry(session, _RETRIES)
    return session


def _retry(session: SparkSession, times: int) -> None:
    from pyspark.sql.connect.client.retries import DefaultPolicy

    opened: Any = session
    opened.client.set_retry_policies([DefaultPolicy(max_retries=times)])


def _require_delta(session: SparkSession, host: str) -> None:
    """Ask for a table that isn't there: only with its extension and its catalog Delta answers."""
    for statement in ("DESCRIBE HISTORY", "SHOW TBLPROPERTIES"):
        try:
            session.sql(f"{statement} delta.`{_NOWHERE}`").collect()
        except PySparkException as error:
            condition = error.getCondition()
            if condition is None:
                raise
            if not condition.startswith(_OF_DELTA):
                raise EnvironmentNotReady(
                    f"the Spark Connect server at {host} has no Delta Lake: {condition}", _START
                ) from error


def _set(session: SparkSession, settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        if session.conf.isModifiable(name):
            session.conf.set(name, value)


def _name_conflicts() -> None:
    """Let PySpark raise Delta's conflicts as such; it knows only Spark's own classes of exceptions."""
    import delta.connect.exceptions as of_delta
    from pyspark.errors.exceptions.connect import EXCEPTION_CLASS_MAPPING

    for name in delta.exceptions.__all__:
        EXCEPTION_CLASS_MAPPING[f"io.delta.exceptions.{name}"] = getattr(of_delta, name)
