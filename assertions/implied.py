"""Whether one check implies another, from their keys alone. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

from rocketchaos.assertions.base import Check, Count
from rocketchaos.assertions.limits import LEAST, MOST
from rocketchaos.harness.language.words import DurationMs

_NOT_STATED = ("claim", "refutes", "where")
"""Keys that don't change what a check says of a run."""


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers that keep a limit, both ends included."""

    low: float = -math.inf
    high: float = math.inf

    def __contains__(self, other: Span) -> bool:
        return self.low <= other.low and other.high <= self.high

    def common(self, other: Span) -> Span:
        """The numbers that keep both; `low` is above `high` if there are none."""
        return Span(max(self.low, other.low), min(self.high, other.high))


def subject(check: Check) -> tuple[type[Check], str]:
    """The subject of a check: all its keys except its limits."""
    left_out = {*_NOT_STATED, *_limits(check), *(("count",) if isinstance(check, Count) else ())}
    stated = {name: value for name, value in check if name not in left_out}
    return type(check), repr(sorted(stated.items()))


def spans(check: Check) -> dict[str, Span]:
    """Its limits, by what comes before `at_least` and `at_most` in their keys: empty, `after_`, `share_`."""
    found: dict[str, Span] = {}
    for name in _limits(check):
        value = getattr(check, name)
        if name.endswith(LEAST):
            what, own = name.removesuffix(LEAST), Span(low=-math.inf if value is None else value)
        else:
            what, own = name.removesuffix(MOST), Span(high=math.inf if value is None else value)
        found[what] = found.get(what, Span()).common(own)
    if isinstance(check, Count) and check.count is not None:
        found[""] = Span(check.count, check.count)
    return found


def times(check: Check) -> set[str]:
    """Those of its `spans` that are durations, in milliseconds."""
    fields = type(check).model_fields
    return {
        name.removesuffix(LEAST).removesuffix(MOST)
        for name in _limits(check)
        if DurationMs in get_args(fields[name].annotation)
    }


def implies(check: Check, other: Check) -> bool:
    """Whether `other` holds in every run in which `one` does; False if the keys alone don't tell."""
    if subject(check) != subject(other) or check.where not in (None, other.where):
        return False
    own = spans(check)
    return all(own[what] in wider for what, wider in spans(other).items())


def _limits(check: Check) -> list[str]:
    return [name for name in type(check).model_fields if name.endswith((LEAST, MOST))]
