"""`several-owners`: how many queues several members of a group own at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.assertions.base import Answer, Count
from rocketchaos.assertions.view import RunView, owned_queues
from rocketchaos.harness.core.events.observed import OwnershipObserved
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.words import GroupName, MomentName, TopicName

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


class SeveralOwners(Count):
    """The number of queues that several online members of the group own at the same time.

    Ownership is what each client itself reports (request code 307). Members that share all queues by design
    (broadcasting, POP, gRPC) don't count.
    """

    word = "several-owners"
    example = "several-owners: {group: g, topic: orders, count: 0}"

    group: GroupName = Field(description="the group")
    topic: TopicName = Field(description="the topic")

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        brokers = len(scenario.brokers_of(self.topic))
        number = max(topic.read_queues for topic in scenario.topic_in_time(self.topic)) * brokers
        if self.asks_for_more(number):
            yield f"{self.how_many('queue')} with several owners: {self.topic} has {number}"

    def title(self) -> str:
        return f"queues of {self.topic} with several owners in {self.group}"

    def evaluate(self, view: RunView) -> Answer:
        expected = f"{self.how_many('queue')} with several owners"
        end = view.end_of(self.at)
        if end is None:
            return Answer(None, expected, f"the observation `{self.at}` was not made")
        members = [name for name in view.online(end, self.group) if has_queues_of_its_own(view, name)]
        seen = {
            event.body.consumer: event
            for event in view.observed(OwnershipObserved, self.at, group=self.group)
        }
        missing = tuple(name for name in members if name not in seen)
        if missing or not members:
            why = f"not observed at `{self.at}`: {', '.join(missing) or 'any member with queues of its own'}"
            return Answer(None, expected, view.why_not_owned(missing, why))
        if not any(self.topic in view.own_subscriptions.topics(name, end) for name in members):
            return Answer(None, expected, f"no member of {self.group} subscribes to {self.topic}")
        owners = owners_of(view, self.group, self.topic, self.at, end)
        several = {queue: events for queue, events in owners.items() if len(events) > 1}
        texts = [
            f"{queue} by {' and '.join(event.body.consumer for event in events)}"
            for queue, events in list(several.items())[:5]
        ]
        observed = f"{len(several)} of {len(owners)} owned" + (f": {'; '.join(texts)}" if texts else "")
        return Answer(self.fits(len(several)), expected, observed, [seen[name].n for name in members])


def has_queues_of_its_own(view: RunView, consumer: str) -> bool:
    """Whether no queue that it consumes is meant to have a second owner."""
    shared = view.traits(consumer).queues == "shared"
    return not shared and view.scenario.consumers[consumer].model != "broadcasting"


def owners_of(
    view: RunView, group: str, topic: str, at: MomentName, end: int
) -> Mapping[str, list[Event[OwnershipObserved]]]:
    """By queue, the looks that show an owner of it: those at an observation, which closes with event `end`."""
    owners: dict[str, list[Event[OwnershipObserved]]] = {}
    for name in view.online(end, group):
        if has_queues_of_its_own(view, name):
            for event in view.observed(OwnershipObserved, at, consumer=name)[-1:]:
                for queue in owned_queues(event, topic):
                    owners.setdefault(queue, []).append(event)
    return owners
