"""`delete-topic`: a topic goes away while its clients run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.harness.core.events.servers import TopicDeleted
from rocketchaos.harness.language.words import TopicName
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.steps.context import StepContext


class DeleteTopic(Step):
    """Delete a topic, as `mqadmin deleteTopic` does: on its brokers (215), then at the name servers (216).

    The messages stay in the commit log, their queues and the topic's settings go. Clients learn of it with the
    next route that they ask for, every 30 s, 1 s compressed. The step records what the brokers and the name
    servers answer about the topic afterwards. `topic-config` creates it again; so does a broker on the first
    message, if its `autoCreateTopicEnable` is true, as it is by default. Its queues begin at offset 0 then, and
    what the brokers hold of a group's offsets may lie beyond their end.
    """

    word = "delete-topic"
    example = "delete-topic: orders"
    shorthand = "topic"

    topic: TopicName = Field(description="the topic")

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.cluster.deleting import delete_topic

        real = context.names.real(self.topic)
        brokers = context.scenario.brokers_of(self.topic)
        addresses = {name: at for name, at in context.servers.broker_addresses.items() if name in brokers}
        found = delete_topic(context.servers, real, addresses)
        context.servers.topic_deleted(self.topic)
        context.history.append(
            "harness", TopicDeleted(topic=self.topic, brokers=tuple(addresses), then=found)
        )
