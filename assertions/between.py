"""Pairs of looks, one before and one after a part of a history. Pure."""

from collections.abc import Sequence
from typing import TypeVar

from rocketchaos.harness.core.events.base import Body
from rocketchaos.harness.core.model import Event

B = TypeVar("B", bound=Body)


def bracket(observations: Sequence[Event[B]], begin: int, end: int) -> list[Event[B]]:
    """The last look before event `begin`, those between, and the first one after event `end`."""
    before = [event for event in observations if event.n < begin][-1:]
    between = [event for event in observations if begin <= event.n <= end]
    after = [event for event in observations if event.n > end][:1]
    return before + between + after


def is_bracket(observations: Sequence[Event], begin: int, end: int) -> bool:
    """Whether the looks begin before event `begin`, and go on after event `end`."""
    return bool(observations) and observations[0].n < begin and observations[-1].n > end
