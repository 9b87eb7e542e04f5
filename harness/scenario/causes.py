"""Checks of what only a certain step brings about, in a scenario without that step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

from rocketchaos.assertions import Check
from rocketchaos.assertions.lag import Lag
from rocketchaos.harness.language.behaviour import Behaviour
from rocketchaos.harness.language.topic import DEAD_LETTERS, RETRY
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.word_entries import PlacedWord, flat
from rocketchaos.harness.steps.base import every_step
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
    from rocketchaos.harness.steps.recall import Recall
    from rocketchaos.harness.steps.seek import Seek
    from rocketchaos.harness.steps.subscribe import Subscribe

_AFTER_A_FAILURE = {"dead-letter": "no dead letters", "retry": "no retries"}
"""The checks of what comes after a listener has failed."""


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


def hardly_caused(scenario: Scenario, check: Check) -> Iterator[str]:
    """Why it probably never holds: a warning."""
    if check.word == "offsets":
        yield from _offsets_of_nobody(scenario, cast("Offsets", check))
    if check.word in _AFTER_A_FAILURE and cast("DeadLetter | Retry", check).asks_for_some:
        group = cast("DeadLetter | Retry", check).group
        if scenario.members(group) and not scenario.sends_unseen and _all_succeed(scenario, group):
            lacks = _AFTER_A_FAILURE[check.word]
            yield f"every listener of {group} succeeds, so it has {lacks}: `behaviour: {{fail: …}}`"


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
