"""`topic-config`: settings of a topic that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from rocketchaos.harness.core.events.servers import TopicConfigured
from rocketchaos.harness.language.topic import DEAD_LETTERS, RETRY, Settings
from rocketchaos.harness.language.words import GroupName, TopicName
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.steps.context import StepContext


class TopicConfig(Step):
    """Change the settings of a topic, as `mqadmin updateTopic` does (UPDATE_AND_CREATE_TOPIC, 17).

    It is the topic itself, or a group's retry topic or dead-letter topic, which the step creates if there is
    none. It returns once the name server has the new route; clients ask for routes every 30 s, 1 s
    compressed.
    """

    word = "topic-config"
    example = "topic-config: {topic: orders, set: {perm: 4}}"

    topic: TopicName | None = Field(default=None, description="the topic")
    retry_of: GroupName | None = Field(default=None, description="the group whose retry topic is meant")
    dead_letters_of: GroupName | None = Field(
        default=None, description="the group whose dead-letter topic is meant"
    )
    settings: Settings = Field(
        alias="set",
        min_length=1,
        description="by RocketMQ's own names: `readQueueNums`, `writeQueueNums`, `perm` (4 to read, 2 to write, 6 "
        "both), `order`, and attributes of 5.x",
    )

    @model_validator(mode="after")
    def _one_topic(self) -> TopicConfig:
        if len([item for item in (self.topic, self.retry_of, self.dead_letters_of) if item is not None]) != 1:
            raise ValueError("give one of `topic`, `retry_of`, `dead_letters_of`")
        return self

    @property
    def target(self) -> str:
        """The topic's name in the scenario."""
        if self.topic is not None:
            return self.topic
        return (
            f"{RETRY}{self.retry_of}"
            if self.retry_of is not None
            else f"{DEAD_LETTERS}{self.dead_letters_of}"
        )

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.cluster.topics import create_routed_topic

        topic = context.servers.topic(self.target).changed(self.settings)
        brokers = context.scenario.brokers_of(self.target)
        addresses = {name: at for name, at in context.servers.broker_addresses.items() if name in brokers}
        create_routed_topic(
            context.admin,
            context.names.real(self.target),
            topic.configuration,
            addresses,
            own_perm=context.scenario.cluster.leaves_permissions,
        )
        context.servers.topic_changed(self.target, topic)
        shown = TopicConfigured(topic=self.target, settings=topic.configuration, brokers=tuple(addresses))
        context.history.append("harness", shown)
