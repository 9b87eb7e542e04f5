"""What is not as it should be, each with a signature in which equal causes look equal: `FindingFact`.

That is an id where our own code tells the cause, whatever words it has for it. Messages of RocketMQ and others are
normalised text (`harness.facts.signature`), and so are the texts in folders from before there were ids.

`outcome`   of runs that are not as expected, or that an error ended
`check`     of `also`, or of the section that should hold, where it was not seen to hold
`trouble`   what kept a run from being completed
`event`     workers that died and listeners that broke; of runs that are not as expected also refusals, sendings
            that nobody acknowledged, and looks that failed
`invariant` what a night found in a run that it drew, by its code (`harness.nightly.codes`)
`log`       errors and telling warnings in the logs of runs that are not as expected (`harness.facts.log_facts`)
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from rocketchaos.harness.core.events.base import Body
from rocketchaos.harness.core.events.clients import ConsumerRefused, WorkerDied
from rocketchaos.harness.core.events.messages import ListenerError, ProducerRefused, SendFailed
from rocketchaos.harness.core.events.run import ProbeFailed, RunTrouble
from rocketchaos.harness.core.model import SECTION_OF, OutcomeKind, Trouble
from rocketchaos.harness.facts.documents import Documents
from rocketchaos.harness.facts.kinds import FindingFact
from rocketchaos.harness.facts.log_facts import LogFinding
from rocketchaos.harness.facts.signature import signature
from rocketchaos.harness.facts.story import Story

PRODUCT, HARNESS, ENVIRONMENT = "product", "harness", "environment"
"""Whose behaviour a finding is of."""

SIDES = {
    # A state that RocketMQ was not seen to reach in time: what it did, and never the harness's doing.
    Trouble.PRECONDITION: PRODUCT,
    Trouble.USAGE: HARNESS,
    Trouble.ENVIRONMENT: ENVIRONMENT,
    Trouble.HARNESS: HARNESS,
    Trouble.INTERRUPTED: ENVIRONMENT,
}
"""By what kept the run from being completed."""

LONGEST = 500
"""Characters of a text."""
MOST_EVENTS = 20
"""The limit of events of one finding, the first ones."""

_EVENTS: dict[type[Body], str] = {
    WorkerDied: ENVIRONMENT,
    ListenerError: HARNESS,
    ProbeFailed: HARNESS,
    ConsumerRefused: PRODUCT,
    ProducerRefused: PRODUCT,
    SendFailed: PRODUCT,
}
_ALWAYS = (WorkerDied, ListenerError)


def finding_facts(
    documents: Documents, story: Story, logs: Iterable[LogFinding] = ()
) -> Iterator[FindingFact]:
    """All of a run.

    Args:
        documents: of its folder.
        story: of its history.
        logs: what its logs tell (`harness.facts.log_facts.log_findings`), where it is not as it should be.
    """
    side = side_of(documents.outcome.trouble)
    wrong = not documents.as_it_should_be
    if wrong:
        yield _outcome(documents, side)
    yield from _checks(documents, side)
    yield from _troubles(documents, story)
    yield from _events(documents, story, wrong=wrong)
    for found in documents.run.nightly.findings if documents.run.nightly else ():
        yield _fact(documents, "invariant", PRODUCT, "harness", found.words, found.code)
    for item in logs if wrong else ():
        yield _fact(
            documents, "log", side, item.node, item.text, item.signature, occurrences=item.occurrences
        )


def side_of(trouble: str | None) -> str:
    """Whose behaviour it is, by the trouble of a run; product where there is none."""
    return SIDES[Trouble(trouble)] if trouble in list(Trouble) else PRODUCT


def _fact(
    documents: Documents,
    kind: str,
    side: str,
    node: str,
    text: str,
    cause: str | None = None,
    events: tuple[int, ...] = (),
    occurrences: int = 1,
) -> FindingFact:
    return FindingFact(
        kind=kind,
        side=side,
        node=node,
        text=text[:LONGEST],
        signature=signature(text, documents.run.run) if cause is None else cause,
        occurrences=occurrences,
        events=events,
    )


def _outcome(documents: Documents, side: str) -> FindingFact:
    said = documents.outcome
    expected = "" if said.expected is None else f", expected {said.expected}"
    cause = ["outcome", said.outcome, said.trouble, said.expected and f"expected {said.expected}"]
    text = f"{said.outcome}{expected}: {said.reason or ''}"
    return _fact(documents, "outcome", side, "harness", text, " ".join(filter(None, cause)))


def _checks(documents: Documents, side: str) -> Iterator[FindingFact]:
    expected = documents.outcome.expected
    should = SECTION_OF.get(OutcomeKind(expected)) if expected in list(OutcomeKind) else None
    for item in documents.checks.checks:
        if item.section in ("also", should) and item.holds is not None and item.holds != "yes":
            text = f"{item.name}: expected {item.expected}; observed {item.observed}"
            cause = f"check {item.id} holds {item.holds}" if item.id else None
            yield _fact(documents, "check", side, "harness", text, cause, item.events or ())


def _troubles(documents: Documents, story: Story) -> Iterator[FindingFact]:
    for item in story.entries:
        if isinstance(item.body, RunTrouble):
            cause = f"trouble {item.body.trouble} {item.body.cause}" if item.body.cause else None
            text = f"{item.body.trouble}: {item.body.message}"
            yield _fact(documents, "trouble", side_of(item.body.trouble), item.node, text, cause, (item.n,))


def _events(documents: Documents, story: Story, *, wrong: bool) -> Iterator[FindingFact]:
    found: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for item in story.entries:
        side = _EVENTS.get(type(item.body))
        if side is not None and (wrong or isinstance(item.body, _ALWAYS)):
            probe, error = getattr(item.body, "probe", None), getattr(item.body, "error", None)
            said = (item.body.kind, probe, item.body.reason if isinstance(item.body, WorkerDied) else error)
            found[side, item.node, ": ".join(text for text in said if text is not None)].append(item.n)
    for (side, node, text), events in found.items():
        yield _fact(
            documents, "event", side, node, text, events=tuple(events[:MOST_EVENTS]), occurrences=len(events)
        )
