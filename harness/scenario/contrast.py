"""Whether a scenario's two lists can hold, and whether they separate its two outcomes."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from rocketchaos.assertions import Check
from rocketchaos.assertions.base import Count
from rocketchaos.assertions.implied import Span, implies, spans, subject, times
from rocketchaos.assertions.reach import room
from rocketchaos.assertions.refuted import Refuted
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.yaml_places import Document


def one_holds_with_the_other(document: Document, scenario: Scenario, *, exact: bool) -> Iterator[Diagnostic]:
    """A list that holds whenever the other one does: if both hold, a run is inconclusive. Args: document: the
    scenario's. scenario: it. exact: only lists of which this is always so; otherwise lists of which it is so if
    all is sent.
    """
    anomaly, healthy = scenario.anomaly, scenario.healthy
    if any(isinstance(check, Refuted) for check in (*anomaly, *healthy)):
        return  # the contrary of the other list by itself
    for section, first, other, outcome in (
        ("healthy", healthy, anomaly, "not-reproduced"),
        ("anomaly", anomaly, healthy, "reproduced"),
    ):
        always = _says_all_of(scenario, first, other, exact=True)
        if always if exact else not always and _says_all_of(scenario, first, other, exact=False):
            then = "anomaly" if section == "healthy" else "healthy"
            message = f"if `{section}` holds, `{then}` holds too: no run can ever be `{outcome}`"
            yield document.report((section,), message, key=True)


def contradictions(document: Document, scenario: Scenario, *, exact: bool) -> Iterator[Diagnostic]:
    """Lists that never hold, because two of their checks exclude each other; `exact` as above."""
    for section in ("anomaly", "healthy"):
        checks = [check for check in getattr(scenario, section) if check.where is None]
        for pair in combinations(checks, 2):
            common = _room_for(scenario, pair)
            if common is not None and common.exact == exact and not common.wide_enough(0):
                text = " and ".join(f"`{check.title()}`" for check in pair)
                yield document.report(
                    (section,), f"{text} exclude each other: the list never holds", key=True
                )


def both_can_hold(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Pairs of lists that can both hold, if all their checks are about one number."""
    checks = (*scenario.anomaly, *scenario.healthy)
    if any(check.where is not None for check in checks) or any(
        _says_all_of(scenario, first, other, exact=False)
        for first, other in permutations((scenario.anomaly, scenario.healthy))
    ):
        return  # said already
    common = _room_for(scenario, checks)
    least_width = 0.0 if isinstance(checks[0], Count) else 1.0
    # A time hardly ever equals its limit; a count does.
    if common is not None and common.spans and common.wide_enough(least_width, of_a_time=1.0):
        text = " and ".join(common.in_words())
        message = f"`anomaly` and `healthy` both hold with {text}{common.unit}: such a run is inconclusive"
        yield document.report(("healthy",), message, key=True)


@dataclass(frozen=True, slots=True)
class _Room:
    """The ranges of numbers in which all checks hold at once, by the quantity that they limit."""

    spans: Mapping[str, Span]
    exact: bool = True
    unit: str = ""
    times: frozenset[str] = frozenset()
    """Those of them that are durations, in milliseconds."""

    def wide_enough(self, least_width: float, of_a_time: float = 0.0) -> bool:
        return all(
            span.high - span.low >= (of_a_time if what in self.times else least_width)
            for what, span in self.spans.items()
        )

    def in_words(self) -> Iterator[str]:
        for what, span in self.spans.items():
            yield " ".join((*what.split("_")[:-1], _in_words(span, time=what in self.times)))


def _room_for(scenario: Scenario, checks: Sequence[Check]) -> _Room | None:
    """None if they are about different things."""
    if len({subject(check) for check in checks}) == 1:
        common: dict[str, Span] = {}
        for check in checks:
            for what, span in spans(check).items():
                common[what] = common.get(what, Span()).common(span)
        return _Room(common, times=frozenset(times(checks[0])))
    reaches = [reach for reach in (check.reach(scenario) for check in checks) if reach is not None]
    if len(reaches) < len(checks):
        return None
    found = room(reaches)
    exact = all(reach.exact for reach in reaches)
    return None if found is None else _Room({"": found}, exact, " delivered")


def _says_all_of(scenario: Scenario, first: Sequence[Check], other: Sequence[Check], *, exact: bool) -> bool:
    """Whether all of `other` holds whenever all of `first` does."""
    # Where every check of a list is of other clients or versions, the list doesn't hold.
    return any(check.where is None for check in other) and all(
        any(implies(own, check) or _reaches(scenario, own, check, exact) for own in first) for check in other
    )


def _reaches(scenario: Scenario, first: Check, other: Check, exact: bool) -> bool:
    """Whether `other` holds whenever `first` does, by the messages that both count."""
    own, wanted = first.reach(scenario), other.reach(scenario)
    if own is None or wanted is None or first.where not in (None, other.where):
        return False
    comparable = wanted.whole and (own.within(wanted) or wanted.within(own))
    # How many are undelivered depends on how many could be sent.
    return comparable and (not exact or type(first) is type(other)) and own.says_of(wanted) in wanted.span


def _in_words(span: Span, *, time: bool) -> str:
    low, high = (f"{max(0, end) / 1000:g}s" if time else f"{max(0, end):g}" for end in (span.low, span.high))
    if span.low == span.high:
        return low
    return f"{low} or more" if math.isinf(span.high) else f"{low} to {high}"
