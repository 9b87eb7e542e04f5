"""`stuck`: a group of one mind has stopped consuming."""

from __future__ import annotations

from collections.abc import Iterator

from assertions.completeness import patience_ms, still_possible
from assertions.tags import client_matches
from assertions.view import Sent
from harness.consumer import SqlExpression
from harness.model import MessageClass
from harness.nightly.invariants.base import Breach, Judged, some
from harness.nightly.invariants.minds import AGREE, disagreement


class Stuck:
    """What waits ahead of the offset comes, unless somebody stands still, blocks or is away."""

    kind = "stuck"
    meaning = "messages wait for members of one mind that run, and for long nothing has happened"

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
            ]
            online = view.online(judged.end, group)
            if not waiting or not online or any(view.blocked(name, judged.end) for name in online):
                continue
            if any(disagreement(view, group, fate.topic, 0, judged.end) != AGREE for fate in waiting):
                continue
            if still_possible(view, [group], [sent[fate.key] for fate in waiting], judged.end) is not None:
                continue
            busy = [one.event.n for one in view.deliveries(judged.end, online)][-1:]
            if busy and view.ms_between(busy[0], judged.end) < patience_ms(view, [group], judged.end):
                continue
            yield Breach(
                group=group,
                cause="nothing is consumed any more",
                sentence=f"{len(waiting)} messages wait for {group}, as {waiting[0].key} in {waiting[0].queue}, "
                f"of which {waiting[0].owner} is the owner, and nothing has happened since its last delivery",
                events=some([number for fate in waiting for number in fate.events]),
                anomaly=({"undelivered": {"group": group, "because": "in-flight", "at_least": 1}},),
                healthy=({"undelivered": {"group": group, "count": 0}},),
            )


def _everybody_takes(judged: Judged, group: str, message: Sent) -> bool:
    """Whether each running member takes its tag: what none takes need not be passed, as by lite pull consumers."""
    view = judged.view
    own = [
        view.own_subscriptions.at(name, judged.end).get(message.topic)
        for name in view.online(judged.end, group)
    ]
    return all(
        one is not None and not isinstance(one, SqlExpression) and client_matches(one, message.tag)
        for one in own
    )
