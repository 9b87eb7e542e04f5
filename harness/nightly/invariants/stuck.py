"""`stuck`: a group that agrees has stopped consuming."""

from collections.abc import Iterator

from rocketchaos.assertions.completeness import patience_ms, still_possible
from rocketchaos.assertions.view import Sent
from rocketchaos.harness.core.model import MessageClass, MessageFate
from rocketchaos.harness.nightly.invariants.base import Breach, Judged, some
from rocketchaos.harness.nightly.invariants.disagreement import disagreement
from rocketchaos.harness.nightly.invariants.wants import wants


class Stuck:
    """Messages ahead of the offset come, unless a member is paused, blocks or is away."""

    kind = "stuck"
    meaning = "messages wait for members that agree and run, and for long nothing has happened"
    judges_unsettled = False

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        view = judged.view
        sent = {message.key: message for message in view.sent}
        for group in view.scenario.groups:
            waiting = [
                fate
                for fate in judged.fates
                if fate.group == group
                and fate.message_class is MessageClass.IN_FLIGHT
                and _everybody_takes(judged, group, sent[fate.key])
                and not _is_held_up(judged, fate)
            ]
            online = view.online(judged.end, group)
            if not waiting or not online:
                continue
            if any(disagreement(view, group, fate.topic, 0, judged.end) != "agree" for fate in waiting):
                continue
            if still_possible(view, [group], [sent[fate.key] for fate in waiting], judged.end) is not None:
                continue
            busy = [delivery.event.n for delivery in view.deliveries(judged.end, online)][-1:]
            if busy and view.ms_between(busy[0], judged.end) < patience_ms(view, [group], judged.end):
                continue
            yield Breach(
                group=group,
                code="stuck-nothing-consumed",
                sentence=f"{len(waiting)} messages wait for {group}, as {waiting[0].key} in {waiting[0].queue}, "
                f"of which {waiting[0].owner} is the owner, and nothing has happened since its last delivery",
                events=some([number for fate in waiting for number in fate.events]),
                anomaly=({"undelivered": {"group": group, "because": "in-flight", "at_least": 1}},),
                healthy=({"undelivered": {"group": group, "count": 0}},),
            )


def _everybody_takes(judged: Judged, group: str, message: Sent) -> bool:
    """Whether each running member wants it: offsets need not pass a message that none takes, as with lite pull
    consumers."""
    view = judged.view
    own = [
        view.own_subscriptions.at(name, judged.end).get(message.topic)
        for name in view.online(judged.end, group)
    ]
    return all(wants(item, message) for item in own)


def _is_held_up(judged: Judged, fate: MessageFate) -> bool:
    """Whether it waits behind a blocked listener: its owner's or, if the owner is unknown, any member's.

    An orderly one unlocks no queue that it consumes, though it has lost it
    (`RebalancePushImpl.removeUnnecessaryMessageQueue`, 4.9.4): it may hold up anybody.
    """
    view = judged.view
    owners = () if fate.owner is None else fate.owner.split(", ")
    return any(
        view.blocked(name, judged.end)
        for name in view.online(judged.end, fate.group)
        if not owners or name in owners or view.scenario.consumers[name].listener == "orderly"
    )
