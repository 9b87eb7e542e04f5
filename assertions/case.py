"""One message, one group, one moment: what the history proves about it. Pure.

Knowledge is bracketed. What a broker holds changes only to a higher subVersion, or vanishes
(`ConsumerGroupInfo.updateSubscription`, RocketMQ 4.9.4 and 5.3.3), and a member whose queues change raises its own
(`RebalancePushImpl.messageQueueChanged`). So a look before the sending and one after the passing that show the
same subVersion prove what was so in between; a single look proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assertions.tags import stored_matches
from assertions.view import RunView, Sent, owned_queues, queue_name
from harness.consumer import Consumer
from harness.model import Event, MessageClass, MessageFate


@dataclass(frozen=True, slots=True)
class Stored:
    """What a broker is proven to have held, and the looks that prove it."""

    expression: str
    matches: bool | None
    """Whether it lets the message pass; None: it is SQL."""
    looks: list[Event]


@dataclass(frozen=True, slots=True)
class Case:
    """What is known of `message` for `group` at event `at`."""

    view: RunView
    group: str
    message: Sent
    at: int

    def spec(self, consumer: str) -> Consumer:
        """What the scenario says of a consumer."""
        return self.view.scenario.consumers[consumer]

    def looks_at_stored(self, until: int) -> list[Event]:
        """The last look at the broker's entry before the sending, those up to `until`, and the next one."""
        broker = self.message.queue.rpartition(":")[0]
        return _bracket(
            [
                event
                for event in self.view.of_kind("subscription-observed")
                if event.data["group"] == self.group and event.data["broker"] == broker
            ],
            self.message.invoked_n,
            until,
        )

    def stored(self, until: int) -> Stored | None:
        """What the broker held all the time from the sending to event `until`; None where that isn't proven."""
        looks = self.looks_at_stored(until)
        entries = [event.data["subscriptions"].get(self.message.topic) for event in looks]
        if not _is_bracket(looks, self.message.invoked_n, until) or None in entries:
            return None
        if len({entry["sub_version"] for entry in entries}) != 1:
            return None
        matches = stored_matches(entries[0], self.message.tag)
        return Stored(entries[0]["expression"], matches, [looks[0], looks[-1]])

    def last_stored(self) -> str | None:
        """What the broker was last seen to hold; None: nothing for the topic, or not seen."""
        looks = [event for event in self.looks_at_stored(self.at) if event.n <= self.at]
        entry = looks[-1].data["subscriptions"].get(self.message.topic) if looks else None
        return None if entry is None else str(entry["expression"])

    def refused_looks(self) -> list[Event]:
        """Looks since the sending at which the broker held nothing of the group for the topic."""
        return [
            event
            for event in self.looks_at_stored(self.at)
            if self.message.invoked_n < event.n <= self.at
            and event.data["online"]
            and self.message.topic not in event.data["subscriptions"]
        ][:2]

    def owners(self, until: int) -> dict[str, list[Event]]:
        """Who owned the queue all the time from the sending to event `until`, with the looks that prove it.

        Several only where members allocate by different strategies.
        """
        found = {}
        for member in self.view.scenario.members(self.group):
            looks = _bracket(
                [
                    event
                    for event in self.view.of_kind("ownership-observed")
                    if event.data["consumer"] == member
                ],
                self.message.invoked_n,
                until,
            )
            if not _is_bracket(looks, self.message.invoked_n, until) or not all(map(self._owns, looks)):
                continue
            versions = {
                event.data["subscriptions"].get(self.message.topic, {}).get("sub_version") for event in looks
            }
            if len(versions) == 1:
                found[member] = [looks[0], looks[-1]]
        return found

    def _owns(self, event: Event) -> bool:
        return self.message.queue in owned_queues(event, self.message.topic)

    def reset_beyond(self, until: int) -> Event | None:
        """The last `reset-offset` of its queue by event `until`, where that set the offset past the message."""
        resets = [
            (event, queue["offset"])
            for event in self.view.of_kind("offsets-reset", until=until)
            if (event.data["group"], event.data["topic"]) == (self.group, self.message.topic)
            for queue in event.data["queues"]
            if queue_name(queue["broker"], queue["queue_id"]) == self.message.queue
        ]
        return resets[-1][0] if resets and resets[-1][1] > self.message.offset else None

    def pull_counts(self, consumer: str) -> Event | None:
        """A client's own counts after the sending: pulls answered with messages, and what passed its filter."""
        events = [
            event
            for event in self.view.of_kind("pull-counts-observed", until=self.at)
            if event.data["consumer"] == consumer
            and event.data["topic"] == self.message.topic
            and event.n > self.message.event.n
        ]
        return events[-1] if events else None

    def made(
        self,
        message_class: MessageClass,
        reason: str,
        proof: list[Event],
        *,
        got: tuple[str, ...] = (),
        owner: str | None = None,
        stored: str | None = None,
    ) -> MessageFate:
        """The fate."""
        return MessageFate(
            group=self.group,
            topic=self.message.topic,
            key=self.message.key,
            tag=self.message.tag,
            queue=self.message.queue,
            offset=self.message.offset,
            owner=owner,
            subscription=stored,
            message_class=message_class,
            deliveries=got,
            reason=reason,
            events=tuple(sorted({self.message.event.n, *(event.n for event in proof)})),
        )

    def undetermined(
        self, reason: str, proof: list[Event], *, owner: str | None = None, stored: str | None = None
    ) -> MessageFate:
        """The history can't decide."""
        return self.made(MessageClass.UNDETERMINED, reason, proof, owner=owner, stored=stored)


def _bracket(looks: Sequence[Event], begin: int, end: int) -> list[Event]:
    """The last look before event `begin`, those between, and the first one after event `end`."""
    before = [event for event in looks if event.n < begin][-1:]
    between = [event for event in looks if begin <= event.n <= end]
    after = [event for event in looks if event.n > end][:1]
    return before + between + after


def _is_bracket(looks: Sequence[Event], begin: int, end: int) -> bool:
    return bool(looks) and looks[0].n < begin and looks[-1].n > end
