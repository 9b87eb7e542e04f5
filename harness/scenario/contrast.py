"""Whether a scenario's two lists can tell its two outcomes apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rocketchaos.assertions import Check
from rocketchaos.assertions.base import Count
from rocketchaos.assertions.implied import Span, implies, spans, subject
from rocketchaos.assertions.refuted import Refuted
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.places import Document


def one_holds_with_the_other(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """A list that holds wherever the other one does: where both hold a run is inconclusive."""
    anomaly, healthy = scenario.anomaly, scenario.healthy
    if any(isinstance(check, Refuted) for check in (*anomaly, *healthy)):
        return  # the contrary of the other list by itself
    for section, item, other, outcome in (
        ("healthy", healthy, anomaly, "not-reproduced"),
        ("anomaly", anomaly, healthy, "reproduced"),
    ):
        if _says_all_of(item, other):
            then = "anomaly" if section == "healthy" else "healthy"
            message = f"wherever `{section}` holds `{then}` does too: no run can ever be `{outcome}`"
            yield document.report((section,), message, key=True)


def both_can_hold(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Lists of which all checks speak of one number, that can keep both."""
    checks = (*scenario.anomaly, *scenario.healthy)
    if len({subject(check) for check in checks}) > 1 or any(check.where is not None for check in checks):
        return
    if _says_all_of(scenario.healthy, scenario.anomaly) or _says_all_of(scenario.anomaly, scenario.healthy):
        return  # an error already
    common: dict[str, Span] = {}
    for check in checks:
        for what, span in spans(check).items():
            common[what] = common.get(what, Span()).common(span)
    # A time is hardly ever just so long; a count is.
    least_width = 0.0 if isinstance(checks[0], Count) else 1.0
    if common and all(span.high - span.low >= least_width for span in common.values()):
        text = " and ".join(f"{what}{_in_words(span)}" for what, span in common.items())
        message = f"`anomaly` and `healthy` both hold of {text}: such a run is inconclusive"
        yield document.report(("healthy",), message, key=True)


def _says_all_of(item: Sequence[Check], other: Sequence[Check]) -> bool:
    """Whether all of `other` holds wherever all of `one` does."""
    # Where every check of a list is of other clients or versions, the list doesn't hold.
    return any(check.where is None for check in other) and all(
        any(implies(own, check) for own in item) for check in other
    )


def _in_words(span: Span) -> str:
    if span.low == span.high:
        return f"{span.low:g}"
    if math.isinf(span.high):
        return f"{span.low:g} or more"
    return f"{max(0, span.low):g} to {span.high:g}"
