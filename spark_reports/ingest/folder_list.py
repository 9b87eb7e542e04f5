"""Finds run folders by names, sizes and times alone, without reading files.

A run folder is one that has a file of the contract, or a run folder's name. Its content is known by its `listing`:
a hash of its name and of its files' names, sizes and times of change, the same wherever it is moved.
"""

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from glob import has_magic
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as fn

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.facts.folder_facts import FACTS, MADE_OF
from rocketchaos.spark_reports.places import Place, literal

READ = (*MADE_OF, FACTS)
"""The files of a run folder that are read; logs come in addition."""
CONTRACT = frozenset((*READ, "scenario.yaml"))
"""A folder with one of these is a run folder."""
LATEST = "latest"
"""The link next to run folders, to the newest."""

_NAME = re.compile(r"\d{8}T\d{6}\.\d{3}-\d+(-\d+)?")
_WAY_OUT = "Run folders are runs/<scenario>/<time>-<seed>; give them, folders above them, globs or URIs."


@dataclass(frozen=True, slots=True)
class File:
    """One file, as a listing shows it."""

    size: int
    changed_ms: int
    """Unix time of its last change."""


@dataclass(frozen=True, slots=True)
class Folder:
    """One run folder, as a listing shows it."""

    source: str
    """Its URI, not encoded."""
    files: Mapping[str, File] = field(default_factory=dict)
    """Of `READ`, those that are there."""
    problem: str | None = None
    """Why it can't be listed."""

    @property
    def listing(self) -> str:
        """What is seen of it, as one word."""
        seen = [
            "/".join(self.source.rstrip("/").split("/")[-2:]),
            *(f"{name} {item.size} {item.changed_ms}" for name, item in sorted(self.files.items())),
        ]
        return hashlib.sha256("\n".join(seen).encode("utf-8", "surrogateescape")).hexdigest()[:32]

    @property
    def size(self) -> int:
        """Bytes to read."""
        return sum(item.size for item in self.files.values())

    @property
    def judged_ms(self) -> int:
        """When its outcome was last written."""
        outcome = self.files.get("outcome.json")
        return 0 if outcome is None else outcome.changed_ms


def run_folders(spark: SparkSession, runs: Sequence[str]) -> list[Folder]:
    """The run folders that these paths, globs and URIs name, or that are below them; each once.

    Raises:
        UsageProblem: there is no such place, or none of them has a run folder.
    """
    local, remote = _split(runs)
    found = {item.source: item for item in _below(local)}
    found |= {item.source: item for place in remote for item in listed_by_spark(spark, [place])}
    if not found:
        raise _none(runs)
    return sorted(found.values(), key=lambda item: item.source)


def local_bytes(runs: Sequence[str], limit: int) -> int:
    """The size of the run folders, asked before a Spark starts; above the limit if some are on no disk of this
    machine. Counting ends there.

    Raises:
        UsageProblem: there is no such place; or all are here, and none of them has a run folder.
    """
    local, remote = _split(runs)
    if remote:
        return limit + 1
    folders = _below(local)
    first = next(folders, None)
    if first is None:
        raise _none(runs)
    size = first.size
    while size <= limit and (folder := next(folders, None)) is not None:
        size += folder.size
    return size


