"""The checks that only lack time, so that waiting is worthwhile. Pure.

A run waits whatever its checks will say then. A decided run doesn't wait: one check that doesn't hold decides its
list, whatever the others of the list may still say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.event_view import END, ends
from rocketchaos.assertions.judge import answers
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import SECTION_OF, TENDENCY, Event, Holds

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario

_Answered = list[tuple[Check, Answer]]


@dataclass(frozen=True, slots=True)
class LackingTime:
    """A check that can't be decided yet."""

    check: str
    """Its title."""
    why: str
    not_before_ns: int
    """The moment from which it can be decided if nothing happens before, as `Event.mono_ns`."""


def lacking_time(scenario: Scenario, events: Sequence[Event], by_ns: int) -> list[LackingTime]:
    """The checks that a wait of the run can decide, if the outcome needs them.

    Args:
        scenario: of the run.
        events: its history, with the observation of its end.
        by_ns: how long the run can wait at most, as `Event.mono_ns`. Answers that need more time are left out.
    """
    sections: dict[str, _Answered] = {}
    for section, _, check, answer in answers(RunView(scenario, events)):
        sections.setdefault(section, []).append((check, answer))
    end_ns = ends(events)[-1].mono_ns
    return [
        LackingTime(check.title(), str(answer.too_early), moment)
        for check, answer in _undecided(sections)
        if check.at == END
        and answer.too_early is not None
        and (moment := answer.too_early.not_before_ns) is not None
        and end_ns < moment <= by_ns
    ]


def _undecided(sections: dict[str, _Answered]) -> Iterator[tuple[Check, Answer]]:
    """The unknown answers on which the outcome, or another measured value, depends."""
    outcome_known = any(_all_hold(sections.get(name, [])) for name in SECTION_OF.values())
    for name, answered in sections.items():
        settled = name != TENDENCY and any(answer.holds is Holds.NO for _, answer in answered)
        if settled or (outcome_known and name in SECTION_OF.values()):
            continue
        yield from (item for item in answered if item[1].holds is Holds.UNKNOWN)


def _all_hold(answered: _Answered) -> bool:
    return bool(answered) and all(answer.holds is Holds.YES for _, answer in answered)


def as_if_ended_at(events: Sequence[Event], now_ns: int) -> tuple[Event, ...]:
    """The history as if the observed end of the run came now."""
    end, last = ends(events)[-1], events[-1]
    now = replace(end, n=last.n + 1, mono_ns=now_ns, wall_ms=last.wall_ms)
    return (*(event for event in events if event is not end), now)
