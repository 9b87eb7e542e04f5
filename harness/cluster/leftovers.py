"""The leftovers of harnesses that were killed together with their reaper, or lost power."""

import contextlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocketchaos.harness.cluster.running import records, take_down
from rocketchaos.harness.containers.removal import owners_in, remove_things_of, things_of
from rocketchaos.harness.core import paths
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.reaper import reaper as reaper
from rocketchaos.harness.reaper.reaper_process import OwnedThing


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What dead harnesses left."""

    processes: Sequence[reaper.OwnedProcess]
    things: Sequence[OwnedThing]
    """In container engines that answer."""
    folders: Sequence[Path]
    """Each named after its owner."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What `clean` ended and removed."""

    processes: Sequence[str]
    """The programs, as `java (pid 4711)`."""
    clusters: Sequence[str]
    """The ids of records whose cluster was gone."""
    things: Sequence[OwnedThing]
    """Containers, networks and volumes."""
    folders: Sequence[Path]
    left: Sequence[str]
    """What is still there, or may be, and why, in a line each."""


def leftovers() -> Leftovers:
    """The leftovers of harnesses that are gone.

    Only owners with a scratch folder in this cache are looked at: an owner's token is a secret, so what carries
    it was made by the harness that made the folder, whoever else uses the machine or the container engine.
    What a living harness owns, here or on another machine that shares the cache, is none, nor is a recorded
    cluster. Engines are asked only where a folder says that its owner used one.

    Raises:
        EnvironmentNotReady: the cache can't be used.
    """
    folders = _folders()
    return Leftovers(reaper.find_owned(owners_in(folders)), things_of(folders), folders)


def clean() -> Cleaned:
    """End and remove the leftovers, and the records of clusters that are gone.

    The folder of an owner whose containers can't be removed stays, for another time: nothing else tells whose
    they are.

    Raises:
        EnvironmentNotReady: the state folder can't be used.
    """
    gone: list[str] = []
    left: list[str] = []
    for record in records()[1]:
        try:
            take_down(record)
        except EnvironmentNotReady as refusal:
            left.append(f"cluster {record.id}: {refusal.message}")
        else:
            gone.append(record.id)
    folders = _folders()
    orphans = reaper.find_owned(owners_in(folders))
    for orphan in orphans:
        orphan.end()
    removal = remove_things_of(folders)
    removed = [folder for folder in folders if folder not in removal.needed]
    for folder in removed:
        shutil.rmtree(folder, ignore_errors=True)
    return Cleaned(
        processes=[f"{Path(orphan.command).name} (pid {orphan.pid})" for orphan in orphans],
        clusters=gone,
        things=removal.things,
        folders=removed,
        left=[*left, *removal.left],
    )


def _folders() -> list[Path]:
    """The scratch folders of owners that are gone, and whose clusters nobody keeps."""
    kept = _kept_owners()
    return [
        folder
        for folder in sorted(paths.scratch_root().iterdir())
        if folder.name not in kept and not reaper.harness_alive(folder.name) and not reaper.held(folder)
    ]


def _kept_owners() -> set[str]:
    """Whoever a record names, be it one that another version of the harness wrote and this one can't read."""
    owners = set()
    for file in paths.state_folder().glob("*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            owners.add(str(json.loads(file.read_text(encoding="utf-8"))["owner"]))
    return owners
