"""How many different messages reach whose listeners, as a check states it. Several checks share this.

`delivered: {to: g, at_least: 3}` and `undelivered: {group: g, at_most: 5}` say the same of 8 messages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

from rocketchaos.assertions.implied import Span
from rocketchaos.harness.language.words import of_a_variable

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


@dataclass(frozen=True, slots=True)
class Reach:
    """How many of these messages reach one of these consumers."""

    to: frozenset[str]
    messages: frozenset[tuple[str, str | None]]
    """Topics and tags of those that are meant."""
    looks: tuple[str | None, str]
    """The observations between which they are counted."""
    total: int
    """How many the steps send, where none fails."""
    span: Span
    exact: bool = True
    """Whether it follows also where some of these messages couldn't be sent."""
    whole: bool = True
    """Whether it is all that the check says."""

    def within(self, other: Reach) -> bool:
        """Whether every message that this one counts is counted there too."""
        return self.looks == other.looks and self.to <= other.to and self.messages <= other.messages

    def says_of(self, other: Reach) -> Span:
        """The limits that this one sets to the number that the other one counts."""
        low, high, same = 0.0, float(other.total), self.to == other.to
        if self.within(other):
            low = self.span.low
            high = min(high, self.span.high + other.total - self.total) if same else high
        if other.within(self):
            low = max(low, self.span.low + other.total - self.total) if same else low
            high = min(high, self.span.high)
        return Span(low, high)


def room(reaches: Sequence[Reach]) -> Span | None:
    """The range of numbers in which all of these hold, counted as the widest one does; `low` above `high`: none.

    None if they speak of different things.
    """
    own = sorted(reaches, key=lambda reach: (len(reach.to), len(reach.messages)))
    if not own or not all(reach.within(other) for reach, other in pairwise(own)):
        return None
    rooms = [reduce(Span.common, (other.says_of(reach) for other in own)) for reach in own]
    return next((found for found in rooms if found.low > found.high), rooms[-1])


def reach_of(
    scenario: Scenario,
    to: Collection[str],
    topics: Collection[str],
    tag: str | None,
    looks: tuple[str | None, str],
    stated: Callable[[int], Span],
) -> Reach | None:
    """The messages of these topics and this tag that may reach the consumers; None if a variable says which.

    Args:
        scenario: whose messages.
        to: the consumers.
        topics: only their messages.
        tag: only those of this one.
        looks: see `Reach`.
        stated: how many reach them of those that are sent.
    """
    sent = scenario.sent_between(*looks)
    if sent is None or any(of_a_variable(tag or "") for tag in (tag, *(own for _, own in sent))):
        return None
    meant = {kind: number for kind, number in sent.items() if kind[0] in topics and tag in (None, kind[1])}
    total = sum(meant.values())
    span = Span(0, total).common(stated(total))
    # A number that no run comes to is reported for itself.
    return None if span.low > span.high else Reach(frozenset(to), frozenset(meant), looks, total, span)
