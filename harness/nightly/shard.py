"""Which part of a night a machine plays, where several share one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.errors import UsageProblem


@dataclass(frozen=True, slots=True)
class Shard:
    """The `index`-th of `count`, from 1 on: the scenarios whose numbers leave that rest."""

    index: int = 1
    count: int = 1

    def numbers(self) -> Iterator[int]:
        """The numbers of its scenarios, without end; scenarios are numbered from 1 on."""
        return itertools.count(self.index, self.count)

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


def shard_of(text: str | None) -> Shard:
    """The shard of `2/5`; all where nothing is said.

    Raises:
        UsageProblem: it is none.
    """
    if text is None:
        return Shard()
    found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageProblem(f"`{text}` is no shard", "Write `--shard 2/5` for the second of five machines.")
    return Shard(int(found[1]), int(found[2]))
