"""`wanted-but-not-delivered`: a member wanted it, and the group skipped it."""

from collections.abc import Iterator

from rocketchaos.assertions.completeness import still_possible
from rocketchaos.assertions.view import Sent
from rocketchaos.harness.core.model import MessageClass, MessageFate
from rocketchaos.harness.core.text import counted
from rocketchaos.harness.nightly.invariants.base import Breach, Judged, some
from rocketchaos.harness.nightly.invariants.disagreement import (
    OF_CONSUMPTION,
    OF_FILTERS,
    Disagreement,
    disagreement,
)
from rocketchaos.harness.nightly.invariants.lost import no_filter_takes
from rocketchaos.harness.nightly.invariants.wants import wants

_NEVER = (MessageClass.FILTERED_BY_CLIENT, MessageClass.FILTERED_BY_BROKER, MessageClass.STRANDED)
"""The fates of messages that will not come any more."""


class WantedButNotDelivered:
    """A group that agrees has none. A waiting message is none as long as it may still come."""

    kind = "wanted-but-not-delivered"
    meaning = "a message that a running member subscribes to has passed the group, and no listener got it"
    judges_unsettled = False

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        found: dict[tuple[str, str, MessageClass, Disagreement], list[tuple[MessageFate, list[str]]]] = {}
        sent = {message.key: message for message in judged.view.sent}
        for fate in judged.fates:
            if fate.message_class not in _NEVER:
                continue
            message = sent[fate.key]
            # By SQL only the broker filters, and the oracle takes its word: but what matches is lost (`Lost`).
            by_broker = fate.message_class is MessageClass.FILTERED_BY_BROKER
            if by_broker and no_filter_takes(judged, fate, message):
                continue
            if still_possible(judged.view, [fate.group], [message], judged.end) is not None:
                continue
            wanting = _wanting(judged, fate, message)
            if wanting:
                why = disagreement(
                    judged.view,
                    fate.group,
                    fate.topic,
                    message.invoked_n,
                    _until(judged, fate, message),
                    OF_CONSUMPTION if fate.message_class is MessageClass.STRANDED else OF_FILTERS,
                )
                key = fate.group, fate.topic, fate.message_class, why
                found.setdefault(key, []).append((fate, wanting))
        for (group, topic, message_class, why), fates in found.items():
            yield _breach(judged, group, topic, message_class, why, fates)


def _until(judged: Judged, fate: MessageFate, message: Sent) -> int:
    """When it was passed; where it waits, the end."""
    passed = judged.view.first_passed(fate.group, message, judged.end)
    return judged.end if passed is None else passed.n


def _wanting(judged: Judged, fate: MessageFate, message: Sent) -> list[str]:
    """The members that ran all the time from its sending to its passing, and wanted it all that time."""
    view, last = judged.view, _until(judged, fate, message)
    return [
        name
        for name in view.online_throughout(fate.group, message.invoked_n, last)
        if all(
            wants(item, message)
            for item in view.own_subscriptions.between(name, message.topic, message.invoked_n, last)
        )
    ]


def _breach(
    judged: Judged,
    group: str,
    topic: str,
    message_class: MessageClass,
    why: Disagreement,
    fates: list[tuple[MessageFate, list[str]]],
) -> Breach:
    fate, wanting = fates[0]
    of_topic = [item for item in judged.fates if (item.group, item.topic) == (group, topic)]
    count = {"group": group, "topic": topic, "because": message_class.value}
    text = (
        f"{len(fates)} of {counted(len(of_topic), 'message')} of {topic} for {group} reached nobody though a "
        f"member wanted {'it' if len(fates) == 1 else 'them'}, as {fate.key} (tag {fate.tag}), which "
        f"{' and '.join(wanting)} wanted: {fate.reason}"
    )
    return Breach(
        group=group,
        code=f"wanted-but-not-delivered-{message_class.value}-{why}",
        sentence=text,
        events=some(fate.events),
        anomaly=({"undelivered": {**count, "at_least": 1}},),
        healthy=({"undelivered": {**count, "count": 0}},),
    )
