"""`lose-files`: a broker that is down loses files of its store, or parts of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect, PreconditionNotMet
from rocketchaos.harness.core.events.servers import FilesLost
from rocketchaos.harness.language.words import BrokerRef, OneOrMore
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext

_SHOWN = 20


class LoseFiles(Step):
    """Delete files in the store of a broker that is down, or cut them, as a lost volume or a broken disk does.

    `kill` or `stop` it before, and `restart` it afterwards. `config/consumerOffset.json*` are the groups'
    offsets, `config/topics.json*` the topics, `config/subscriptionGroup.json*` the groups,
    `config/delayOffset.json*` how far delayed messages are; RocketMQ reads the `.bak` file where the other one is
    missing (ConfigManager). `commitlog`, `consumequeue` and `index` are folders of messages, and `"*"` is
    everything.
    """

    word = "lose-files"
    moves: ClassVar = (("stopped", "killed"), None)
    example = "lose-files: {broker: broker-a, files: config/consumerOffset.json*}"

    broker: BrokerRef = Field(description="the broker, or a slave")
    files: OneOrMore[str] = Field(
        description="paths below its `storePathRootDir`, with `*` for any characters; a folder goes with all "
        "that is in it",
    )
    keep_bytes: int | None = Field(
        default=None,
        ge=0,
        description="cut each of these files to this length, instead of deleting it: `0` empties it",
    )

    def acts_on(self) -> tuple[str, ...]:
        return (self.broker,)

    def field_of(self, index: int) -> tuple[str | int, ...]:
        del index  # there is one
        return ("broker",)

    def problems(self, scenario: Scenario) -> Iterator[str]:
        del scenario  # any scenario
        for pattern in self.files:
            path = PurePosixPath(pattern)
            if not path.parts or path.is_absolute() or ".." in path.parts:
                yield f"{pattern} is not below the store: write `config/topics.json*`, `commitlog` or `*`"

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        del scenario  # whichever broker it is
        yield "lose files"

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.cluster.base import Losing

        cluster = context.servers.cluster
        if not isinstance(cluster, Losing):
            raise HarnessDefect(f"the stores of a cluster of kind {cluster.kind} can't be reached")
        store = cluster.store(self.broker)
        found = {pattern: sorted(store.glob(pattern)) for pattern in self.files}
        for pattern, paths in found.items():
            if not paths:
                raise PreconditionNotMet(
                    f"{self.word}: the store of {self.broker} has no {pattern}; it has: {_listed(store)}"
                )
        lost = [path for paths in found.values() for path in paths]
        try:
            for path in lost:
                _delete(path) if self.keep_bytes is None else _cut(path, self.keep_bytes)
        except OSError as error:
            raise EnvironmentNotReady(f"{self.word}: {error.filename}: {error.strerror}") from error
        names = tuple(str(path.relative_to(store)) for path in lost)
        context.history.append(
            "harness", FilesLost(broker=self.broker, files=names, keep_bytes=self.keep_bytes)
        )


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)  # another pattern may have meant it, too


def _cut(path: Path, keep_bytes: int) -> None:
    """Cut a file, or all files in a folder; a shorter one stays as it is."""
    for file in path.rglob("*") if path.is_dir() else [path]:
        if file.is_file() and file.stat().st_size > keep_bytes:
            os.truncate(file, keep_bytes)


def _listed(store: Path) -> str:
    files = [str(path.relative_to(store)) for path in sorted(store.rglob("*")) if path.is_file()]
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    return (", ".join(files[:_SHOWN]) or "nothing") + more