def _split(runs: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The folders on disks of this machine, and the URIs of other places."""
    local: list[Path] = []
    remote: list[str] = []
    for text in runs:
        place = Place.of(text)
        if place.folder is None:
            remote.append(place.uri)
        else:
            local += _places(text, place.folder)
    return local, remote


def _none(runs: Sequence[str]) -> UsageProblem:
    return UsageProblem(f"there are no run folders: {', '.join(runs)}", _WAY_OUT)


def again(spark: SparkSession, folders: Iterable[Folder]) -> dict[str, str]:
    """What a listing shows of these folders now: source, listing. Missing folders are left out."""
    sources = [item.source for item in folders]
    local = [item for item in sources if is_local(item) and not is_gone(item, ())]
    remote = [item for item in sources if not is_local(item)]
    seen = [_folder(local_path(item)) for item in local]
    try:
        seen += listed_by_spark(spark, list(map(literal, remote))) if remote else []
    except UsageProblem:
        # One is gone, and Spark lists all of them or none.
        for item in remote:
            with suppress(UsageProblem):
                seen += listed_by_spark(spark, [literal(item)])
    return {item.source: item.listing for item in seen}


def is_gone(source: str, listed: Collection[str], runs: Sequence[str] = ()) -> bool:
    """Whether a run folder isn't there any more; where that can't be known, it isn't gone.

    Args:
        source: of the folder; one on a disk is looked for on this machine.
        listed: the sources that were just listed.
        runs: what was listed; elsewhere than on a disk only what is below shows what is gone.
    """
    if not is_local(source):
        return source not in listed and any(_is_below(source, item, listed) for item in runs)
    try:
        local_path(source).stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _is_below(source: str, place: str, listed: Iterable[str]) -> bool:
    """Where a place leaves out the host, as `hdfs:///runs`, it is that of what was listed."""
    scheme, host, path = _parts(source)
    place_scheme, place_host, place_path = _parts(place)
    same_host = place_host == host or (not place_host and any(_parts(item)[1] == host for item in listed))
    return place_scheme == scheme and path.startswith(f"{place_path.rstrip('/')}/") and same_host


def _parts(uri: str) -> tuple[str, str, str]:
    """Scheme, host and path. None of our URIs has a query: `?` is a wildcard, or part of a name."""
    scheme, _, rest = uri.partition(":")
    if not rest.startswith("//"):
        return scheme, "", rest
    host, slash, path = rest[2:].partition("/")
    return scheme, host, slash + path


def is_local(source: str) -> bool:
    """Whether it is on a disk of this machine."""
    return source.startswith("file:")


def local_path(source: str) -> Path:
    """The path of a source on a disk of this machine."""
    return Path(source.removeprefix("file:"))


def listed_by_spark(spark: SparkSession, places: Sequence[str]) -> list[Folder]:
    """The run folders below places, or globs, that only Spark can reach, listed in parallel by its executors.

    Raises:
        UsageProblem: there is no such place.
    """
    try:
        files = (
            spark.read.format("binaryFile")
            .option("recursiveFileLookup", "true")
            .option("pathGlobFilter", "{" + ",".join(sorted(CONTRACT)) + "}")
            .load(list(places))
            .select("path", "length", (fn.unix_micros("modificationTime") / 1000).cast("long").alias("ms"))
            .collect()
        )
    except Exception as error:
        if "PATH_NOT_FOUND" in str(error):
            raise UsageProblem(f"there is no file or folder {', '.join(places)}", _WAY_OUT) from error
        raise
    by_folder: dict[str, dict[str, File]] = {}
    for path, length, changed_ms in files:
        folder, _, name = path.rpartition("/")
        if folder.rpartition("/")[2] != LATEST:
            files_read = by_folder.setdefault(folder, {})
            if name in READ:
                files_read[name] = File(length, changed_ms)
    return [Folder(source, names) for source, names in by_folder.items()]


def _places(text: str, path: Path) -> list[Path]:
    """Folders of this machine."""
    try:
        if path.exists():
            return [path]
    except OSError as error:
        raise UsageProblem(f"{text} can't be looked at: {error.strerror}", _WAY_OUT) from error
    try:
        found = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor)))) if has_magic(text) else []
    except ValueError as error:
        raise UsageProblem(f"{text} is no glob: {error}", _WAY_OUT) from error
    if not found:
        raise UsageProblem(f"there is no file or folder {text}", _WAY_OUT)
    return found


def _below(places: Iterable[Path]) -> Iterator[Folder]:
    """Run folders at these places or below; links are followed, and nothing is visited twice."""
    visited: set[str] = set()
    waiting = [str(item) for item in reversed(list(places))]
    while waiting:
        path = os.path.realpath(waiting.pop())
        if path in visited:
            continue
        visited.add(path)
        try:
            with os.scandir(path) as entries:
                children = list(entries)
        except (NotADirectoryError, FileNotFoundError):
            continue  # a file, or removed since its folder was listed
        except OSError as error:
            yield Folder(_source(path), problem=error.strerror)
            continue
        if CONTRACT.isdisjoint(item.name for item in children) and not _NAME.fullmatch(Path(path).name):
            waiting += [item.path for item in children if _is_folder(item)]
        else:
            yield _folder(Path(path))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _folder(path: Path) -> Folder:
    files: dict[str, File] = {}
    for name in READ:
        try:
            status = (path / name).stat()
        except OSError:
            continue
        files[name] = File(status.st_size, status.st_mtime_ns // 1_000_000)
    return Folder(_source(path), files)


def _source(path: str | Path) -> str:
    source = f"file:{path}"
    try:
        source.encode("utf-8")
    except UnicodeEncodeError as error:
        shown = source.encode("utf-8", "backslashreplace").decode()
        raise UsageProblem(f"the path of a run folder is no UTF-8: {shown}", "Rename it.") from error
    return source
