"""`lose-files`: files of a broker or a consumer that is down are deleted or cut."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field, model_validator

from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect, PreconditionNotMet
from rocketchaos.harness.core.events.servers import FilesLost
from rocketchaos.harness.language.words import BrokerRef, ConsumerRef, OneOrMore
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext

_SHOWN = 20
_WITH_A_STORE = ("java", "app")
"""The kinds of clients whose LocalFileOffsetStore is in the run's folder."""


class LoseFiles(Step):
    """Delete or cut files of a broker or a consumer that is down, as a lost volume or a broken disk does.

    `kill` or `stop` it before, and `restart` it afterwards. `config/consumerOffset.json*` are the groups'
    offsets, `config/topics.json*` the topics, `config/subscriptionGroup.json*` the groups,
    `config/delayOffset.json*` how far delayed messages are; RocketMQ reads the `.bak` file where the other one is
    missing (ConfigManager). A broker first writes offsets 10 s after its start. `commitlog`, `consumequeue` and
    `index` are folders of messages, and `"*"` is everything.

    A Java consumer that broadcasts keeps its offsets in a file of its own, `**/offsets.json`, and the older ones
    in a `.bak` file (LocalFileOffsetStore). It also first writes them 10 s after its start. `start` starts it
    again, with `may_be_refused` if its client may fail to read them.
    """

    word = "lose-files"
    moves: ClassVar = (("stopped", "killed"), None)
    example = "lose-files: {broker: broker-a, files: config/consumerOffset.json*}"

    broker: BrokerRef | None = Field(default=None, description="the broker, or a slave")
    consumer: ConsumerRef | None = Field(default=None, description="or a Java consumer that broadcasts")
    files: OneOrMore[str] = Field(
        description="paths below its `storePathRootDir`, or its `rocketmq.client.localOffsetStoreDir`, with `*` "
        "for any characters, and `**` for any folders; a folder goes with all that is in it",
    )
    keep_bytes: int | None = Field(
        default=None,
        ge=0,
        description="cut each of these files to this length, instead of deleting it: `0` empties it",
    )

    @model_validator(mode="after")
    def _of_one(self) -> Self:
        if (self.broker is None) == (self.consumer is None):
            raise ValueError("give exactly one of `broker` and `consumer`")
        return self

    @property
    def whose(self) -> str:
        """The broker or the consumer that it names."""
        return str(self.broker or self.consumer)

    def acts_on(self) -> tuple[str, ...]:
        return (self.whose,)

    def field_of(self, index: int) -> tuple[str | int, ...]:
        del index  # there is one
        return ("broker" if self.consumer is None else "consumer",)

    def problems(self, scenario: Scenario) -> Iterator[str]:
        spec = scenario.consumers.get(self.consumer) if self.consumer is not None else None
        if spec is not None and spec.model != "broadcasting":
            yield f"{self.consumer} has no files of offsets: brokers store those of a clustering consumer"
        if self.consumer is not None and scenario.workers == "containers":
            yield f"the files of {self.consumer} are in its container: leave out `workers: containers`"
        for pattern in self.files:
            path = PurePosixPath(pattern)
            if not path.parts or path.is_absolute() or ".." in path.parts:
                yield f"{pattern} is not below the store: write `config/topics.json*`, `commitlog` or `*`"

    def beyond(self, scenario: Scenario) -> Iterator[tuple[str, str]]:
        spec = scenario.consumers.get(self.consumer) if self.consumer is not None else None
        if spec is not None and spec.choice.kind.name not in _WITH_A_STORE:
            yield self.whose, f"{spec.choice.kind.title} keeps its offsets where this step can't reach them"

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        del scenario  # whichever broker it is
        if self.broker is not None:
            yield "lose files"

    def run(self, context: StepContext) -> None:
        whose, store = self._store(context)
        found = {pattern: sorted(store.glob(pattern)) for pattern in self.files}
        for pattern, paths in found.items():
            if not paths:
                raise PreconditionNotMet(
                    f"{self.word}: the store of {whose} has no {pattern}; it has: {_listed(store)}"
                )
        lost = [path for paths in found.values() for path in paths]
        try:
            for path in lost:
                _delete(path) if self.keep_bytes is None else _cut(path, self.keep_bytes)
        except OSError as error:
            raise EnvironmentNotReady(f"{self.word}: {error.filename}: {error.strerror}") from error
        names = tuple(str(path.relative_to(store)) for path in lost)
        key = "broker" if self.consumer is None else "consumer"
        event = FilesLost(**{key: whose}, files=names, keep_bytes=self.keep_bytes)
        context.history.append("harness", event)

    def _store(self, context: StepContext) -> tuple[str, Path]:
        """Whose files they are, and the folder in which they are."""
        from rocketchaos.harness.cluster.base import Losing

        if self.consumer is not None:
            (name,) = context.variables.resolve((self.consumer,))
            spec = context.scenario.consumers[name]
            if spec.instance == "default":
                return name, context.logs.folder / "offsets-of-the-host"
            return name, context.logs.folder / (spec.beside or name) / "offsets"
        assert self.broker is not None
        cluster = context.servers.cluster
        if not isinstance(cluster, Losing):
            raise HarnessDefect(f"the stores of a cluster of kind {cluster.kind} can't be reached")
        return self.broker, cluster.store(self.broker)


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
