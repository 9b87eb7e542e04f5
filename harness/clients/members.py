"""Who is in which group, as a run's steps have left it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketchaos.harness.clients.consumer import Consumer
from rocketchaos.harness.clients.producer import Producer

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


@dataclass(frozen=True, slots=True)
class Members:
    """The clients of a run, by name and by group."""

    scenario: Scenario
    consumers: Mapping[str, Consumer]
    producers: Mapping[str, Producer]

    def client(self, name: str) -> Consumer | Producer:
        """A consumer or a producer, by the name that steps have for it."""
        return self.producers.get(name) or self.consumers[name]

    def producer(self, name: str) -> Producer:
        """A producer, by the name that steps have for it."""
        return self.producers[name]

    def online(self, group: str) -> tuple[str, ...]:
        """Members that were started, and neither stopped nor killed; paused ones count."""
        return tuple(name for name in self.scenario.members(group) if self.consumers[name].started)

    def running(self) -> tuple[Consumer, ...]:
        """Started consumers that can answer: neither stopped, killed nor paused."""
        return tuple(each for each in self.consumers.values() if each.started and not each.paused)

    def topics_of(self, group: str) -> tuple[str, ...]:
        """The topics to which any member of the group subscribes, or has subscribed.

        For a group without members, all that exist: any of them may be what raw requests are about. The same for
        one with a user's program of which nothing is known yet.
        """
        own = [self.consumers[name].topics for name in self.scenario.members(group)]
        if not own or not all(own):
            return tuple(self.scenario.topics)
        return tuple(dict.fromkeys(topic for topics in own for topic in topics))

    def held_by(self, group: str, *, brokers: bool) -> tuple[str, ...]:
        """The members that are held by brokers, or else by a proxy that is a server of its own.

        A group without members is held by brokers: raw requests and hand-made heartbeats go there.
        """
        members = self.scenario.members(group)
        if not members:
            return (group,) if brokers else ()
        return tuple(name for name in members if self.consumers[name].spec.needs_proxy is not brokers)
