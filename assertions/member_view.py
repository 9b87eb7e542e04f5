"""The consumers of a run: their subscriptions, when they were online, and their queues."""

from functools import cached_property

from rocketchaos.assertions.queues import owned_queues
from rocketchaos.assertions.subscribed import KINDS, OwnSubscriptions
from rocketchaos.assertions.traits_view import TraitsView
from rocketchaos.harness.core.events.clients import (
    ConsumerStarted,
    ConsumerStarting,
    ConsumerStopped,
    HandMadeClosed,
    HeartbeatSent,
)
from rocketchaos.harness.core.events.observed import OwnershipObserved
from rocketchaos.harness.core.events.run import Bound, TopicCreated
from rocketchaos.harness.core.events.servers import FaultEffective, TopicConfigured
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.expressions import text_of
from rocketchaos.harness.language.fault_effects import KILLS
from rocketchaos.harness.language.tags import tags_of
from rocketchaos.harness.language.words import of_a_variable
from rocketchaos.harness.rocketmq.allocation import Queue


class MemberView(TraitsView):
    """A run's consumers, and the members that were made by hand."""

    def consumers(self, target: str) -> tuple[str, ...] | None:
        """The consumers that a target stands for; None for a variable that was never bound."""
        if of_a_variable(target):
            bound = [event for event in self.of_kind(Bound) if event.body.variable == target[1:]]
            return tuple(bound[-1].body.consumers) if bound else None
        if target in self.scenario.consumers:
            return (target,)
        return self.scenario.members(target)

    def expression(self, tag: str, topic: str) -> str | None:
        """A literal tag as it is; for `$holder.tag` that consumer's expression for `topic` when it was bound."""
        if not of_a_variable(tag):
            return tag
        consumers = self.consumers(tag.removesuffix(".tag"))
        if not consumers:
            return None
        variable = tag[1:].removesuffix(".tag")
        bound = [event.n for event in self.of_kind(Bound) if event.body.variable == variable]
        expression = self.own_subscriptions.at(consumers[0], bound[-1]).get(topic)
        return None if expression is None else text_of(expression)

    @cached_property
    def own_subscriptions(self) -> OwnSubscriptions:
        """What the consumers themselves subscribed to, all through the run."""
        declared = {name: spec.subscribe for name, spec in self.scenario.consumers.items()}
        return OwnSubscriptions(declared, [event for event in self.events if event.kind in KINDS])

    def real_topic(self, topic: str) -> str:
        """A topic's name at the brokers, by which some strategies allocate its queues."""
        reals = [event.body.real for event in self.of_kind(TopicCreated) if event.body.topic == topic]
        return str(reals[-1]) if reals else topic

    def pulled_queues(self, topic: str, at: int, seen: list[Queue]) -> list[Queue]:
        """The queues of a topic that are allocated at event `at`; `seen` are the observed ones.

        Brokers list all queues that are written, and consumers pull those that are read.
        """
        changed = [item.body for item in self.of_kind(TopicConfigured, until=at) if item.body.topic == topic]
        declared = self.scenario.topic(topic)
        if not changed and not declared.settings:
            return seen
        now = declared.changed(changed[-1].settings) if changed else declared
        return [(broker, n) for broker in self.scenario.brokers_of(topic) for n in range(now.read_queues)]

    def client_id(self, consumer: str) -> str:
        """The last client id of a consumer at the brokers; its name if it never started."""
        started = [event for event in self.of_kind(ConsumerStarted) if event.node == consumer]
        return started[-1].body.client_id if started else consumer

    def tags(self, tag: str, topic: str) -> frozenset[str] | None:
        """The tags that a reference means: a literal one, or all to which a bound consumer subscribes."""
        expression = self.expression(tag, topic)
        if expression is None:
            return None
        return tags_of(expression) if of_a_variable(tag) else frozenset({tag})

    @cached_property
    def _lives(self) -> list[tuple[int, str, bool]]:
        """The changes of consumers: event number, consumer, whether it is online from there on."""
        lives = [(event.n, event.node, True) for event in self.of_kind(ConsumerStarted)]
        lives += [(event.n, event.node, False) for event in self.of_kind(ConsumerStopped)]
        lives += [
            (event.n, event.body.target, False)
            for event in self.of_kind(FaultEffective)
            if event.body.fault in KILLS
        ]
        return sorted(lives)

    def online(self, at: int, group: str) -> list[str]:
        """Members of a group that have started, and have neither stopped nor been killed, by event `at`."""
        online = {name: is_online for number, name, is_online in self._lives if number <= at}
        return [name for name in self.scenario.members(group) if online.get(name)]

    def online_throughout(self, group: str, first: int, last: int) -> list[str]:
        """Members of a group that were online all the time from event `first` to `last`, and never went."""
        went = {name for number, name, is_online in self._lives if not is_online and first < number <= last}
        return [name for name in self.online(first, group) if name not in went]

    def online_between(self, group: str, first: int, last: int) -> list[str]:
        """Members of a group that were online at any time from event `first` to `last`.

        From the beginning of their start on: a client may ask for messages before its start has returned.
        """
        lives = self._lives + [(event.n, event.node, True) for event in self.of_kind(ConsumerStarting)]
        came = {name for number, name, is_online in lives if is_online and first < number <= last}
        return [name for name in self.scenario.members(group) if name in {*came, *self.online(first, group)}]

    def hand_made_ids(self, group: str, at: int) -> list[str]:
        """The client ids of the hand-made members of a group by event `at`."""
        sent = [item for item in self.of_kind(HeartbeatSent, until=at) if item.body.group == group]
        online = {event.node: event for event in sent}
        for event in self.of_kind(HandMadeClosed, until=at):
            if event.node in online and online[event.node].n < event.n:
                del online[event.node]
        return [event.body.client_id for event in online.values()]

    def ever_started(self, consumer: str) -> bool:
        """Whether the consumer has started at all."""
        return any(event.node == consumer for event in self.of_kind(ConsumerStarted))

    def ownership(self, group: str, at: int) -> dict[str, Event[OwnershipObserved]]:
        """The last observed assignment of each member online at event `at`, by consumer."""
        online = set(self.online(at, group))
        last: dict[str, Event[OwnershipObserved]] = {}
        for event in self.of_kind(OwnershipObserved, until=at):
            if event.body.group == group and event.body.consumer in online:
                last[event.body.consumer] = event
        return last

    def queues_owned(self, target: str, topic: str, at: int) -> frozenset[str] | None:
        """The queues of a topic that these consumers owned when last observed by event `at`.

        None: it is a variable that was never bound, or one of them was never observed, or one owns no queue
        because it is served from all.
        """
        consumers = self.consumers(target)
        if any(self.traits(name).queues == "shared" for name in consumers or ()):
            return None
        last = {
            event.body.consumer: event
            for event in self.of_kind(OwnershipObserved, until=at)
            if event.body.consumer in (consumers or ())
        }
        if not consumers or len(last) < len(consumers):
            return None
        return frozenset(queue for event in last.values() for queue in owned_queues(event, topic))
