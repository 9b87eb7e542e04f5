"""The base class of invariants: a statement that must be so in every run, and the proof that it wasn't."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import MessageFate
from rocketchaos.harness.nightly.codes import CODES

Checks = tuple[Mapping[str, Any], ...]
"""Checks as a scenario file has them."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A run that came to its end, with what the oracle says of its messages."""

    view: RunView
    fates: Sequence[MessageFate]
    end: int
    """The number of the event that closes the last observation."""


@dataclass(frozen=True, slots=True)
class Breach:
    """An invariant that did not hold, for one group and one cause."""

    group: str
    code: str
    """One of `codes.CODES`: breaches with the same cause have the same code."""
    sentence: str
    events: tuple[int, ...]
    """The numbers of the events that prove it."""
    anomaly: Checks = ()
    """Checks that hold if it shows; none if the language has no word for it."""
    healthy: Checks = ()
    """Checks that hold if it doesn't show."""

    @property
    def cause(self) -> str:
        """In words without names, numbers and times."""
        return CODES[self.code].cause


class Invariant(Protocol):
    """A statement that must always hold. Pure. It says nothing if the history can't decide."""

    kind: str
    """The name of a breach of it."""
    meaning: str
    """A breach of it, in one sentence."""
    judges_unsettled: bool
    """Whether it is asked also of a run in which a condition was not reached, as that each queue has one owner.

    The end of such a run was observed as any other's; but it is unknown whether all had settled by then, so that
    it must make sure of that by itself, and not go by the messages' fates."""

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        """Its breaches: one for each group and cause."""


def some(numbers: Sequence[int], most: int = 12) -> tuple[int, ...]:
    """The first numbers in order: a reader follows a few."""
    return tuple(sorted(set(numbers))[:most])
