"""`lost`: the offset passed an acknowledged message that every filter lets through, and nobody got it."""

from collections.abc import Iterator

from rocketchaos.assertions.set_offsets import set_by_tools
from rocketchaos.assertions.view import Sent
from rocketchaos.harness.core.events.messages import OffsetsReset
from rocketchaos.harness.core.events.observed import SubscriptionObserved
from rocketchaos.harness.core.model import Event, MessageClass, MessageFate
from rocketchaos.harness.nightly.invariants.base import Breach, Judged, some
from rocketchaos.harness.nightly.invariants.disagreement import ever_disagreed
from rocketchaos.harness.nightly.invariants.wants import lets_through, wants


class Lost:
    """RocketMQ promises at-least-once delivery: no fault of a process may lose a message.

    Proven in either of two ways: the oracle knows the owner and the stored subscription, and both match; or,
    whoever owned the queue and whatever was stored, every filter that there was in the whole run lets the message
    through, so that none can have taken it. Of SQL that is known where it is plain (`harness.language.sql`).
    """

    kind = "lost"
    meaning = "an acknowledged message was passed that no filter can have taken, and no listener got it"
    judges_unsettled = False

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        found: dict[str, list[tuple[MessageFate, list[Event]]]] = {}
        sent = {message.key: message for message in judged.view.sent}
        for fate in judged.fates:
            passed = judged.view.first_passed(fate.group, sent[fate.key], judged.end)
            if fate.deliveries or passed is None:
                continue
            if fate.message_class is MessageClass.LOST or no_filter_takes(judged, fate, sent[fate.key]):
                found.setdefault(fate.group, []).append((fate, [sent[fate.key].event, passed]))
        for group, fates in found.items():
            fate, proof = fates[0]
            answer = "disagree" if ever_disagreed(judged.view, group) else "agree"
            yield Breach(
                group=group,
                code=f"lost-{answer}",
                sentence=f"{len(fates)} acknowledged messages are lost to {group}, as {fate.key} in {fate.queue}: "
                f"the offset passed it, whatever filtered lets it through, and no listener got it",
                events=some([*fate.events, *(event.n for event in proof)]),
                anomaly=({"undelivered": {"group": group, "topic": fate.topic, "at_least": 1}},),
                healthy=({"undelivered": {"group": group, "topic": fate.topic, "count": 0}},),
            )


def no_filter_takes(judged: Judged, fate: MessageFate, message: Sent) -> bool:
    """Whether each filter of the run, the members' and the brokers', lets the message through.

    And nothing else may have moved the offset over it: a step that set it, a group that began behind it, or
    members of which any may hold it (POP, gRPC).
    """
    view = judged.view
    members = [name for name in view.scenario.members(fate.group) if view.ever_started(name)]
    if any(view.scenario.consumers[name].consume_from != "first-offset" for name in members):
        return False
    if view.shares_queues(fate.group) or any(
        event.body.group == fate.group for event in view.of_kind(OffsetsReset)
    ):
        return False
    if any(True for _ in set_by_tools(view, fate.group)):
        return False
    own = [
        expression
        for name in members
        for expression in view.own_subscriptions.between(name, message.topic, 0, judged.end)
    ]
    if not own or not all(wants(member, message) for member in own):
        return False
    entries = [
        event.body.subscriptions.get(message.topic)
        for event in view.of_kind(SubscriptionObserved)
        if event.body.group == fate.group
    ]
    return all(lets_through(entry, message) for entry in entries if entry is not None)
