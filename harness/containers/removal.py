"""The end of what owners made in container engines, after their harness: found by the notes in their folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.reaper.reaper import engines_of
from rocketchaos.harness.reaper.reaper_process import OwnedThing, clear_engine, owned_things

if TYPE_CHECKING:
    from docker import DockerClient

_LIMIT_S = 15.0


@dataclass(slots=True)
class Removal:
    """What came of it."""

    things: list[OwnedThing] = field(default_factory=list)
    """What was removed."""
    left: list[str] = field(default_factory=list)
    """What is still there, or may be, and why, in a line each."""
    needed: set[Path] = field(default_factory=set)
    """The folders of owners of which something may be left: nothing else tells whose that is."""


def owners_in(folders: Sequence[Path]) -> Callable[[str], bool]:
    """Whether a token is that of an owner of one of these scratch folders."""
    return {folder.name for folder in folders}.__contains__


def things_of(folders: Sequence[Path]) -> list[OwnedThing]:
    """The containers of these scratch folders' owners, in those of their engines that answer."""
    things: list[OwnedThing] = []
    for base_url in _engines(folders):
        from rocketchaos.harness.containers.container_engine import (
            refusals,  # slow to load, and most owners have no engine
        )

        try:
            with refusals("the leftovers of harnesses can't be listed"):
                things += owned_things(_client(base_url), owners_in(folders))
        except EnvironmentNotReady:
            continue
    return things


def remove_things_of(folders: Sequence[Path]) -> Removal:
    """Remove the containers, networks and volumes of the owners of these scratch folders, and no others.

    It asks only the engines that a folder names, so owners without containers cost nothing.
    """
    removal = Removal()
    for base_url in _engines(folders):
        from rocketchaos.harness.containers.container_engine import refusals

        users = [folder for folder in folders if base_url in engines_of(folder)]
        try:
            with refusals("the leftovers of harnesses can't be removed"):
                gone, left = clear_engine(partial(_client, base_url), owners_in(users), _LIMIT_S)
        except EnvironmentNotReady as refusal:
            removal.left.append(f"containers may be left at {base_url}: {refusal.message}")
            removal.needed.update(users)
        else:
            removal.things += gone
            removal.left += [f"{thing.kind} {thing.name} is left: {reason}" for thing, reason in left.items()]
            removal.needed |= {
                folder for folder in users if any(folder.name == thing.owner for thing in left)
            }
    return removal


def _client(base_url: str) -> DockerClient:
    from rocketchaos.harness.containers.container_engine import connect

    return connect(base_url).client


def _engines(folders: Sequence[Path]) -> list[str]:
    return sorted({base_url for folder in folders for base_url in engines_of(folder)})
