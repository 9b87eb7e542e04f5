"""One message, one group, one moment: what the history proves about it. Pure.

Knowledge is bracketed. A broker's stored subscription changes only to a higher subVersion, or vanishes
(`ConsumerGroupInfo.updateSubscription`, RocketMQ 4.9.4 and 5.3.3), and a member whose queues change raises its own
(`RebalancePushImpl.messageQueueChanged`). So a look before the sending and one after the passing that show the
same subVersion prove what was so in between; a single look proves nothing. Of the queues of members that don't
raise theirs see `assertions.membership`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rocketchaos.assertions.between import bracket, is_bracket
from rocketchaos.assertions.membership import membership_stayed
from rocketchaos.assertions.set_offsets import set_by_tools
from rocketchaos.assertions.view import RunView, Sent, owned_queues
from rocketchaos.harness.core.events.clients import ConsumerStarting, Sought
from rocketchaos.harness.core.events.messages import OffsetsReset
from rocketchaos.harness.core.events.observed import (
    OwnershipObserved,
    PullCountsObserved,
    SubscriptionObserved,
)
from rocketchaos.harness.core.events.run import StepStarted
from rocketchaos.harness.core.model import Event, MessageClass, MessageFate
from rocketchaos.harness.language.consumer_spec import Consumer
from rocketchaos.harness.language.expressions import Expression, text_of
from rocketchaos.harness.language.tags import stored_matches
from rocketchaos.harness.rocketmq.client_kinds import Api

LONGEST_PULL_MS = 30_000
"""A client waits so long for the answer to a pull (CONSUMER_TIMEOUT_MILLIS_WHEN_SUSPEND, 4.9.4 and 5.3.3)."""


def in_words(expressions: Iterable[Expression]) -> str:
    """Expressions as text for a message: `'tagA' and 'tagB'`."""
    return " and ".join(repr(text_of(expression)) for expression in expressions)


@dataclass(frozen=True, slots=True)
class Stored:
    """A subscription that a broker provably held, and the looks that prove it."""

    expression: str
    matches: bool | None
    """Whether it lets the message pass; None: it is SQL."""
    observations: Sequence[Event]


@dataclass(frozen=True, slots=True)
class Case:
    """The facts about `message` for `group` at event `at`."""

    view: RunView
    group: str
    message: Sent
    at: int

    def spec(self, consumer: str) -> Consumer:
        """The consumer's entry in the scenario."""
        return self.view.scenario.consumers[consumer]

    def traits(self, consumer: str) -> Api:
        """How a consumer's client consumes."""
        return self.view.traits(consumer)

    def own_expressions(self, consumer: str, passed: Event) -> list[Expression]:
        """By what the consumer may have asked for the message: its own expressions from sending to passing.

        And those that it had when a pull began that was still held at the sending: with a pull goes the
        expression of its beginning (`DefaultMQPushConsumerImpl.pullMessage`, 4.9.4 and 5.3.3).
        """
        first = self.message.invoked_n
        for changed in self.view.own_subscriptions.changes_while_running(consumer, first):
            if self.view.ms_between(changed, first) < LONGEST_PULL_MS:
                first = changed - 1  # what it had before the earliest of them
                break
        found = self.view.own_subscriptions.between(consumer, self.message.topic, first, passed.n)
        return [item for item in found if item is not None]

    def own_unknown(self, consumers: Iterable[str], until: int) -> list[str]:
        """The consumers among these with an unknown subscription: programs that the harness only sees from
        outside."""
        return [
            name
            for name in self.view.seen_from_outside(consumers)
            if not self.view.own_subscriptions.says_itself(name, until)
        ]

    def asking(self, passed: Event) -> list[str]:
        """The members that may have asked for messages of its topic from the sending to the passing.

        With those that went so shortly before that the broker may have held what they had asked.
        """
        sent_ns = self.message.event.mono_ns
        since = next(
            (event.n for event in self.view.events if (sent_ns - event.mono_ns) / 1e6 < LONGEST_PULL_MS),
            self.message.invoked_n,
        )
        return [
            name
            for name in self.view.online_between(self.group, min(since, self.message.invoked_n) - 1, passed.n)
            if self.own_expressions(name, passed)
        ]

    def observations_of_stored(self, until: int) -> list[Event[SubscriptionObserved]]:
        """The last look at the broker's entry before the sending, those up to `until`, and the next one."""
        broker = self.message.queue.rpartition(":")[0]
        return bracket(
            [
                event
                for event in self.view.of_kind(SubscriptionObserved)
                if event.body.group == self.group and event.body.broker == broker
            ],
            self.message.invoked_n,
            until,
        )

    def stored(self, until: int) -> Stored | None:
        """The subscription that the broker held all the time from the sending to event `until`; None if that isn't
        proven."""
        observations = self.observations_of_stored(until)
        held = [event.body.subscriptions.get(self.message.topic) for event in observations]
        entries = [entry for entry in held if entry is not None]
        if not is_bracket(observations, self.message.invoked_n, until) or len(entries) < len(held):
            return None
        if len({entry.sub_version for entry in entries}) != 1:
            return None
        matches = stored_matches(entries[0], self.message.tag)
        return Stored(entries[0].expression, matches, [observations[0], observations[-1]])

    def last_stored(self) -> str | None:
        """The subscription that the broker held at the last look. None: it held none for the topic, or nobody
        looked."""
        observations = [event for event in self.observations_of_stored(self.at) if event.n <= self.at]
        entry = observations[-1].body.subscriptions.get(self.message.topic) if observations else None
        return None if entry is None else entry.expression

    def refused_observations(self) -> list[Event[SubscriptionObserved]]:
        """The looks since the send at which the broker stored no subscription of the group to the topic."""
        return [
            event
            for event in self.observations_of_stored(self.at)
            if self.message.invoked_n < event.n <= self.at
            and event.body.online
            and self.message.topic not in event.body.subscriptions
        ][:2]

    def owners(self, until: int) -> dict[str, list[Event[OwnershipObserved]]]:
        """Who owned the queue all the time from the sending to event `until`, with the looks that prove it.

        Several only where members allocate by different strategies.
        """
        found = {}
        for member in self.view.scenario.members(self.group):
            if self.traits(member).queues == "shared":
                continue
            observations = bracket(
                [event for event in self.view.of_kind(OwnershipObserved) if event.body.consumer == member],
                self.message.invoked_n,
                until,
            )
            if not is_bracket(observations, self.message.invoked_n, until) or not all(
                map(self._owns, observations)
            ):
                continue
            versions = {_version(event, self.message.topic) for event in observations}
            raises = self.traits(member).raises_version
            if len(versions) == 1 and (
                raises
                or membership_stayed(self.view, self.group, observations[0].n, until, observations[-1].n)
            ):
                found[member] = [observations[0], observations[-1]]
        return found

    def _owns(self, event: Event[OwnershipObserved]) -> bool:
        return self.message.queue in owned_queues(event, self.message.topic)

    def reset_beyond(self, until: int) -> Event | None:
        """The last step that set an offset in its queue by event `until`, where that was past the message.

        That is a `reset-offset` of the group, or a `seek` of a member.
        """
        resets: list[tuple[Event, bool]] = [
            (event, queue.offset > self.message.offset)
            for event in self.view.of_kind(OffsetsReset, until=until)
            if (event.body.group, event.body.topic) == (self.group, self.message.topic)
            for queue in event.body.queues
            if queue.name == self.message.queue
        ]
        resets += [
            (event, self._is_behind(event))
            for event in self.view.of_kind(Sought, until=until)
            if event.body.topic == self.message.topic
            and event.node in self.view.scenario.members(self.group)
            and self.message.queue in [queue.name for queue in event.body.queues]
        ]
        last, beyond = max(resets, key=lambda reset: reset[0].n, default=(None, False))
        return last if beyond else None

    def _is_behind(self, seek: Event[Sought]) -> bool:
        """Whether the message is before the position that a member took."""
        if seek.body.to == "end":
            return self.message.event.n < seek.n
        return seek.body.to != "begin" and int(seek.body.to) > self.message.offset

    def set_by_a_tool(self, until: int) -> Event | None:
        """The last request or command of a tool that sets offsets, and doesn't say to what, after the sending.

        Its event follows what it did, so the beginning of its step counts.
        """
        begun = [event.n for event in self.view.of_kind(StepStarted)]
        found = [
            event
            for event in set_by_tools(self.view, self.group)
            if event.n > self.message.event.n
            and max((number for number in begun if number < event.n), default=0) < until
        ]
        return max(found, key=lambda event: event.n, default=None)

    def pull_counts(self, consumer: str) -> Event[PullCountsObserved] | None:
        """A client's own counts after the sending: pulls answered with messages, and what passed its filter."""
        events = [
            event
            for event in self.view.of_kind(PullCountsObserved, until=self.at)
            if event.body.consumer == consumer
            and event.body.topic == self.message.topic
            and event.n > self.message.event.n
        ]
        return events[-1] if events else None

    def got_what_came(self, consumer: str, counts: Event[PullCountsObserved]) -> bool:
        """Whether the client's filter let through exactly the messages that its listener got, since its process
        started."""
        starts = [
            event.n for event in self.view.of_kind(ConsumerStarting, until=counts.n) if event.node == consumer
        ]
        got = [
            delivery
            for delivery in self.view.deliveries(counts.n, [consumer])
            if delivery.event.n > (starts[-1] if starts else 0)
            and delivery.topic == self.message.topic
            and delivery.reconsume_times == 0
        ]
        return len(got) == counts.body.passed_messages

    def made(
        self,
        message_class: MessageClass,
        reason: str,
        proof: Sequence[Event],
        *,
        got: tuple[str, ...] = (),
        owner: str | None = None,
        stored: str | None = None,
        not_before_ns: int | None = None,
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
            not_before_ns=not_before_ns,
        )

    def undetermined(
        self,
        reason: str,
        proof: Sequence[Event],
        *,
        owner: str | None = None,
        stored: str | None = None,
        not_before_ns: int | None = None,
    ) -> MessageFate:
        """The history can't decide."""
        return self.made(
            MessageClass.UNDETERMINED,
            reason,
            proof,
            owner=owner,
            stored=stored,
            not_before_ns=not_before_ns,
        )


def _version(observation: Event[OwnershipObserved], topic: str) -> int | None:
    own = observation.body.subscriptions.get(topic)
    return None if own is None else own.sub_version
