"""A folder for what Spark spills and logs: gone with its session, except for the log of a failed session."""

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.harness.reaper import reaper as reaper

LOG = "spark.log"
_LOGS_KEPT_S = 7 * 86400


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder of this session's own, in the cache.

    It also removes what killed sessions left; the log of a failure stays for a week.

    Raises:
        EnvironmentNotReady: the cache can't be used.
    """
    root = paths.cache_folder() / "spark"
    folder = root / f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        folder.mkdir(parents=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise EnvironmentNotReady(
            f"no folder for Spark can be made: {error.strerror}: {folder}",
            f"Free some disk space, or set {paths.CACHE_VARIABLE} to a folder that can be written.",
        ) from error
    try:
        # The system frees the lock of a process that dies: so others see whether the folder is still used.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove_what_was_left(root)
        yield folder
    except UsageProblem:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    except BaseException:
        _keep_only_the_log(folder)
        raise
    else:
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)


def _keep_only_the_log(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name != LOG:
            entry.unlink(missing_ok=True)


def _remove_what_was_left(root: Path) -> None:
    for folder in root.iterdir():
        try:
            if reaper.held(folder):
                continue
            _keep_only_the_log(folder)
            if time.time() - folder.stat().st_mtime > _LOGS_KEPT_S:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            # Another session removes it at the same time.
            continue
