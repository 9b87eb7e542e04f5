"""The oracle: what became of every message for every group, and which events prove it. Pure.

A message that no listener got has one of these fates. Where the group's offset has passed it, a filter took
it, or it is lost: the broker's filter if the stored subscription doesn't match its tag, the client's if the
stored one matches and the own subscription of the queue's owner doesn't. Where the offset hasn't passed it, it
waits: stranded if no member consumes its queue, in flight otherwise. Where the history can't decide, because
the stored subscription or the owner changed between the sending and the passing, the oracle says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assertions.tags import broker_matches, client_matches
from assertions.view import Delivery, RunView, Sent, owned_queues
from harness.allocation import average
from harness.model import Event, MessageClass, MessageFate

FAILED = "RECONSUME_LATER"


def fates(view: RunView, at: int) -> list[MessageFate]:
    """The fate of every message for every group that subscribes to its topic, as known at event `at`."""
    return [
        _Case(view, group, message, at).fate()
        for group in view.scenario.groups
        for message in view.sent_until(at)
        if any(
            message.topic in view.scenario.consumers[member].subscribe
            for member in view.scenario.members(group)
        )
    ]


@dataclass(frozen=True, slots=True)
class _Case:
    """One message, one group, one moment."""

    view: RunView
    group: str
    message: Sent
    at: int

    def fate(self) -> MessageFate:
        members = self.view.scenario.members(self.group)
        got = [one for one in self.view.deliveries_of(self.message.key, self.at) if one.consumer in members]
        if got:
            return self._delivered(got)
        passed = self.view.first_passed(self.group, self.message, self.at)
        return self._waiting() if passed is None else self._passed(passed)

    def _delivered(self, got: list[Delivery]) -> MessageFate:
        names = tuple(one.consumer for one in got)
        results = [event for event in self.view.results_of(self.message.key, self.at) if event.node in names]
        proof = [one.event for one in got] + results
        if len(results) >= len(got) and all(one.data["status"] == FAILED for one in results):
            made, reason = MessageClass.IN_RETRY, "the last listener failed; it waits in the retry topic"
        else:
            made, reason = MessageClass.DELIVERED, f"the listener of {names[-1]} got it"
        # Who owned the queue and what was stored when it was delivered; what came later didn't matter to it.
        first = got[0].event.n
        return self._made(made, reason, proof, got=names, until=first)

    def _passed(self, passed: Event) -> MessageFate:
        stored = list(self._stored_between(self.message.event.n, passed.n))
        if not stored:
            return self._made(
                MessageClass.UNDETERMINED,
                "the offset passed it, but the stored subscription was not observed meanwhile",
                [passed],
            )
        verdicts = {matches for _, _, matches in stored}
        expression, last, matches = stored[-1]
        if len(verdicts) > 1:
            return self._made(
                MessageClass.UNDETERMINED,
                "the offset passed it while the stored subscription changed from one that matches to one that "
                "doesn't, or back",
                [passed, *(event for _, event, _ in stored)],
                stored=expression,
            )
        if not matches:
            return self._made(
                MessageClass.FILTERED_BY_BROKER,
                f"the broker held {expression!r} and passed over tag {self.message.tag!r}",
                [passed, last],
                stored=expression,
            )
        return self._sent_to_owner(passed, last, expression)

    def _sent_to_owner(self, passed: Event, stored_seen: Event, expression: str) -> MessageFate:
        """The broker's filter let it pass, so the queue's owner was sent it."""
        owners = self._owners(passed.n)
        own = {name: self.view.scenario.consumers[name].subscribe.get(self.message.topic) for name in owners}
        proof = [passed, stored_seen, *owners.values()]
        if not owners:
            return self._made(
                MessageClass.UNDETERMINED,
                f"the broker held {expression!r}, which matches, and the offset passed it, but who owned the "
                "queue was not observed",
                proof,
                stored=expression,
            )
        drops = {
            name: text is not None and not client_matches(text, self.message.tag)
            for name, text in own.items()
        }
        owner = ", ".join(owners)
        if all(drops.values()):
            subscribed = ", ".join(f"{name} subscribes {own[name]!r}" for name in owners)
            counts = self._pull_counts(list(owners))
            counted = "".join(
                f" ({event.data['consumer']} was answered {event.data['found_pulls']} pulls with messages and let "
                f"{event.data['passed_messages']} through)"
                for event in counts
            )
            return self._made(
                MessageClass.FILTERED_BY_CLIENT,
                f"the broker held {expression!r} and sent it to the queue's owner; {subscribed}, "
                f"and its client dropped it{counted}",
                proof + counts,
                owner=owner,
                stored=expression,
            )
        if any(drops.values()):
            return self._made(
                MessageClass.UNDETERMINED,
                f"the queue changed hands between {owner} before the offset passed it; one of them drops its "
                "tag, the other doesn't",
                proof,
                owner=owner,
                stored=expression,
            )
        return self._made(
            MessageClass.LOST,
            f"the stored subscription {expression!r} and the own one of {owner} both match, the offset passed "
            "it, and no listener got it",
            proof,
            owner=owner,
            stored=expression,
        )

    def _waiting(self) -> MessageFate:
        online = self.view.online(self.at, self.group)
        ownership = self.view.ownership(self.group, self.at)
        if not online:
            return self._made(MessageClass.IN_FLIGHT, "no member of the group is online; it waits", [])
        missing = [name for name in online if name not in ownership]
        owners = [
            name
            for name, event in ownership.items()
            if self.message.queue in owned_queues(event, self.message.topic)
        ]
        if owners:
            return self._made(
                MessageClass.IN_FLIGHT,
                f"it waits ahead of the group's offset for {', '.join(owners)}, which owns the queue",
                [ownership[name] for name in owners],
                owner=", ".join(owners),
            )
        if missing:
            return self._made(
                MessageClass.UNDETERMINED,
                f"it waits ahead of the group's offset, and the queues of {', '.join(missing)} were not observed",
                list(ownership.values()),
            )
        return self._stranded(online, list(ownership.values()))

    def _stranded(self, online: list[str], proof: list[Event]) -> MessageFate:
        on_paper = self._owner_on_paper(online)
        whose = f": on paper it belongs to {on_paper}" if on_paper else ""
        return self._made(
            MessageClass.STRANDED,
            f"no member consumes its queue{whose}, which doesn't consume it",
            proof,
            owner=on_paper,
        )

    def _owner_on_paper(self, online: list[str]) -> str | None:
        """The member to whom averaging gives the queue, whether it subscribes to the topic or not."""
        ids = {_client_id(self.view, name): name for name in online}
        broker, _, queue_id = self.message.queue.rpartition(":")
        queues = [
            (queue["broker"], queue["queue_id"])
            for event in self.view.of_kind("offsets-observed", until=self.at)
            if event.data["topic"] == self.message.topic
            for queue in event.data["queues"]
        ]
        for client_id, name in ids.items():
            if (broker, int(queue_id)) in average(sorted(set(queues)), list(ids), client_id):
                return name
        return None

    def _stored_between(self, sent: int, passed: int) -> Iterator[tuple[str, Event, bool]]:
        """The subscriptions that brokers held from the sending to the passing: text, event, match."""
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
                text = stored["expression"]
                yield text, event, broker_matches(text, stored["codes"], self.message.tag)

    def _owners(self, passed: int) -> dict[str, Event]:
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

    def _pull_counts(self, consumers: list[str]) -> list[Event]:
        """The clients' own counts: pulls answered with messages, and how few passed the client's filter."""
        return [
            event
            for event in self.view.of_kind("pull-counts-observed", until=self.at)
            if event.data["consumer"] in consumers
            and event.data["topic"] == self.message.topic
            and event.n > self.message.event.n
        ][-1:]

    def _made(
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
        last = self.at if until is None else until
        if owner is None:
            owner = ", ".join(self._owners(last)) or None
        if stored is None:
            known = list(self._stored_between(self.message.event.n, last))
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


def _client_id(view: RunView, consumer: str) -> str:
    started = [event for event in view.of_kind("consumer-started") if event.node == consumer]
    return str(started[-1].data["client_id"]) if started else consumer
