"""Class-data archives: classes as a JVM has them in memory, which the next JVM needn't read and check again.

They save a third of the work of a start (JEP 350, JDK 13 and newer). There is one for each program, its jars and
its Java. `harness.engine.archive_run` makes those of RocketMQ, `spark_reports.spark_archive` makes that of Spark.
Without one that fits, everything works, only slower.
"""

import contextlib
import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.machine_load import usable_cores
from rocketchaos.harness.jars.java_home import Java

SWITCH = "ROCKETCHAOS_CLASS_ARCHIVES"
"""The environment variable that, with the value `0`, has archives neither made nor used."""
_SILENT = "-Xlog:cds*=off"
"""An archive that doesn't fit is no news, and neither is a class that can't be archived."""
_BASE = "classes.jsa"
"""The archive of Java's own classes, next to libjvm, on which all others build."""
_CHECK_LIMIT_S = 30
_TRY_AGAIN_S = 24 * 3600
_UNUSED_S = 30 * 24 * 3600
_BUSY_LOAD = 2.0
"""Of each core."""


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The archive of one program, whether it is there or not."""

    program: str
    """`broker`, for example: for its file's name, and to distinguish two programs that have the same jars."""
    java: Java
    jars: Sequence[Path]
    """The class path with which it is made; a program that uses it may have more behind them."""

    def options(self) -> list[str]:
        """The options of a JVM that uses it; none if it isn't there in its full size."""
        file = self._file() if enabled() else None
        # The JVM checks the content of an archive, but on Java 17 it crashes with one that was cut off.
        return [] if file is None else ["-XX:+VerifySharedSpaces", f"-XX:SharedArchiveFile={file}", _SILENT]

    def can_be_made(self) -> bool:
        """Whether it is missing, this Java can make it, and that hasn't failed during the last day."""
        if not (enabled() and self.java.libjvm.with_name(_BASE).is_file()) or self._file() is not None:
            return False
        try:
            return time.time() - self._failure.stat().st_mtime > _TRY_AGAIN_S
        except OSError:
            return True

    def making(self, folder: Path) -> list[str]:
        """The options of a JVM that writes it into this folder when it ends in good order."""
        return [f"-XX:ArchiveClassesAtExit={self._in(folder)}", _SILENT]

    def keep(self, folder: Path) -> None:
        """Keep what such a JVM has written, if a JVM can start with it.

        Raises:
            EnvironmentNotReady: it has written nothing, or nothing that can be used.
            OSError: it can't be kept.
        """
        made = self._in(folder)
        if not made.is_file():
            raise EnvironmentNotReady(
                f"Java {self.java.version} has written no class-data archive of {self.program}"
            )
        self._check(made)
        self._prune()
        part = paths.archives_folder() / f"{self._name}.part"
        shutil.copyfile(made, part)
        # On the disk before it has its name: a power cut leaves all of it, or nothing.
        with part.open("rb") as content:
            os.fsync(content.fileno())
        part.replace(part.with_name(f"{self._name}.{part.stat().st_size}.jsa"))

    def note_failure(self, reason: str) -> None:
        """Write down why it can't be made, so that not every command tries."""
        self._failure.write_text(reason + "\n", encoding="utf-8")

    def _check(self, made: Path) -> None:
        """`-Xshare:on`: a JVM that can't use the archive doesn't start."""
        command: list[str | Path] = [
            *(self.java.executable, "-XX:+UseSerialGC", "-Xshare:on", "-XX:+VerifySharedSpaces"),
            *(f"-XX:SharedArchiveFile={made}", "-cp", os.pathsep.join(map(str, self.jars)), "-version"),
        ]
        try:
            ended = subprocess.run(
                command, capture_output=True, text=True, timeout=_CHECK_LIMIT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EnvironmentNotReady(
                f"the class-data archive of {self.program} can't be tried: {error}"
            ) from error
        if ended.returncode:
            said = (ended.stdout + ended.stderr).strip()[-300:]
            raise EnvironmentNotReady(f"the class-data archive of {self.program} can't be used: {said}")

    def _prune(self) -> None:
        """Remove this program's archives that nobody has used for a month: of other jars, or another Java."""
        for file in paths.archives_folder().glob(f"{self.program}-*"):
            if time.time() - max(file.stat().st_atime, file.stat().st_mtime) > _UNUSED_S:
                file.unlink(missing_ok=True)

    def _file(self) -> Path | None:
        with contextlib.suppress(
            OSError
        ):  # without jars there is nothing to start either: other code reports it
            for file in paths.archives_folder().glob(f"{self._name}.*.jsa"):
                if file.stat().st_size == int(file.suffixes[-2][1:]):
                    return file
        return None

    def _in(self, folder: Path) -> Path:
        return folder / f"{self._name}.jsa"

    @property
    def _failure(self) -> Path:
        return paths.archives_folder() / f"{self._name}.failed"

    @property
    def _name(self) -> str:
        """With a digest of all that an archive has to fit; the JVM itself looks at the same."""
        digest = hashlib.sha256()
        for file in (self.java.libjvm.resolve(), *self.jars):
            status = file.stat()
            digest.update(f"{file} {status.st_size} {status.st_mtime_ns}\n".encode())
        return f"{self.program}-{digest.hexdigest()[:16]}"


def machine_is_busy() -> bool:
    """Whether making archives takes a multiple of the 5 to 10 s that it takes on an idle machine."""
    return os.getloadavg()[0] > _BUSY_LOAD * usable_cores()


@contextmanager
def alone(lock_name: str) -> Iterator[bool]:
    """Whether no other process makes archives under this lock. The others continue without archives."""
    # Only here, where something is missing.
    import filelock

    lock = filelock.FileLock(paths.archives_folder() / lock_name)
    try:
        lock.acquire(timeout=0)
    except (filelock.Timeout, OSError):
        yield False
        return
    with lock:
        # `with` counts on top of `acquire`.
        lock.release()
        yield True


def enabled() -> bool:
    """Whether archives are made and used."""
    return os.environ.get(SWITCH) != "0"
