"""Offsets outside of their queue: below its first message, or beyond its end."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rocketchaos.harness.diagnose.checks.offsets import evidence, of_static_topics
from rocketchaos.harness.diagnose.checks.reasons import in_hands
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Inapplicable, Level, Result, Unknown
from rocketchaos.harness.diagnose.model import Member, QueueEnds
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import counted, joined, queues_text
from rocketchaos.harness.rocketmq.allocation import Queue

_ABANDONED = (
    "These messages are gone. The group has no member: if nobody uses it any more, delete it, "
    "`mqadmin deleteSubGroup`."
)
_TAKEN = (
    "The group's offset stands at the oldest message that a member holds. The member may have handled later ones, "
    "and may still handle those that it holds. The others are gone; after a restart the group continues at the "
    "queue's first message."
)
_LEFT = "No member subscribes to the topic now: if the group doesn't need it, that is as it should be."


def below_minimum(view: GroupView) -> Iterator[Result]:
    """Offsets below the queue's first message."""
    if view.broadcasting:
        yield Inapplicable()  # of its members' own offsets no broker knows
    else:
        yield from of_static_topics(view)
    # An abandoned group keeps its offsets for ever.
    for topic, gone in _apart(view, lambda ends, offset: ends.min_offset - offset):
        taken = _taken(view, topic, gone)
        holders = joined(sorted({member.client_id for member, _ in taken}))
        count = f"{'up to ' if taken else ''}{counted(sum(gone.values()), 'message')}"
        held = f"; some are still held by {holders}" if taken else ""
        yield Found(
            f"{count} of {queues_text(gone)}, between the group's offset and the queue's first message{held}",
            (
                *evidence(view, topic, list(gone)),
                *(Evidence(member.exchange, text) for member, text in taken),
            ),
            topic,
            level=Level.INFO if view.has_left(topic) else None,
            effect=_effect(view, topic) or (_TAKEN if taken else ""),
            key=queues_text(gone),
        )


def _effect(view: GroupView, topic: str) -> str:
    """The effect on a group that doesn't consume the topic now; empty: it does."""
    if view.has_left(topic):
        return _LEFT
    return _ABANDONED if view.abandoned else ""


def _taken(view: GroupView, topic: str, gone: dict[Queue, int]) -> list[tuple[Member, str]]:
    """The members that hold deleted messages of these queues, and what each says of a queue. How far such a member
    has handled the queue is nowhere: its offset stays at the oldest message that it holds."""
    ends = view.ends(topic)
    return [
        (
            member,
            f"{member.client_id}: {queues_text([queue])}: cachedMsgCount {held.cached_count}, "
            f"cachedMsgMinOffset {held.cached_min_offset}",
        )
        for queue in gone
        for member, held in in_hands(view, topic, queue)
        if held.cached_count and held.cached_min_offset < ends[queue].min_offset
    ]


def above_maximum(view: GroupView) -> Iterator[Result]:
    """Offsets above the queue's end, now or at an earlier look."""
    if view.broadcasting:
        yield Inapplicable()  # of its members' own offsets no broker knows
    else:
        yield from of_static_topics(view)
    for topic, beyond in _apart(view, lambda ends, offset: offset - ends.max_offset):
        most = max(beyond.values())
        yield Found(
            f"{queues_text(beyond)}, by {'up to ' if len(set(beyond.values())) > 1 else ''}"
            f"{counted(most, 'message')}",
            evidence(view, topic, list(beyond)),
            topic,
            level=Level.INFO if view.has_left(topic) else None,
            effect=_LEFT if view.has_left(topic) else "",
            key=queues_text(beyond),
        )
    yield from _passed(view)


@dataclass(slots=True)
class _Course:
    """A queue of a group over the looks."""

    end: int = 0
    consumed: int | None = None
    """The group's offset when it was last in the queue; None: it never was."""
    beyond: QueueEnds | None = None
    """The queue's ends while the offset is beyond them."""
    skipped: int = 0
    """Messages that the offset has passed, because it was beyond the end and the next pull has set it there."""
    certain: bool = True
    """An earlier look shows how far the group had consumed the queue."""
    unseen: bool = False
    """The queue began again, and no look has seen how the offset came into it."""

    def see(self, ends: QueueEnds, offset: int) -> None:
        """Take the next look into account."""
        if ends.max_offset < self.end:
            self.skipped, self.beyond = 0, None
            self.unseen = ends.min_offset < offset <= ends.max_offset < (self.consumed or 0)
            self.consumed = ends.min_offset
        self.end = ends.max_offset
        if offset > ends.max_offset:
            self.beyond = ends
            return
        if self.beyond is not None and offset >= self.beyond.max_offset:
            self.skipped = max(0, self.beyond.max_offset - max(self.beyond.min_offset, self.consumed or 0))
            self.certain = self.consumed is not None
        self.beyond, self.consumed = None, offset


def _passed(view: GroupView) -> Iterator[Result]:
    """Offsets that were beyond the queue's end at an earlier look, and are at the end now."""
    for topic in (*view.topics, view.retry_topic):
        courses = {queue: _course(view, topic, queue) for queue in sorted(view.ends(topic))}
        for certain in (True, False):
            queues = {
                queue: course.skipped
                for queue, course in courses.items()
                if course.skipped and course.certain is certain
            }
            if queues:
                number = counted(sum(queues.values()), "message")
                yield Found(
                    f"{queues_text(queues)}: the offset was beyond the end, and was set to it, past "
                    f"{'' if certain else 'up to '}{number} that the group hasn't consumed",
                    evidence(view, topic, list(queues)),
                    topic,
                    effect="The group doesn't get these messages.",
                    key=f"{queues_text(queues)} passed",
                )
        unseen = [queue for queue, course in courses.items() if course.unseen]
        if unseen:
            yield Unknown(
                f"{queues_text(unseen)}: the queue began again between two looks, and the offset is in it. "
                "Nothing shows whether the group has consumed the messages below",
                evidence(view, topic, unseen),
                topic,
            )


def _course(view: GroupView, topic: str, queue: Queue) -> _Course:
    course = _Course()
    for look in () if view.is_static(topic) or view.broadcasting else view.looks:
        ends, offset = look.ends.get(topic, {}).get(queue), look.offset(view.group, topic, queue)
        if ends is not None and offset is not None:
            course.see(ends, offset)
    return course


def _apart(view: GroupView, apart: Callable[[QueueEnds, int], int]) -> Iterator[tuple[str, dict[Queue, int]]]:
    """By topic and queue: how many messages an offset is outside, where it is."""
    for topic in (*view.topics, view.retry_topic):
        if view.is_static(topic):
            continue
        found = {
            queue: number
            for queue, ends in sorted(view.ends(topic).items())
            if (offset := view.offset(topic, queue)) is not None and (number := apart(ends, offset)) > 0
        }
        if found:
            yield topic, found


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
        by_brokers=True,
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
            "Check whether a broker lost data, or was recreated under its old name, or the topic was deleted and "
            "created again.",
            "Reset the group's offset: `mqadmin resetOffsetByTime`, with `-s now` to the queue's end, otherwise "
            "with the time of the first message that the group needs.",
        ),
        ("F04", "F05", "F10"),
        by_brokers=True,
        of_group=above_maximum,
    ),
)
