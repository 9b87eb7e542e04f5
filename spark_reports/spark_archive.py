"""The class-data archive of Spark's JVM: with it, a Spark starts in about half the time.

The first report on a small store makes it when its JVM ends. Its file has about 180 MB.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.jars.class_archive import ClassArchive, alone, machine_is_busy
from rocketchaos.harness.jars.java_home import Java

# Spark puts these folders on its class path. A JVM writes no archive then.
_FOLDERS = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH")


@dataclass(frozen=True)
class ArchiveUse:
    """What a JVM of Spark does with the archive."""

    options: Sequence[str]
    """Of the JVM."""
    makes: bool
    """Whether it writes the archive when it ends."""


@contextmanager
def spark_archive(
    java: Java, first_jars: Sequence[Path], folder: Path, *, make: bool
) -> Iterator[ArchiveUse]:
    """The archive is used within the block, or made and kept after it.

    Args:
        java: that runs Spark.
        first_jars: on the class path before Spark's own.
        folder: for what the JVM writes.
        make: whether a missing archive may be made. Nothing is made on a busy machine, or while another process
            makes it.
    """
    archive = ClassArchive("spark", java, [*first_jars, *_own_jars()])
    if not make or any(map(os.environ.get, _FOLDERS)) or machine_is_busy() or not archive.can_be_made():
        yield ArchiveUse(archive.options(), makes=False)
        return
    with alone("lock-of-spark") as mine:
        if not mine or not archive.can_be_made():
            yield ArchiveUse(archive.options(), makes=False)
            return
        yield ArchiveUse(archive.making(folder), makes=True)
        try:
            archive.keep(folder)
        except (EnvironmentNotReady, OSError) as failure:
            with suppress(OSError):
                archive.note_failure(str(failure))


def _own_jars() -> list[Path]:
    """Spark's class path: slf4j's jar, and then `jars/*`, which Java expands in the folder's own order.

    Source: `AbstractCommandBuilder.buildClassPath`, Spark 4.1.0.
    """
    with os.scandir(Path(pyspark.__file__).parent / "jars") as entries:
        jars = [Path(entry.path) for entry in entries if entry.name.endswith(".jar")]
    return [*(jar for jar in jars if jar.name.startswith("slf4j-api-")), *jars]
