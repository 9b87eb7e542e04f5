"""One message, one group, one moment: what the history says about it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assertions.tags import stored_matches
from assertions.view import RunView, Sent, owned_queues
from harness.consumer import Consumer
from harness.model import Event, MessageClass, MessageFate


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

    def stored_between(self, sent: int, passed: int) -> Iterator[tuple[str, Event, bool | None]]:
        """The subscriptions that the broker held meanwhile: text, event, and whether it matches (None: SQL)."""
        broker = self.message.queue.rpartition(":")[0]
        looks = [
            event
            for event in self.view.of_kind("subscription-observed", until=passed)
            if event.data["group"] == self.group and event.data["broker"] == broker
        ]
        last_before = [event for event in looks if event.n < sent][-1:]
        for event in last_before + [event for event in looks if event.n > sent]:
            stored = event.data["subscriptions"].get(self.message.topic)
            if stored is not None:
                yield stored["expression"], event, stored_matches(stored, self.message.tag)

    def owners(self, passed: int) -> dict[str, Event]:
        """Who owned the queue at any time from the sending to the passing, with the observation."""
        sent = self.message.event.n
        owners = {
            name: event for name, event in self.view.ownership(self.group, sent).items() if self._owns(event)
        }
        for event in self.view.of_kind("ownership-observed", until=passed):
            if event.n > sent and event.data["group"] == self.group and self._owns(event):
                owners.setdefault(event.data["consumer"], event)
        return owners

    def _owns(self, event: Event) -> bool:
        return self.message.queue in owned_queues(event, self.message.topic)

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
        until: int | None = None,
    ) -> MessageFate:
        """The fate; where they aren't given, owner and stored subscription are what was seen until `until`."""
        last = self.at if until is None else until
        if owner is None:
            owner = ", ".join(self.owners(last)) or None
        if stored is None:
            known = list(self.stored_between(self.message.event.n, last))
            stored = known[-1][0] if known else None
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
