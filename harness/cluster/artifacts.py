"""The jars of any RocketMQ version, from Maven Central or a mirror, kept in the cache.

For each version and role an index names the jars with size and SHA-1. Where every jar is there, a class path
costs a look at the files and no network; where one is missing or has another size, it is fetched again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from harness import paths
from harness.cache_lock import cache_lock
from harness.cluster import versions
from harness.errors import EnvironmentNotReady

Role = Literal["server", "tools", "client", "all-servers"]
Progress = Callable[[str], None]

ARTIFACTS: Mapping[Role, Sequence[str]] = {
    "server": ("rocketmq-namesrv", "rocketmq-broker"),
    "tools": ("rocketmq-tools",),
    "client": ("rocketmq-client",),
}
"""The artifacts of each role that a run needs. Clients get a class path of their own: with the broker's jars
on it a 5.x client takes the broker's log configuration."""

_PROXY = "rocketmq-proxy"

_INDEX_VERSION = 1


def classpath(version: str, role: Role, progress: Progress | None = None) -> tuple[Path, ...]:
    """The jars that a role of this RocketMQ version needs, fetched where the cache lacks them.

    Args:
        version: a release of 4.9.x or 5.x, such as 4.9.4.
        role: `server` (name server and broker), `tools` (the admin client), `client`, or `all-servers` (with the
            proxy of 5.x besides, a hundred megabytes more: fetched for who needs it).
        progress: told in a few words what takes time.

    Raises:
        UsageProblem: no such version.
        EnvironmentNotReady: something is missing and can't be fetched, or the cache can't be written.
    """
    versions.parse(version)
    folder = paths.maven_folder()
    index = folder / "rocketchaos" / f"{version}-{role}.json"
    jars = _whole(folder, index)
    if jars is not None:
        return jars
    say = progress or (lambda _text: None)
    with cache_lock(folder / "rocketchaos", "jars", say):
        # Another process may have fetched them while this one waited.
        return _whole(folder, index) or _fetch(folder, index, version, role, say)


def cached(version: str) -> bool:
    """Whether every role's jars of this version are in the cache, so that no network is needed.

    Raises:
        UsageProblem: no such version can be.
        EnvironmentNotReady: the cache can't be used.
    """
    versions.parse(version)
    folder = paths.maven_folder()
    return all(_whole(folder, folder / "rocketchaos" / f"{version}-{role}.json") for role in ARTIFACTS)


def _whole(folder: Path, index: Path) -> tuple[Path, ...] | None:
    """The jars that the index names, if all are there in their full size."""
    files = _read(index)
    if files is None or any(_size(folder / name) != size for name, size in files.items()):
        return None
    return tuple(folder / name for name in files)


def _read(index: Path) -> dict[str, int] | None:
    """Names and sizes by an index; None where there is none that can be used."""
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


def _fetch(folder: Path, index: Path, version: str, role: Role, progress: Progress) -> tuple[Path, ...]:
    # Only here, where something is missing: it takes longer to load than everything else together.
    from harness.cluster.maven import Repository

    progress(f"resolving the jars of RocketMQ {version} ({role})")
    try:
        for name, size in (_read(index) or {}).items():
            if _size(folder / name) not in (None, size):
                (folder / name).unlink()
        jars = Repository(folder, progress).jars(_artifacts(version, role), version)
        _write(index, folder, jars)
    except OSError as error:
        raise EnvironmentNotReady(
            f"the cache of jars can't be used: {error.strerror or error}: {folder}",
            "Free some disk space, or set ROCKETCHAOS_CACHE to a folder elsewhere.",
        ) from error
    return tuple(jars)


def _artifacts(version: str, role: Role) -> Sequence[str]:
    if role != "all-servers":
        return ARTIFACTS[role]
    proxy = [_PROXY] if versions.has_proxy(version) else []
    return [*ARTIFACTS["server"], *proxy]


def _write(index: Path, folder: Path, jars: Sequence[Path]) -> None:
    files = [
        {
            "path": jar.relative_to(folder).as_posix(),
            "size": jar.stat().st_size,
            "sha1": hashlib.sha1(jar.read_bytes()).hexdigest(),
        }
        for jar in jars
    ]
    # In one step, and under the lock: a reader sees the old index, none, or the new one.
    part = index.with_suffix(".part")
    part.write_text(
        json.dumps({"schema_version": _INDEX_VERSION, "files": files}, indent=1), encoding="utf-8"
    )
    part.replace(index)
