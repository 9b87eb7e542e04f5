"""The oracle: what became of every message for every group, and which events prove it. Pure.

A message that no listener got has one of these fates. Where the group's offset has passed it, a filter took
it, or it is lost: the broker's filter if the stored subscription doesn't match its tag, the client's if the
stored one matches and the own subscription of the queue's owner doesn't. Where the offset hasn't passed it, it
waits: stranded if no member consumes its queue, in flight otherwise.

Knowledge is bracketed. What a broker holds changes only to a higher subVersion, or vanishes
(`ConsumerGroupInfo.updateSubscription`, RocketMQ 4.9.4 and 5.3.3), and a member whose queues change raises its own
(`RebalancePushImpl.messageQueueChanged`). So a look before the sending and one after the passing that show the
same subVersion prove what was so in between; a single look proves nothing. Where the history has no such bracket
the message is undetermined, and the reason says what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
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


_REFUSED = (
    "; but at times the broker holds no subscription of the group for the topic, as a heartbeat of a member that "
    "doesn't subscribe to it removes it, and refuses the owner's pulls then (code 24)"
)


@dataclass(frozen=True, slots=True)
class _Stored:
    """What a broker is proven to have held, and the looks that prove it."""

    expression: str
    codes: tuple[int, ...]
    looks: list[Event]


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
        # The first delivery itself proves who owned the queue; what was stored then only a bracket can.
        stored = self._stored(got[0].event.n)
        return self._made(
            made, reason, proof, got=names, owner=names[0], stored=stored.expression if stored else None
        )

    def _passed(self, passed: Event) -> MessageFate:
        stored = self._stored(passed.n)
        if stored is None:
            looks = self._looks_at_stored(passed.n)
            return self._made(
                MessageClass.UNDETERMINED,
                "the offset passed it, but no two looks, before the sending and after the passing, show the same "
                "stored subscription",
                [passed, *looks],
            )
        if not broker_matches(stored.expression, stored.codes, self.message.tag):
            return self._made(
                MessageClass.FILTERED_BY_BROKER,
                f"the broker held {stored.expression!r} and passed over tag {self.message.tag!r}",
                [passed, *stored.looks],
                stored=stored.expression,
            )
        return self._sent_to_owner(passed, stored)

    def _sent_to_owner(self, passed: Event, stored: _Stored) -> MessageFate:
        """The broker's filter let it pass, so the queue's owner was sent it."""
        proof = [passed, *stored.looks]
        held = f"the broker held {stored.expression!r}, which matches"
        owned = self._owner(passed.n)
        if owned is None:
            return self._made(
                MessageClass.UNDETERMINED,
                f"{held}, and the offset passed it; but no two looks, before the sending and after the passing, "
                "show the same owner of its queue",
                proof,
                stored=stored.expression,
            )
        owner, looks = owned
        own = self.view.scenario.consumers[owner].subscribe[self.message.topic]
        if client_matches(own, self.message.tag):
            return self._made(
                MessageClass.LOST,
                f"{held}, {owner} owned the queue and its own {own!r} matches too; the offset passed it, and no "
                "listener got it",
                proof + looks,
                owner=owner,
                stored=stored.expression,
            )
        counts = self._pull_counts(owner)
        counted = "".join(
            f" ({owner} was answered {event.data['found_pulls']} pulls with messages and let "
            f"{event.data['passed_messages']} through)"
            for event in counts
        )
        return self._made(
            MessageClass.FILTERED_BY_CLIENT,
            f"the broker held {stored.expression!r} and sent it to the queue's owner; {owner} subscribes {own!r}, "
            f"and its client dropped it{counted}",
            proof + looks + counts,
            owner=owner,
            stored=stored.expression,
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
            refused = self._refused_looks()
            return self._made(
                MessageClass.IN_FLIGHT,
                f"it waits ahead of the group's offset for {', '.join(owners)}, which owns the queue"
                + (_REFUSED if refused else ""),
                [ownership[name] for name in owners] + refused,
                owner=", ".join(owners),
                stored=self._last_stored(),
            )
        if missing:
            return self._made(
                MessageClass.UNDETERMINED,
                f"it waits ahead of the group's offset, and the queues of {', '.join(missing)} were not observed",
                list(ownership.values()),
            )
        return self._stranded(online, list(ownership.values()))

    def _refused_looks(self) -> list[Event]:
        """Looks since the sending at which the broker held nothing of the group for the topic."""
        return [
            event
            for event in self._looks_at_stored(self.at)
            if self.message.invoked_n < event.n <= self.at
            and event.data["online"]
            and self.message.topic not in event.data["subscriptions"]
        ][:2]

    def _last_stored(self) -> str | None:
        """What the broker was last seen to hold; None: nothing for the topic, or not seen."""
        looks = [event for event in self._looks_at_stored(self.at) if event.n <= self.at]
        entry = looks[-1].data["subscriptions"].get(self.message.topic) if looks else None
        return None if entry is None else str(entry["expression"])

    def _stranded(self, online: list[str], proof: list[Event]) -> MessageFate:
        on_paper = self._owner_on_paper(online)
        whose = f": on paper it belongs to {on_paper}" if on_paper else ""
        return self._made(
            MessageClass.STRANDED,
            f"no member consumes its queue{whose}, which doesn't consume it",
            proof,
            owner=on_paper,
            stored=self._last_stored(),
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

    def _looks_at_stored(self, until: int) -> list[Event]:
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

    def _stored(self, until: int) -> _Stored | None:
        """What the broker held all the time from the sending to event `until`; None where that isn't proven."""
        looks = self._looks_at_stored(until)
        entries = [event.data["subscriptions"].get(self.message.topic) for event in looks]
        if not _is_bracket(looks, self.message.invoked_n, until) or None in entries:
            return None
        if len({entry["sub_version"] for entry in entries}) != 1:
            return None
        return _Stored(entries[0]["expression"], tuple(entries[0]["codes"]), [looks[0], looks[-1]])

    def _owner(self, until: int) -> tuple[str, list[Event]] | None:
        """The member that owned the queue all the time from the sending to event `until`; None: not proven."""
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
            if len(versions) == 1 and None not in versions:
                return member, [looks[0], looks[-1]]
        return None

    def _owns(self, event: Event) -> bool:
        return self.message.queue in owned_queues(event, self.message.topic)

    def _pull_counts(self, consumer: str) -> list[Event]:
        """The client's own counts: pulls answered with messages, and how few passed the client's filter."""
        return [
            event
            for event in self.view.of_kind("pull-counts-observed", until=self.at)
            if event.data["consumer"] == consumer
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
    ) -> MessageFate:
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


def _bracket(looks: Sequence[Event], begin: int, end: int) -> list[Event]:
    """The last look before event `begin`, those between, and the first one after event `end`."""
    before = [event for event in looks if event.n < begin][-1:]
    between = [event for event in looks if begin <= event.n <= end]
    after = [event for event in looks if event.n > end][:1]
    return before + between + after


def _is_bracket(looks: Sequence[Event], begin: int, end: int) -> bool:
    return bool(looks) and looks[0].n < begin and looks[-1].n > end
