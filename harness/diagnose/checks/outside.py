"""Offsets outside of their queue: below its first message, or beyond its end."""

from __future__ import annotations

from collections.abc import Iterator

from rocketchaos.harness.diagnose.checks.offsets import evidence
from rocketchaos.harness.diagnose.finding import Check, Found, Level, Result
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import queues_text
from rocketchaos.harness.rocketmq.allocation import Queue


def below_minimum(view: GroupView) -> Iterator[Result]:
    """Offsets below the queue's first message."""
    yield from _outside(view, below=True)


def above_maximum(view: GroupView) -> Iterator[Result]:
    """Offsets above the queue's end."""
    yield from _outside(view, below=False)


def _outside(view: GroupView, *, below: bool) -> Iterator[Result]:
    for topic in (*view.topics, view.retry_topic):
        if view.is_static(topic):
            continue
        found: list[Queue] = []
        gone = 0
        for queue, ends in view.ends(topic).items():
            offset = view.offset(topic, queue)
            if offset is None:
                continue
            apart = ends.min_offset - offset if below else offset - ends.max_offset
            if apart > 0:
                found.append(queue)
                gone += apart
        if found:
            text = (
                f"{queues_text(found)}: the group's offset is {gone} below the queue's first offset"
                if below
                else f"{queues_text(found)}: the group's offset is {gone} beyond the queue's end"
            )
            yield Found(text, evidence(view, topic, found), topic, key=queues_text(found))


CHECKS = (
    Check(
        "RC0505",
        "unread messages were deleted",
        Level.ERROR,
        "no unread message was deleted",
        "These messages are gone. The group continues at the queue's first message.",
        (
            "Send the messages again from their source.",
            "Raise fileReservedTime, or add members to the group: its lag is longer than messages are kept.",
        ),
        ("F02",),
        of_group=below_minimum,
    ),
    Check(
        "RC0506",
        "the group's offset is beyond the queue's end",
        Level.ERROR,
        "no offset is beyond its queue's end",
        "The group doesn't get messages that are stored below that offset. From 4.9.4 on, the next pull sets the "
        "offset to the queue's end.",
        (
            "Check whether a broker lost data, or was recreated under its old name.",
            "Reset the group's offset.",
        ),
        ("F04", "F05", "F10"),
        of_group=above_maximum,
    ),
)
