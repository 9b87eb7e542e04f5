"""Failures of Spark that the machine causes, as one message; all others are defects."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import AnalysisException, PySparkException, PySparkRuntimeError
from pyspark.errors.exceptions.captured import CapturedException

from rocketchaos.harness.core.errors import EnvironmentNotReady

_LINES = 3
_TELLS_NOTHING = re.compile(r"incubator modules| WARN Utils: |^\s+at \S+\(|^\s+\.\.\. \d+ more")
_SPACE = "Free some space where the store and ROCKETCHAOS_CACHE are, and do it again: the store is whole."
_MEMORY = "Set ROCKETCHAOS_SPARK_MEMORY to more, as `4g`."
_STORE = "Put the store back from a copy, or make a new store of the run folders."
_FILE = "Where it is the store's: put it back from a copy, or make a new store of the run folders."
_MASTER = "Give one such as `local[*]`."
_REACH = "spark_reports/README.md says what HDFS and S3-compatible stores need."
_CREDENTIALS = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or what " + _REACH
_AGAIN = "Do it again when the server can be reached: the store is whole."

# What a cause says, in the order in which it is looked for: what happened, and the way out.
_CAUSES: tuple[tuple[str, str, str], ...] = (
    ("No space left on device", "the disk is full", _SPACE),
    ("Disk quota exceeded", "the disk is full", _SPACE),
    ("Read-only file system", "the disk is read-only", "Choose another place."),
    ("java.lang.OutOfMemoryError", "Spark has run out of memory", _MEMORY),
    ("ignores If-None-Match", "several machines can't write a store there", _REACH),
    ("No AWS Credentials provided", "there are no credentials for S3", _CREDENTIALS),
    ("InvalidAccessKeyId", "the server refuses the credentials", _CREDENTIALS),
    ("SignatureDoesNotMatch", "the server refuses the credentials", _CREDENTIALS),
    ("UnknownStoreException", "there is no such bucket", "Make it, or correct its name."),
    ("java.nio.file.AccessDeniedException", "a file may not be read or written", "Correct its permissions."),
    ("Permission denied", "a file may not be read or written", "Correct its permissions."),
    ("No FileSystem for scheme", "Spark knows no file system of that kind", _REACH),
    ("UnsupportedFileSystemException", "Spark knows no file system of that kind", _REACH),
    ("ClassNotFoundException: Class org.apache.hadoop", "Spark lacks the jar of a file system", _REACH),
    ("Incomplete HDFS URI", "the name node is missing", "Give it: hdfs://namenode/store. " + _REACH),
    ("ViewFs: Cannot initialize", "Hadoop isn't set up for viewfs", _REACH),
    ("java.net.UnknownHostException", "a host is unknown", _REACH),
    ("java.net.ConnectException", "a server can't be reached", f"{_AGAIN} {_REACH}"),
    ("java.net.SocketTimeoutException", "a server doesn't answer", _AGAIN),
    ("java.net.NoRouteToHostException", "a server can't be reached", f"{_AGAIN} {_REACH}"),
    ("java.net.SocketException", "the connection to a server is broken", _AGAIN),
    ("End of File Exception between local host", "the connection to a server is broken", _AGAIN),
    ("NoHttpResponseException", "the connection to a server is broken", _AGAIN),
    ("SafeModeException", "HDFS can only be read now", _AGAIN),
    ("could only be written to", "HDFS has too few data nodes", _AGAIN),
    ("All datanodes", "HDFS has too few data nodes", _AGAIN),
    ("BlockMissingException", "a data node of HDFS is gone", _AGAIN),
    ("All masters are unresponsive", "Spark's master can't be reached", "Check --master."),
    ("StatusCode.UNAVAILABLE", "the Spark Connect server has ended", _AGAIN),
    ("failed to connect to all addresses", "the Spark Connect server has ended", _AGAIN),
    ("DELTA_TRUNCATED_TRANSACTION_LOG", "the store is damaged", _STORE),
    ("DELTA_VERSIONS_NOT_CONTIGUOUS", "the store is damaged", _STORE),
    ("ChecksumException", "a file is damaged", _FILE),
    ("FAILED_READ_FILE", "a file is damaged, or missing", _FILE),
    ("Could not parse Master URL", "that is no master of Spark", _MASTER),
    ("Asked to run locally with 0 threads", "that is no master of Spark", _MASTER),
    ("INVALID_DRIVER_MEMORY", "Spark's JVM has too little memory", _MEMORY),
)


@contextmanager
def spark_failures(log: Path | None) -> Iterator[None]:
    """Turn failures of the machine into messages.

    Args:
        log: of Spark's JVM, named in messages; None where it goes elsewhere, as under `spark-submit`.

    Raises:
        EnvironmentNotReady: the disk is full, the JVM has died, a file system can't be reached, ...
    """
    where = f" Spark's log: {log}" if log is not None else ""
    try:
        yield
    except (Py4JError, PySparkException, ConnectionError, EOFError) as error:
        # Both classes of pyspark hide what the JVM said behind their own `str`.
        text = _text_of(error)
        for sign, happened, way_out in _CAUSES:
            if sign in text:
                raise EnvironmentNotReady(f"{happened}: {_line_with(sign, text)}", way_out + where) from error
        if isinstance(error, (Py4JNetworkError, ConnectionError, EOFError)):
            raise EnvironmentNotReady(f"Spark's JVM has ended{_last_words(log)}", _MEMORY + where) from error
        if isinstance(error, PySparkRuntimeError) and error.getCondition() == "JAVA_GATEWAY_EXITED":
            raise EnvironmentNotReady(f"Spark doesn't start{_last_words(log)}", where.strip()) from error
        if not hasattr(error, "__notes__"):
            # Its own text goes with the JVM.
            error.add_note(text)
        raise


def _text_of(error: BaseException) -> str:
    """Its text and its cause, as far as it has them if the JVM has died."""
    try:
        return _whole_text(error)
    except Exception:
        return repr(type(error))


def _whole_text(error: BaseException) -> str:
    if isinstance(error, Py4JJavaError):
        return str(error)
    if isinstance(error, CapturedException) and not isinstance(error, AnalysisException):
        return f"{error}\n{error._stackTrace or ''}\n{error._cause or ''}"
    return str(error)


def _line_with(sign: str, text: str) -> str:
    line = next(line.strip() for line in text.splitlines() if sign in line)
    return line.removeprefix("Caused by: ").removeprefix(": ")[:300]


def _last_words(log: Path | None) -> str:
    """The end of the log, without Java's lines at every start and without places in Spark."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log is not None else []
    except OSError:
        return ""
    telling = [line.strip() for line in lines if line.strip() and not _TELLS_NOTHING.search(line)][-_LINES:]
    return f": {' / '.join(telling)[:400]}" if telling else ""
