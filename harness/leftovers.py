"""What is left of harnesses that were killed together with their guardian, or lost power."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import guardian, paths
from harness.cluster.running import records, take_down


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What dead harnesses left."""

    processes: Sequence[guardian.OwnedProcess]
    folders: Sequence[Path]


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What `clean` ended and removed."""

    processes: Sequence[str]
    """The programs, as `java (pid 4711)`."""
    clusters: Sequence[str]
    """The ids of records whose cluster was gone."""
    folders: Sequence[Path]


def leftovers() -> Leftovers:
    """What is left of harnesses that are gone.

    Only owners with a scratch folder in this cache are looked at: clusters that somebody keeps under another
    cache are recorded there. What a living harness or a recorded cluster owns is none.

    Raises:
        EnvironmentNotReady: the cache can't be used.
    """
    wanted = {record.owner for record in records()[0]}
    folders = [
        folder
        for folder in sorted(paths.scratch_root().iterdir())
        if folder.name not in wanted and not guardian.harness_alive(folder.name)
    ]
    return Leftovers(guardian.find_owned({folder.name for folder in folders}.__contains__), folders)


def clean() -> Cleaned:
    """End and remove the leftovers, and the records of clusters that are gone.

    Raises:
        EnvironmentNotReady: the state folder can't be used.
    """
    _, dead = records()
    for record in dead:
        take_down(record)
    left = leftovers()
    for orphan in left.processes:
        orphan.end()
    for folder in left.folders:
        shutil.rmtree(folder, ignore_errors=True)
    return Cleaned(
        processes=[f"{Path(orphan.command).name} (pid {orphan.pid})" for orphan in left.processes],
        clusters=[record.id for record in dead],
        folders=left.folders,
    )
