"""Which part of a night a machine plays, where several share one."""

import re
from dataclasses import dataclass

from rocketchaos.harness.core.errors import UsageProblem


@dataclass(frozen=True, slots=True)
class Shard:
    """The `index`-th of `count`, from 1 on."""

    index: int = 1
    count: int = 1

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


class Deal:
    """Deals a night's scenarios out to its shards, in the order in which they are drawn.

    Each goes to the shard that has the least to do by then. Every machine deals all of them, and for itself: they
    come to the same where they know the same of how long scenarios take.
    """

    def __init__(self, shard: Shard) -> None:
        self._shard = shard
        self._load_s = [0.0] * shard.count

    def is_own(self, expected_s: float) -> bool:
        """Whether the next scenario, which is expected to take so long, is this shard's."""
        index = min(range(self._shard.count), key=self._load_s.__getitem__)
        self._load_s[index] += expected_s
        return index == self._shard.index - 1


def shard_of(text: str | None) -> Shard:
    """The shard of `2/5`; default all.

    Raises:
        UsageProblem: it is none.
    """
    if text is None:
        return Shard()
    found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageProblem(f"`{text}` is no shard", "Write `--shard 2/5` for the second of five machines.")
    return Shard(int(found[1]), int(found[2]))
