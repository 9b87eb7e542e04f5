"""From a history to an outcome: the same one every time. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rocketchaos.assertions.base import Answer, Check, finding
from rocketchaos.assertions.event_view import of_type
from rocketchaos.assertions.oracle import fates
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.run import RunStarted, RunTrouble
from rocketchaos.harness.core.model import Event, Finding, Holds, MessageFate, Outcome, OutcomeKind, Trouble
from rocketchaos.harness.facts.message_witnesses import with_witnesses

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


def judge(scenario: Scenario, events: Sequence[Event], damage: str | None = None) -> Outcome:
    """Evaluate every check and say how the run ended.

    Trouble in the run comes first. A failure of the environment or the harness is an error. A precondition that
    does not hold makes the run inconclusive. Neither is ever evidence. The findings are still there. `damage` is
    the part of the history that could not be read.
    """
    view = RunView(scenario, events)
    client, rocketmq = _cell(events)
    findings = tuple(
        finding(check, section, answer, scenario.line_of(section, index))
        for section, index, check, answer in answers(view)
    )
    messages, damage = _fates(view, events, damage)
    trouble, reason = _trouble(events, damage)
    if trouble is None:
        kind, reason = _kind(findings)
    elif trouble in (Trouble.PRECONDITION, Trouble.INTERRUPTED):
        kind = OutcomeKind.INCONCLUSIVE
    else:
        kind = OutcomeKind.ERROR
    also = [item for item in findings if item.section == "also" and item.holds is not Holds.YES]
    expected = scenario.expected_in(client, rocketmq)
    return Outcome(
        kind=kind,
        expected=expected,
        as_expected=None if expected is None else kind is expected and not also,
        reason=reason,
        trouble=trouble,
        findings=findings,
        messages=messages,
    )


def answers(view: RunView) -> Iterator[tuple[str, int, Check, Answer]]:
    """The result of each check that applies to this run, with its section and its number there."""
    client, rocketmq = _cell(view.events)
    for section, index, check in view.scenario.checks():
        if check.where is None or check.where.fits(client or view.scenario.own_client_label, rocketmq):
            yield section, index, check, _answer(check, view)


def _cell(events: Sequence[Event]) -> tuple[str | None, str | None]:
    """Clients and version of the run, as far as its history has them: older ones have neither."""
    started = next((event.body for event in of_type(events, RunStarted)), RunStarted())
    return started.client, started.rocketmq


def _answer(check: Check, view: RunView) -> Answer:
    try:
        return check.evaluate(view)
    except Exception as error:
        # A check that crashes knows nothing; it must neither pass nor hide the other findings.
        return Answer(None, "an answer", f"the check failed: {type(error).__name__}: {error}")


def _fates(
    view: RunView, events: Sequence[Event], damage: str | None
) -> tuple[tuple[MessageFate, ...], str | None]:
    """The fate of every message. An event that lacks fields the oracle needs counts as damage."""
    try:
        return with_witnesses(fates(view, events[-1].n), events) if events else (), damage
    except (KeyError, TypeError, ValueError) as error:
        return (), damage or f"an event lacks what belongs to its kind: {type(error).__name__}: {error}"


def _trouble(events: Sequence[Event], damage: str | None) -> tuple[Trouble | None, str]:
    for event in of_type(events, RunTrouble):
        return Trouble(event.body.trouble), event.body.message
    if damage is not None:
        return Trouble.HARNESS, f"the history is damaged: {damage}"
    if not any(event.kind == "run-ended" for event in events):
        return (
            Trouble.HARNESS,
            "the history stops before the end of the run: the harness was killed, or crashed",
        )
    return None, ""


def _kind(findings: Sequence[Finding]) -> tuple[OutcomeKind, str]:
    anomaly = [item for item in findings if item.section == "anomaly"]
    healthy = [item for item in findings if item.section == "healthy"]
    # If every check of a list is about other clients or versions, it states nothing about this run.
    seen, well = (bool(part) and all(item.holds is Holds.YES for item in part) for part in (anomaly, healthy))
    if seen and well:
        return (
            OutcomeKind.INCONCLUSIVE,
            "both `anomaly` and `healthy` hold: the scenario can't tell them apart",
        )
    if seen:
        return OutcomeKind.REPRODUCED, "every check of `anomaly` holds"
    if well:
        return OutcomeKind.NOT_REPRODUCED, "every check of `healthy` holds"
    return OutcomeKind.INCONCLUSIVE, (
        f"neither list holds: of `anomaly` {_failing(anomaly)}; of `healthy` {_failing(healthy)}"
    )


def _failing(part: Sequence[Finding]) -> str:
    if not part:
        return "no check is about these clients and this version"
    failing = sum(item.holds is Holds.NO for item in part)
    unknown = sum(item.holds is Holds.UNKNOWN for item in part)
    counted = ((failing, "don't hold"), (unknown, "can't be answered"))
    return " and ".join(f"{count} of {len(part)} {what}" for count, what in counted if count)
