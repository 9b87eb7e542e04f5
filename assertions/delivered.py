"""`delivered`: how many messages reached somebody's listener."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from rocketchaos.assertions.attempts import awaiting_retry, retries_to_come, whose_retries_reach
from rocketchaos.assertions.base import Answer, CountSoFar
from rocketchaos.assertions.chosen import of_none
from rocketchaos.assertions.completeness import still_possible
from rocketchaos.assertions.implied import spans
from rocketchaos.assertions.nothing_sent import held_back, nothing_sent
from rocketchaos.assertions.oracle import fates
from rocketchaos.assertions.reach import Reach, reach_of
from rocketchaos.assertions.too_early import TooEarly, latest
from rocketchaos.assertions.view import Delivery, RunView, Sent, owned_queues
from rocketchaos.harness.core.events.clients import ConsumerRefused
from rocketchaos.harness.core.events.observed import OwnershipObserved
from rocketchaos.harness.core.model import MessageClass, MessageFate
from rocketchaos.harness.core.text import counted
from rocketchaos.harness.language.words import ConsumerRef, MomentName, TagRef, Target, TopicName

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


class Delivered(CountSoFar):
    """The number of different messages that reached the listeners of these consumers.

    A message that a listener got twice counts once. If fewer came than stated, or none may come, the answer
    is unknown until it is certain that no more will come. It is certain in three cases: all that were sent
    have come; the group's offsets have passed all messages and none waits for a retry; or nothing has
    happened for longer than anything can be under way (6 s; 30 s with RocketMQ's own timers; longer after the
    kill of an orderly consumer), with no member paused and no node away. If only time is missing at the end
    of the steps, the run waits for it.
    """

    word = "delivered"
    example = "delivered: {to: $holder, count: 4, from_queues_of: $holder}"

    to: Target = Field(description="whose listeners: a consumer, a group, or a variable")
    topic: TopicName | None = Field(default=None, description="only messages of this topic")
    tag: TagRef | None = Field(default=None, description="only messages of this tag")
    sent_after: MomentName | None = Field(
        default=None, description="only messages that were sent after this observation"
    )
    from_queues_of: ConsumerRef | None = Field(
        default=None, description="in addition, each of them came from a queue that this consumer owns"
    )

    @model_validator(mode="after")
    def _queues_of_some(self) -> Delivered:
        if self.states_none and self.from_queues_of is not None:
            raise ValueError("where no message comes none has a queue: leave out `from_queues_of`")
        return self

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        sent = scenario.most_sent(self.topic, self.tag)
        if self.asks_for_more(sent):
            send = scenario.steps_send(self.topic, self.tag)
            yield f"{self.how_many()} delivered: {send} such messages, and a repeat counts once"
        elif not self.asks_for_some:
            yield from of_none(scenario, self.topic, self.tag)

    def doubts(self, scenario: Scenario) -> Iterator[str]:
        yield from self.always(scenario.most_sent(self.topic, self.tag))

    def reach(self, scenario: Scenario) -> Reach | None:
        to = (self.to,) if self.to in scenario.consumers else scenario.members(self.to)
        if self.from_queues_of is not None or self.so_far or not to:
            return None
        topics = scenario.topics if self.topic is None else (self.topic,)
        looks = (self.sent_after, self.at)
        return reach_of(scenario, to, topics, self.tag, looks, lambda _total: spans(self)[""])

    def title(self) -> str:
        return f"delivered to {self.to}"

    def evaluate(self, view: RunView) -> Answer:
        expected = f"{self.how_many('message')} delivered to {self.to}"
        if self.from_queues_of:
            expected += f", all from queues of {self.from_queues_of}"
        at = view.end_of(self.at)
        consumers = view.consumers(self.to)
        begin = 0 if self.sent_after is None else view.end_of(self.sent_after)
        if consumers is None:
            return Answer(None, expected, f"{self.to} was never bound")
        if at is None or begin is None:
            missing = self.at if at is None else self.sent_after
            return Answer(None, expected, f"the observation `{missing}` was not made")
        sent = self._sent(view, begin, at)
        if not sent:
            held = held_back(view, self.topic, self.tag, at) if self.so_far else []
            if held:
                observed = f"0 of {counted(len(held), 'message')}: brokers hold back what they acknowledged"
                return Answer(self.fits(0), expected, observed, [event.n for event in held])
            return nothing_sent(view, expected, self.topic, self.tag, at)
        if not any(view.ever_started(consumer) for consumer in consumers):
            return self._of_none(view, at, expected, consumers, len(sent))
        keys = {message.key for message in sent}
        got = [delivery for delivery in view.deliveries(at, consumers) if delivery.key in keys]
        return self._judge(view, at, expected, sent, got)

    def _of_none(self, view: RunView, at: int, expected: str, consumers: Sequence[str], sent: int) -> Answer:
        """Nobody has started: where RocketMQ has refused each start, that is why nothing came."""
        refused = {event.node: event.n for event in view.of_kind(ConsumerRefused, until=at)}
        if not consumers or not refused.keys() >= set(consumers) or self.from_queues_of is not None:
            return Answer(None, expected, f"{', '.join(consumers) or self.to} never started")
        observed = f"0 of {sent} sent: the start of {', '.join(consumers)} was refused"
        return Answer(self.fits(0), expected, observed, [refused[consumer] for consumer in consumers])

    def _sent(self, view: RunView, begin: int, at: int) -> list[Sent]:
        return [
            message
            for message in view.sent_until(at)
            if message.event.n > begin
            and self.topic in (None, message.topic)
            and (self.tag is None or message.tag in (view.tags(self.tag, message.topic) or ()))
        ]

    def _judge(self, view: RunView, at: int, expected: str, sent: list[Sent], got: list[Delivery]) -> Answer:
        consumers = view.consumers(self.to) or ()
        number = len(view.delivered(at, consumers) & {message.key for message in sent})
        observed = f"{number} of {len(sent)} sent" + _spread(got)
        if len(got) > number:
            observed += f"; {len(got) - number} deliveries were repeats"
        proof = [delivery.event.n for delivery in got] or [message.event.n for message in sent]
        if self.fits(number) and self.from_queues_of is not None:
            strays = self._strays(view, at, got)
            if strays is None:
                why = f"the queues of {self.from_queues_of} were not observed"
                why = view.why_not_owned(view.consumers(self.from_queues_of) or (), why)
                return Answer(None, expected, f"{observed}; {why}")
            if strays:
                return Answer(
                    False, expected, observed + f"; not from its queues: {', '.join(strays)}", proof
                )
        if not got and self.fits(0) and self.from_queues_of is not None:
            return Answer(None, expected, f"{observed}; none came whose queue could be known", proof)
        if number < len(sent) and not self.is_final(number):
            why_not = None if self.so_far else self._more_to_come(view, sent, got, at)
            if why_not is not None:
                return Answer(None, expected, f"{observed}; {why_not}", proof, too_early=why_not)
            unsure = self._without_a_line(view, sent, got, at)
            if any(self.fits(number + more) != self.fits(number) for more in range(1, len(unsure) + 1)):
                why_not = TooEarly(
                    f"{len(unsure)} more may have been: {unsure[0].reason}",
                    latest(fate.not_before_ns for fate in unsure),
                )
                return Answer(None, expected, f"{observed}; {why_not}", proof, too_early=why_not)
        return Answer(self.fits(number), expected, observed, proof)

    def _without_a_line(
        self, view: RunView, sent: list[Sent], got: list[Delivery], at: int
    ) -> list[MessageFate]:
        """Messages that programs may have handled without printing it, with the reason why that is unknown."""
        silent = view.seen_from_outside(view.consumers(self.to) or ())
        groups = {view.scenario.consumers[name].group for name in silent}
        missing = {message.key for message in sent} - {delivery.key for delivery in got}
        return [
            fate
            for fate in (fates(view, at) if groups and missing else ())
            if fate.group in groups
            and fate.key in missing
            and fate.message_class is MessageClass.UNDETERMINED
        ]

    def _more_to_come(self, view: RunView, sent: list[Sent], got: list[Delivery], at: int) -> TooEarly | None:
        """Why more may come: by what still waits, or as a retry, which any member of the group may get."""
        groups = [view.scenario.consumers[name].group for name in view.consumers(self.to) or ()]
        why_not = still_possible(view, groups, sent, at)
        if why_not is not None:
            return why_not
        missing = {message.key for message in sent} - {delivery.key for delivery in got}
        for group in dict.fromkeys(other for name in groups for other in whose_retries_reach(view, name)):
            if missing & set(awaiting_retry(view, group, at)):
                why_not = retries_to_come(view, group, self.at, at)
                if why_not is not None:
                    return why_not
        return None

    def _strays(self, view: RunView, at: int, got: list[Delivery]) -> list[str] | None:
        """Queues of deliveries that the consumer of `from_queues_of` didn't own then; None: not observed."""
        owners = view.consumers(str(self.from_queues_of)) or ()
        strays: set[str] = set()
        for delivery in got:
            owned = [_owned_at(view, owner, delivery, at) for owner in owners]
            known = [queues for queues in owned if queues is not None]
            if not known:
                return None
            if not any(delivery.queue in queues for queues in known):
                strays.add(delivery.queue)
        return sorted(strays)


def _owned_at(view: RunView, owner: str, delivery: Delivery, at: int) -> list[str] | None:
    """What a consumer owned of the topic when the message came: as last seen before, or first after."""
    if view.traits(owner).queues == "shared":
        return None
    observations = [
        event for event in view.of_kind(OwnershipObserved, until=at) if event.body.consumer == owner
    ]
    before = [event for event in observations if event.n < delivery.event.n]
    nearest = before[-1:] or observations[:1]
    return owned_queues(nearest[0], delivery.topic) if nearest else None


def _spread(got: list[Delivery]) -> str:
    """`: a 3 (broker-a:0, broker-a:1), b 5 (...)`."""
    parts = []
    for consumer in sorted({delivery.consumer for delivery in got}):
        mine = [delivery for delivery in got if delivery.consumer == consumer]
        queues = ", ".join(sorted({delivery.queue for delivery in mine}))
        parts.append(f"{consumer} {len({delivery.key for delivery in mine})} (from {queues})")
    return ": " + ", ".join(parts) if parts else ""
