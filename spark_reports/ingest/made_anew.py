"""Facts of folders that have none, or none that fit: made by the same code as when a run is judged, here.

It says what is wrong with a folder, too: facts are written of whole folders alone.
"""

import os
import shutil
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process
from pathlib import Path

from pyspark.sql import SparkSession

from rocketchaos.harness.facts.folder_facts import (
    FACTS,
    MADE_OF,
    MESSAGES,
    lines_of_facts,
    lines_of_messages,
    read_folder,
)
from rocketchaos.spark_reports.driver import driver_of
from rocketchaos.spark_reports.ingest.folder_list import Folder, is_local, local_path
from rocketchaos.spark_reports.ingest.quarantine import Problem, problem_of

_FEW_BYTES = 16 * 2**20
"""So much is faster read here than by processes that have to start first."""
_AT_ONCE = 8
"""How many folders are given to a process at a time."""


@dataclass(frozen=True, slots=True)
class MadeAnew:
    """The result for one folder."""

    source: str
    run: str | None
    scenario: str | None
    files: Mapping[str, str]
    """Name of a file: its digest."""
    problem: Problem | None
    message_count: int
    name: str
    """The folder with its facts and messages, if there is no problem."""


def made_anew(spark: SparkSession, folders: Sequence[Folder], target: Path) -> list[MadeAnew]:
    """Make the facts and the messages of these folders, each below `target` in a folder of its own.

    Raises:
        OSError: they can't be written.
        Exception: of Spark: a file system doesn't answer, which ends the ingest; the next one tries again.
    """
    work = []
    for number, folder in enumerate(folders):
        place = target / f"{number:06}"
        place.mkdir(parents=True)
        if is_local(folder.source):
            work.append((folder, local_path(folder.source), place))
        else:
            # Missing and forbidden files show afterwards.
            (place / "fetched").mkdir()
            driver_of(spark).fetch(folder.source, (*MADE_OF, "logs"), place / "fetched")
            work.append((folder, place / "fetched", place))
    return list(_all(work, sum(made.size for made in folders)))


def _all(work: Sequence[tuple[Folder, Path, Path]], size: int) -> Iterator[MadeAnew]:
    processes = min(os.cpu_count() or 1, len(work))
    if size < _FEW_BYTES or processes < 2:
        yield from map(_make, work)
        return
    # Not forked: the process that asks has threads.
    with ProcessPoolExecutor(processes, get_context("spawn"), initializer=_end_with_parent) as pool:
        yield from pool.map(_make, work, chunksize=_AT_ONCE)


def _end_with_parent() -> None:
    """Ctrl-C is the parent's to hear; and where it is killed, this process ends too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def wait() -> None:
        parent = parent_process()
        if parent is not None:
            connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _make(work: tuple[Folder, Path, Path]) -> MadeAnew:
    folder, path, place = work
    read = read_folder(path)
    problem = problem_of(folder, read.seen)
    if problem is None:
        with (place / MESSAGES).open("wb") as file:
            file.writelines(line + b"\n" for line in lines_of_messages(read))
        (place / FACTS).write_bytes(lines_of_facts(read, read.files))
    if path.parent == place:
        shutil.rmtree(path)
    return MadeAnew(
        source=folder.source,
        run=read.run,
        scenario=read.scenario,
        files=read.files,
        problem=problem,
        message_count=read.seen.message_count,
        name=place.name,
    )
