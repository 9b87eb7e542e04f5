"""Checks of what only a certain step brings about, in a scenario without that step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

from rocketchaos.assertions import Check
from rocketchaos.assertions.lag import Lag
from rocketchaos.harness.core.model import MessageClass
from rocketchaos.harness.language.behaviour import Behaviour
from rocketchaos.harness.language.topic import DEAD_LETTERS, RETRY
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.word_entries import PlacedWord, flat
from rocketchaos.harness.steps.base import Step, every_step
from rocketchaos.harness.steps.send import Send

if TYPE_CHECKING:
    # By their words at run time: a file loads the words that it uses, and no others.
    from rocketchaos.assertions.dead_letter import DeadLetter
    from rocketchaos.assertions.offsets import Offsets
    from rocketchaos.assertions.recall_refused import RecallRefused
    from rocketchaos.assertions.refusal import RefusedWhileRunning
    from rocketchaos.assertions.replied import Replied
    from rocketchaos.assertions.retry import Retry
    from rocketchaos.assertions.transaction_checked import TransactionChecked
    from rocketchaos.assertions.undelivered import Undelivered
    from rocketchaos.harness.steps.recall import Recall
    from rocketchaos.harness.steps.seek import Seek
    from rocketchaos.harness.steps.settle import Settle
    from rocketchaos.harness.steps.subscribe import Subscribe

_AFTER_DELIVERY = (MessageClass.IN_RETRY, MessageClass.DEAD_LETTER)
_NO_DEAD_LETTERS, _NO_RETRIES = "no dead letters", "no retries"


def without_cause(check: Check, steps: Iterable[PlacedWord]) -> Iterator[str]:
    """Why a check never holds, or is never known, whatever RocketMQ does: a step lacks."""
    words = [placed.word for placed in flat(steps)]
    if check.word == "transaction-checked":
        topic = cast("TransactionChecked", check).topic
        sends = [step for step in words if isinstance(step, Send) and step.topic == topic]
        if all(step.transaction is None for step in sends):
            yield f"no `send` to {topic} has a `transaction`: brokers ask about nothing"
    elif check.word == "replied":
        topic = cast("Replied", check).topic
        sends = [step for step in words if isinstance(step, Send) and step.topic == topic]
        if all(step.request is None for step in sends):
            yield f"no `send` to {topic} has a `request`: nothing is replied to"
    elif check.word == "recall-refused":
        refused = cast("RecallRefused", check)
        recalls = [cast("Recall", step) for step in words if step.word == "recall"]
        recalls = [step for step in recalls if any(_is_of(key, refused.topic) for key in step.messages)]
        if not recalls:
            yield f"no step recalls a message of {refused.topic}: write one, `recall: {refused.topic}-1`"
        elif refused.asks_for_some and not any(step.may_be_refused for step in recalls):
            yield f"no `recall` of {refused.topic} has `may_be_refused: true`: a refusal would end the run"
    elif check.word in ("subscribe-refused", "seek-refused"):
        one, verb = cast("RefusedWhileRunning", check), check.word.removesuffix("-refused")
        asked = [cast("Seek | Subscribe", step) for step in words if step.word == verb]
        if not any(step.may_be_refused and step.topic == one.topic for step in asked):
            yield (
                f"no `{verb}` of {one.consumer} to {one.topic} has `may_be_refused: true`: a refusal would end "
                "the run"
            )


def _is_of(key: str, topic: str) -> bool:
    return key.rpartition("-")[0] == topic


def hardly_caused(scenario: Scenario, word: Check | Step) -> Iterator[str]:
    """Why a check probably never holds, or a step never ends: a warning."""
    if word.word == "offsets":
        yield from _offsets_of_nobody(scenario, cast("Offsets", word))
    groups, lacks = _after_a_failure(scenario, word)
    if groups and not scenario.sends_unseen and all(_all_succeed(scenario, group) for group in groups):
        whose = (
            f"{groups[0]} succeeds, so it has" if len(groups) == 1 else "all groups succeeds, so they have"
        )
        yield f"every listener of {whose} {lacks}: `behaviour: {{fail: …}}`"


def _after_a_failure(scenario: Scenario, word: Check | Step) -> tuple[tuple[str, ...], str]:
    """The groups of which one needs a listener that fails, and what they lack otherwise."""
    if word.word in ("dead-letter", "retry"):
        check = cast("DeadLetter | Retry", word)
        of: tuple[str, ...] = (check.group,) if check.asks_for_some else ()
        return of, _NO_DEAD_LETTERS if word.word == "dead-letter" else _NO_RETRIES
    if word.word == "undelivered":
        missing = cast("Undelivered", word)
        asks = missing.asks_for_some and missing.because in _AFTER_DELIVERY
        of = () if not asks else scenario.groups if missing.group is None else (missing.group,)
        return of, _NO_DEAD_LETTERS if missing.because is MessageClass.DEAD_LETTER else _NO_RETRIES
    if word.word == "settle":
        settled = cast("Settle", word)
        if settled.dead_letters is not None:
            return (settled.dead_letters,), _NO_DEAD_LETTERS
        if settled.retried in scenario.groups:
            return (settled.retried,), _NO_RETRIES
        if settled.retried in scenario.consumers:
            return (scenario.consumers[settled.retried].group,), _NO_RETRIES
    return (), ""


def _offsets_of_nobody(scenario: Scenario, check: Offsets) -> Iterator[str]:
    members, sent = scenario.members(check.group), scenario.most_sent(check.topic)
    stores_none = members and all(scenario.consumers[name].model == "broadcasting" for name in members)
    if stores_none and not scenario.sends_unseen and not check.fits(Lag(sent, 0, "")):
        yield (
            f"the members of {check.group} consume by broadcasting: no broker has offsets of the group, and its "
            f"lag is {sent}, as if it had consumed nothing"
        )


def _all_succeed(scenario: Scenario, group: str) -> bool:
    """Whether nothing makes a message of the group a retry, or a dead letter: no listener, and no step."""
    if not scenario.members(group):
        return False
    own = {f"{RETRY}{group}", f"{DEAD_LETTERS}{group}"}
    if any(isinstance(step, Send) and step.topic in own for step in every_step(scenario.steps)):
        return False
    members = [scenario.consumers[name] for name in scenario.members(group)]
    # A member in POP mode or by gRPC gives up what it doesn't ack in time, too.
    return all(
        member.api == "push"
        and not member.needs_proxy
        and member.app is None
        and not member.settings
        and member.behaviour == Behaviour()
        for member in members
    )
