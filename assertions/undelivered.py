"""`undelivered`: how many messages reached no listener of a group, and why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import Field, field_validator

from rocketchaos.assertions.attempts import next_attempt_by_ns
from rocketchaos.assertions.base import Answer, Count
from rocketchaos.assertions.chosen import of_none
from rocketchaos.assertions.completeness import still_possible
from rocketchaos.assertions.implied import Span, spans
from rocketchaos.assertions.nothing_sent import nothing_sent
from rocketchaos.assertions.oracle import fates
from rocketchaos.assertions.reach import Reach, reach_of
from rocketchaos.assertions.too_early import TooEarly, latest
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import MessageClass, MessageFate
from rocketchaos.harness.language.words import GroupName, MomentName, TagRef, TopicName

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario

_NOT_DELIVERED = tuple(item.value for item in MessageClass if item is not MessageClass.DELIVERED)
_AFTER_DELIVERY = (MessageClass.IN_RETRY, MessageClass.DEAD_LETTER)
"""What becomes of a message that a listener got."""
_WAITING = (MessageClass.IN_FLIGHT, MessageClass.IN_RETRY, MessageClass.STRANDED)


class Undelivered(Count):
    """The number of messages that reached no listener of the group, for the reason that the oracle gives.

    The reasons: `filtered-by-broker`, `filtered-by-client`, `stranded`, `in-flight`, `in-retry`,
    `dead-letter`, `lost`, `undetermined`. Without a reason those count that no
    listener got: no message in retry, no dead letter, and none that is lost after it failed.
    """

    word = "undelivered"
    example = "undelivered: {group: g, count: 4, because: filtered-by-client}"

    because: MessageClass | None = Field(
        default=None, description="the reason", json_schema_extra={"enum": list(_NOT_DELIVERED)}
    )
    group: GroupName | None = Field(default=None, description="the group; default all groups")
    topic: TopicName | None = Field(default=None, description="only messages of this topic")
    tag: TagRef | None = Field(default=None, description="only messages of this tag")
    sent_after: MomentName | None = Field(
        default=None, description="only messages that were sent after this observation"
    )

    @field_validator("because", mode="before")
    @classmethod
    def _known_reason(cls, value: object) -> object:
        if value is None or isinstance(value, MessageClass):
            return value
        if value not in _NOT_DELIVERED:
            raise ValueError(f"the reasons are {', '.join(_NOT_DELIVERED)}")
        return MessageClass(str(value))

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        groups = len(scenario.groups) if self.group is None else 1
        sent = scenario.most_sent(self.topic, self.tag)
        if self.asks_for_more(sent * groups):
            text = f" to {groups} groups" if groups > 1 else ""
            yield f"{self.how_many()} undelivered: the steps send {sent} such messages{text}"
        elif not self.asks_for_some:
            yield from of_none(scenario, self.topic, self.tag)

    def doubts(self, scenario: Scenario) -> Iterator[str]:
        groups = len(scenario.groups) if self.group is None else 1
        yield from self.always(scenario.most_sent(self.topic, self.tag) * groups)

    def reach(self, scenario: Scenario) -> Reach | None:
        group = self.group or (scenario.groups[0] if len(scenario.groups) == 1 else None)
        if group is None or self.because in _AFTER_DELIVERY:
            return None
        topics = scenario.topics_of(group)
        own = topics if self.topic is None else topics & {self.topic}
        stated, looks = spans(self)[""], (self.sent_after, self.at)
        # Where it says one reason, there may be others.
        most = stated.high if self.because is None else math.inf
        # A listener got a message that failed and never comes again: lost, and delivered all the same.
        least = 0.0 if self.because is MessageClass.LOST else stated.low

        def delivered(total: int) -> Span:
            return Span(total - most, total - least)

        found = reach_of(scenario, scenario.members(group), own, self.tag, looks, delivered)
        return found and replace(found, exact=most >= found.total, whole=self.because is None)

    def title(self) -> str:
        return f"undelivered because {self.because}" if self.because else "undelivered"

    def evaluate(self, view: RunView) -> Answer:
        why = f" because they are {self.because}" if self.because else ""
        expected = f"{self.how_many('message')} undelivered{why}"
        at = view.end_of(self.at)
        begin = 0 if self.sent_after is None else view.end_of(self.sent_after)
        if at is None or begin is None:
            missing = self.at if at is None else self.sent_after
            return Answer(None, expected, f"the observation `{missing}` was not made")
        keys = {message.key for message in view.sent_until(at) if message.event.n > begin}
        all_fates = [fate for fate in fates(view, at) if fate.key in keys and self._concerns(view, fate)]
        if not all_fates:
            return nothing_sent(view, expected, self.topic, self.tag, at)
        matching = [fate for fate in all_fates if self._matches(fate)]
        spread = Counter(fate.message_class.value for fate in all_fates)
        observed = f"{len(matching)} of {len(all_fates)}: " + ", ".join(
            f"{number} {name}" for name, number in sorted(spread.items())
        )
        proof = [number for fate in matching or all_fates for number in fate.events]
        early = self._may_still_come(view, all_fates, at)
        open_ones = (MessageClass.UNDETERMINED, *(_WAITING if early is not None else ()))
        sealed = [fate for fate in matching if fate.message_class not in open_ones]
        unsure = None if self.is_final(len(sealed)) else self._unsure(view, all_fates, at) or early
        if unsure is not None:
            return Answer(None, expected, f"{observed}; {unsure}", proof, too_early=unsure)
        return Answer(self.fits(len(matching)), expected, observed, proof)

    def _concerns(self, view: RunView, fate: MessageFate) -> bool:
        return (
            self.group in (None, fate.group)
            and self.topic in (None, fate.topic)
            and (self.tag is None or fate.tag in (view.tags(self.tag, fate.topic) or ()))
        )

    def _matches(self, fate: MessageFate) -> bool:
        if self.because is not None:
            return fate.message_class is self.because
        return not fate.deliveries

    def _unsure(self, view: RunView, all_fates: list[MessageFate], at: int) -> TooEarly | None:
        """Why the count can't be known, however long one waits, or not yet."""
        open_ones = [fate for fate in all_fates if fate.message_class is MessageClass.UNDETERMINED]
        if open_ones and self.because not in (None, MessageClass.UNDETERMINED):
            return TooEarly(
                f"{len(open_ones)} undetermined: {open_ones[0].reason}",
                latest(fate.not_before_ns for fate in open_ones),
            )
        of_lines = [
            fate
            for fate in open_ones
            if view.seen_from_outside(view.scenario.members(fate.group)) and not self.because
        ]
        if of_lines:
            return TooEarly(
                f"{len(of_lines)} may have been delivered: {of_lines[0].reason}",
                latest(fate.not_before_ns for fate in of_lines),
            )
        failed = [fate for fate in all_fates if fate.message_class is MessageClass.IN_RETRY]
        if failed and self.because is MessageClass.DEAD_LETTER:
            return TooEarly(
                f"too early to say: {len(failed)} are in retry, and may become dead letters",
                next_attempt_by_ns(view, sorted({fate.group for fate in failed}), at),
            )
        return None

    def _may_still_come(self, view: RunView, all_fates: list[MessageFate], at: int) -> TooEarly | None:
        """Why what waits may still be delivered; None: it waits for good."""
        open_ones = (MessageClass.UNDETERMINED, *_WAITING)
        waiting = {fate.key for fate in all_fates if fate.message_class in open_ones}
        groups = sorted({fate.group for fate in all_fates})
        return still_possible(view, groups, [item for item in view.sent if item.key in waiting], at)
