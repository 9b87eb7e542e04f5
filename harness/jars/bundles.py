"""Jars from Maven Central or a mirror, kept in the cache, whatever they are for.

For each bundle an index names the jars with size and SHA-1. Where every jar is there, a bundle costs a look at
the files and no network; where one is missing or has another size, it is fetched again.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.cache_lock import cache_lock
from rocketchaos.harness.core.errors import EnvironmentNotReady, RocketchaosError

if TYPE_CHECKING:
    from rocketchaos.harness.jars.maven import Repository

Progress = Callable[[str], None]

_INDEX_VERSION = 1
_GROUPS_AT_A_TIME = 4
"""Each fetches several files at a time (`harness.jars.maven`)."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Artifacts that are needed together, with all that they need at run time."""

    name: str
    """Of its index: `4.9.4-server`."""
    title: str
    """For messages: `RocketMQ 4.9.4`."""
    coordinates: Sequence[str]
    """`group:artifact:version`."""
    provided: Sequence[str] = ()
    """Groups whose artifacts are there anyway, as Scala is where Spark is: they are left out."""
    complete: bool = False
    """The coordinates are all that is needed: POMs are not asked."""
    part: str = ""
    """Which of several bundles of that title, for messages: `server`."""

    def whole(self) -> tuple[Path, ...] | None:
        """Its jars, if all are in the cache in their full size; raises as `paths.maven_folder`."""
        folder = paths.maven_folder()
        files = _read(_index(folder, self))
        if files is None or any(_size(folder / name) != size for name, size in files.items()):
            return None
        return tuple(folder / name for name in files)


def jars(
    bundle: Bundle, progress: Progress | None = None, require: Callable[[Repository], None] | None = None
) -> tuple[Path, ...]:
    """The jars of a bundle, fetched where the cache lacks them.

    Args:
        bundle: what is wanted.
        progress: called with a few words before anything that takes time.
        require: asked before anything is fetched; raises where what is wanted can't be.

    Raises:
        EnvironmentNotReady: something is missing and can't be fetched, or the cache can't be written.
    """
    found = bundle.whole()
    if found is not None:
        return found
    folder = paths.maven_folder()
    say = progress or (lambda _text: None)
    with cache_lock(folder / "rocketchaos", "jars", say):
        # Another process may have fetched them while this one waited.
        found = bundle.whole()
        if found is None:
            _discard_damaged(folder, bundle)
            found = _fetch(folder, bundle, say, require)
        return found


def fetch_side_by_side(
    groups: Sequence[Sequence[Bundle]], progress: Progress | None = None
) -> list[RocketchaosError | None]:
    """Fetch what the cache lacks: several groups at a time, the bundles of one after the other.

    Of each group: why some of it isn't available; None if it is there.

    Raises:
        EnvironmentNotReady: the cache can't be used.
    """
    if all(bundle.whole() is not None for group in groups for bundle in group):
        return [None for _ in groups]
    folder = paths.maven_folder()
    say = progress or (lambda _text: None)
    stop = threading.Event()

    def fetch(group: Sequence[Bundle]) -> RocketchaosError | None:
        try:
            for bundle in group:
                if bundle.whole() is None:
                    _fetch(folder, bundle, say, None, stop)
        except RocketchaosError as error:
            return error
        return None

    with cache_lock(folder / "rocketchaos", "jars", say), ThreadPoolExecutor(_GROUPS_AT_A_TIME) as pool:
        for bundle in (bundle for group in groups for bundle in group):
            _discard_damaged(folder, bundle)
        try:
            return list(pool.map(fetch, groups))
        except BaseException:
            # Ctrl-C: what is under way ends with its present file.
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def indexes(pattern: str) -> list[Path]:
    """The indexes of bundles in the cache whose file names fit the pattern; raises as `paths.maven_folder`."""
    return sorted((paths.maven_folder() / "rocketchaos").glob(pattern))


def _index(folder: Path, bundle: Bundle) -> Path:
    return folder / "rocketchaos" / f"{bundle.name}.json"


def _read(index: Path) -> dict[str, int] | None:
    """Names and sizes from an index. None if there is no usable index."""
    try:
        content = json.loads(index.read_text(encoding="utf-8"))
        if content["schema_version"] != _INDEX_VERSION:
            return None
        return {str(file["path"]): int(file["size"]) for file in content["files"]} or None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _size(file: Path) -> int | None:
    try:
        return file.stat().st_size
    except OSError:
        return None


def _discard_damaged(folder: Path, bundle: Bundle) -> None:
    """Remove the jars of a bundle that have another size than they should; call it before anybody fetches."""
    try:
        for name, size in (_read(_index(folder, bundle)) or {}).items():
            if _size(folder / name) not in (None, size):
                (folder / name).unlink()
    except OSError as error:
        raise _unusable(folder, error) from error


def _unusable(folder: Path, error: OSError) -> EnvironmentNotReady:
    return EnvironmentNotReady(
        f"the cache of jars can't be used: {error.strerror or error}: {folder}",
        "Free some disk space, or set ROCKETCHAOS_CACHE to a folder elsewhere.",
    )


def _fetch(
    folder: Path,
    bundle: Bundle,
    progress: Progress,
    require: Callable[[Repository], None] | None,
    stop: threading.Event | None = None,
) -> tuple[Path, ...]:
    # Only here, where something is missing: it takes longer to load than everything else together.
    from rocketchaos.harness.jars.maven import Repository

    part = f" ({bundle.part})" if bundle.part else ""
    if not bundle.complete:
        progress(f"resolving the jars of {bundle.title}{part}")
    try:
        repository = Repository(folder, progress, stop)
        if require is not None:
            require(repository)
        found = repository.jars(bundle)
        _write(_index(folder, bundle), folder, found)
    except OSError as error:
        raise _unusable(folder, error) from error
    return tuple(found)


def _write(index: Path, folder: Path, found: Sequence[Path]) -> None:
    files = [
        {
            "path": jar.relative_to(folder).as_posix(),
            "size": jar.stat().st_size,
            "sha1": hashlib.sha1(jar.read_bytes()).hexdigest(),
        }
        for jar in found
    ]
    # In one step, and under the lock: a reader sees the old index, none, or the new one.
    part = index.with_suffix(".part")
    part.write_text(
        json.dumps({"schema_version": _INDEX_VERSION, "files": files}, indent=1), encoding="utf-8"
    )
    part.replace(index)
