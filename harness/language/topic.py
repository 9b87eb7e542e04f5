"""A topic and a group as a scenario declares them, with their settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import Field

from rocketchaos.harness.language.cluster_needs import BrokerNames
from rocketchaos.harness.language.words import Strict
from rocketchaos.harness.rocketmq.properties import Value

RETRY = "%RETRY%"
"""MixAll.RETRY_GROUP_TOPIC_PREFIX."""
DEAD_LETTERS = "%DLQ%"
"""MixAll.DLQ_GROUP_TOPIC_PREFIX."""
_SYSTEM = frozenset({"TBW102", "SCHEDULE_TOPIC_XXXX", "TRANS_CHECK_MAX_TIME_TOPIC", "OFFSET_MOVED_EVENT"})
SYSTEM_TOPIC = (
    ", which is one of RocketMQ's own: declare it under `topics` too, `{}: {{by_sending: true}}`, with "
    "`names: as-written`"
)
"""What a scenario does to use it."""
READABLE = 4
"""PermName.PERM_READ; PERM_WRITE is 2."""

Settings = dict[str, Value]
"""By RocketMQ's own names, `harness.rocketmq.properties`."""


def is_system_topic(name: str) -> bool:
    """Whether it is one that brokers make for themselves (TopicValidator)."""
    return name in _SYSTEM or name.lower().startswith("rmq_sys_")


class Topic(Strict):
    """A topic, created before the first step. Its real name differs in every run."""

    queues: int = Field(default=4, ge=1, le=1024, description="queues on each broker")
    """RocketMQ itself has no limit; 1024 is the topic of its benchmark (`TopicConfigManager.init`)."""
    on: BrokerNames = Field(default=(), description="the brokers that have it; default all")
    by_sending: bool = Field(
        default=False,
        description="the harness doesn't create it: the broker does on the first message "
        "(autoCreateTopicEnable). Broker and producer settle the number of its queues; `queues` must be that "
        "number",
    )
    settings: Settings = Field(
        default_factory=dict,
        description="its TopicConfig, by RocketMQ's own names: `readQueueNums` and `writeQueueNums`, each by "
        "default as `queues`; `perm`, 4 to read, 2 to write, 6 both; `order`; and attributes of 5.x, "
        "`message.type: FIFO`, `queue.type: BatchCQ`, `cleanup.policy: COMPACTION`, `reserve.time`",
    )

    @property
    def read_queues(self) -> int:
        """Queues of each broker from which consumers pull."""
        if not int(self.settings.get("perm", READABLE)) & READABLE:
            return 0
        return int(self.settings.get("readQueueNums", self.queues))

    @property
    def write_queues(self) -> int:
        """Queues of each broker to which producers send."""
        return int(self.settings.get("writeQueueNums", self.queues))

    @property
    def all_queues(self) -> int:
        """Queues of each broker that are read or written."""
        return max(int(self.settings.get("readQueueNums", self.queues)), self.write_queues)

    @property
    def fifo(self) -> bool:
        """Whether it takes messages of message groups, and no others, from clients of the proxy."""
        return self.settings.get("message.type") == "FIFO"

    @property
    def configuration(self) -> Settings:
        """All that it is created with."""
        return {"readQueueNums": self.queues, "writeQueueNums": self.queues, **self.settings}

    def changed(self, settings: Mapping[str, Value]) -> Topic:
        """The same with further settings."""
        return self.model_copy(update={"settings": {**self.settings, **settings}})


class Group(Strict):
    """A group with settings of its own, created before the first step; others come by themselves."""

    settings: Settings = Field(
        default_factory=dict,
        description="its SubscriptionGroupConfig, by RocketMQ's own names: `consumeEnable: false`, "
        "`consumeBroadcastEnable`, `retryQueueNums`, `retryMaxTimes`",
    )
    retry_topic: Settings = Field(
        default_factory=dict, description="the TopicConfig of its retry topic, `{perm: 4}`, created with it"
    )
    dead_letter_topic: Settings = Field(
        default_factory=dict,
        description="the TopicConfig of its dead-letter topic, created with it; a broker of 4.9.x creates "
        "one without read permission (`perm` 2)",
    )

    @property
    def is_declared(self) -> bool:
        """It is to be there, also where brokers create no group by themselves."""
        return True

    @property
    def topics(self) -> Iterator[tuple[str, Settings]]:
        """The prefixes of its own topics that are to be created, and their settings."""
        yield from ((RETRY, self.retry_topic),) if self.retry_topic else ()
        yield from ((DEAD_LETTERS, self.dead_letter_topic),) if self.dead_letter_topic else ()


class NamedGroup(Group):
    """A group that has nothing but its name, for raw pulls and heartbeats: the scenario doesn't create it."""

    @property
    def is_declared(self) -> bool:
        """Brokers create it by themselves, or nobody does."""
        return False


def evenly(queues: int) -> Settings:
    """The settings of a topic with this many queues on each broker, which are read and written."""
    return Topic(queues=queues).configuration


def attributes_of(settings: Mapping[str, Value]) -> dict[str, str]:
    """Attributes of 5.x, which have a dot in their names: `message.type`."""
    return {name: str(value) for name, value in settings.items() if "." in name}
