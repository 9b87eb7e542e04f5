"""Members that give up all queues of a topic for a moment, as a reset of their group's offset makes them do."""

from collections.abc import Collection, Iterator, Mapping

from rocketchaos.harness.diagnose.finding import Evidence, Unknown
from rocketchaos.harness.diagnose.model import Look
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import joined, queues_text
from rocketchaos.harness.rocketmq.allocation import Queue

_Owners = Mapping[Queue, str]


def given_up(view: GroupView, told: Collection[str]) -> Iterator[Unknown]:
    """Topics whose queues all members gave up and took again, while they were online all the time.

    `mqadmin resetOffsetByTime` has each running member drop the queues, wait for 10 s, set its own offset and
    take them again (MQClientInstance.resetOffset; 4.9.4, 5.5.0). The broker gets the offset with the next commit,
    and by then a fast group may have caught up: no look sees that it was set back.

    Args:
        view: the group.
        told: the topics of which a finding says that the offset went back.
    """
    if view.broadcasting or view.shares_queues:
        return
    for topic in (item for item in view.present_topics if item not in told):
        for before, between, after in zip(view.looks, view.looks[1:], view.looks[2:], strict=False):
            if found := _lapse(view, topic, before, between, after):
                yield found
                break


def _lapse(view: GroupView, topic: str, before: Look, between: Look, after: Look) -> Unknown | None:
    first, gone = _owned(before, view.group, topic), _owned(between, view.group, topic)
    later = [look for look in view.looks if look.number >= after.number]
    again = next((look for look in later if _owned(look, view.group, topic) == first), None)
    if not first or gone or again is None:
        return None
    looks = [look for look in view.looks if before.number <= look.number <= again.number]
    if len({_online(look, view.group) for look in looks}) > 1 or None in _online(before, view.group):
        return None
    seconds = (again.at_ms - before.at_ms) / 1000
    ids = joined(sorted(set(first.values())))
    return Unknown(
        f"{ids} gave up {queues_text(first)} and took them again, within {seconds:.0f} s, as `mqadmin "
        "resetOffsetByTime` makes running members do: whether the offset was set back can't be seen, since the "
        "group may have caught up between two looks",
        tuple(
            Evidence(member.exchange, f"{client_id} owns no queue of {topic}")
            for client_id, member in between.members[view.group].items()
        ),
        topic,
    )


def _owned(look: Look, group: str, topic: str) -> _Owners:
    """The owner of each queue; the last of several."""
    return {
        queue: client_id
        for client_id, member in look.members.get(group, {}).items()
        for queue, held in member.queues.get(topic, {}).items()
        if not held.dropped
    }


def _online(look: Look, group: str) -> tuple[tuple[str, int] | None, ...]:
    """Who is online, and since when; None for each that doesn't tell."""
    return tuple(
        (client_id, member.started_ms) if member.answered else None
        for client_id, member in sorted(look.members.get(group, {}).items())
    )
