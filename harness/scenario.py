"""A scenario: what a YAML file says, parsed and frozen.

`harness.spec` makes one from a file and has checked it then; the JSON Schema for editors comes from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PrivateAttr, StringConstraints

from assertions import CHECKS, Check
from harness.language import Strict, TagExpression, as_tuple, one_word_of
from harness.model import OutcomeKind
from harness.steps import STEPS, Step

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,59}$")]
"""A name that RocketMQ takes as (a part of) a topic, group or client id."""


ConfigurationKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.]*$")]
"""A key of broker.conf."""


def _in_one_line(value: str | int | bool) -> str | int | bool:
    if isinstance(value, str) and not value.isprintable():
        raise ValueError("a line of broker.conf can't hold a line break or another control character")
    return value


ConfigurationValue = Annotated[str | int | bool, AfterValidator(_in_one_line)]
"""A value of broker.conf."""


class Topic(Strict):
    """A topic, created before the first step, under a real name of its own in every run."""

    queues: int = Field(default=4, ge=1, le=64, description="queues on each broker")


class Consumer(Strict):
    """A push consumer, in a process of its own, started by a `start` step."""

    group: Name = Field(description="its consumer group")
    client: Literal["java"] = Field(default="java", description="which client: RocketMQ's Java push consumer")
    subscribe: dict[Name, TagExpression] = Field(
        min_length=1, description="topic to tag expression: `tagA`, `tagA || tagB`, `*`"
    )
    client_id: Name | None = Field(
        default=None,
        description="the first part of its client id, which orders the allocation; its name unless told",
    )


class ClusterNeeds(Strict):
    """What the scenario needs of its cluster; a scenario that says anything here gets one to itself."""

    broker: dict[ConfigurationKey, ConfigurationValue] = Field(
        default_factory=dict, description="lines of broker.conf: `autoCreateTopicEnable: false`"
    )

    @property
    def broker_configuration(self) -> dict[str, str]:
        """The lines as RocketMQ reads them."""
        return {
            key: str(value).lower() if isinstance(value, bool) else str(value)
            for key, value in self.broker.items()
        }


if TYPE_CHECKING:
    StepOfScenario = Step
    CheckOfScenario = Check
else:
    StepOfScenario = one_word_of(STEPS, "step")
    CheckOfScenario = one_word_of(CHECKS, "check")
Checks = Annotated[tuple[CheckOfScenario, ...], BeforeValidator(as_tuple)]


class Scenario(Strict):
    """What is started, what is done, what must be seen."""

    model_config = ConfigDict(title="rocketchaos scenario")

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,79}$")] = Field(
        description="its name on the command line: small letters, digits, `-`"
    )
    title: str = Field(min_length=1, description="one sentence that says what is to be seen")
    description: str = Field(default="", description="why it is so, and what to make of it")
    marks: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = Field(
        default=(), description="words to select it by, `-m`"
    )
    timing: Literal["compressed", "faithful"] = Field(
        default="compressed",
        description="`faithful` keeps RocketMQ's own timers, `compressed` shortens those that have a knob",
    )
    cluster: ClusterNeeds = Field(default_factory=ClusterNeeds, description="what it needs of its cluster")
    topics: dict[Name, Topic] = Field(min_length=1, description="its topics by name")
    consumers: dict[Name, Consumer] = Field(min_length=1, description="its consumers by name")
    steps: Annotated[tuple[StepOfScenario, ...], BeforeValidator(as_tuple)] = Field(
        min_length=1, description="what is done, in order"
    )
    anomaly: Checks = Field(
        min_length=1, description="checks that must all hold for the outcome `reproduced`"
    )
    healthy: Checks = Field(
        min_length=1, description="checks that must all hold for the outcome `not-reproduced`"
    )
    also: Checks = Field(default=(), description="checks that must hold whatever the outcome")
    expected: Literal["reproduced", "not-reproduced"] = Field(
        default="reproduced", description="the outcome that is as expected"
    )

    _lines: Mapping[tuple[str | int, ...], int] = PrivateAttr(default_factory=dict)
    _source: str = PrivateAttr(default="")
    _file: str = PrivateAttr(default="")

    @property
    def source(self) -> str:
        """The text of the file, as it was read."""
        return self._source

    @property
    def file(self) -> str:
        """The file's name, as the user gave it."""
        return self._file

    def line_of(self, *path: str | int) -> int | None:
        """The line of a place in the file: `line_of("steps", 0)`."""
        return self._lines.get(path)

    def with_source(self, source: str, file: str, lines: Mapping[tuple[str | int, ...], int]) -> Scenario:
        """The same scenario, knowing where it comes from."""
        known = self.model_copy()
        known._source, known._file, known._lines = source, file, dict(lines)
        return known

    @property
    def expected_kind(self) -> OutcomeKind:
        """The expected outcome."""
        return OutcomeKind(self.expected)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of its consumers, in order of appearance."""
        return tuple(dict.fromkeys(consumer.group for consumer in self.consumers.values()))

    def members(self, group: str) -> tuple[str, ...]:
        """The consumers of a group, in order of appearance."""
        return tuple(name for name, consumer in self.consumers.items() if consumer.group == group)

    def queue_count(self, topic: str) -> int:
        """How many queues a topic has on all brokers together."""
        return self.topics[topic].queues

    @property
    def needs_own_cluster(self) -> bool:
        """Whether it can't share a cluster with others."""
        return bool(self.cluster.broker)

    def checks(self) -> tuple[tuple[str, int, Check], ...]:
        """All checks, as (section, index in it, check)."""
        return tuple(
            (section, index, check)
            for section in ("anomaly", "healthy", "also")
            for index, check in enumerate(getattr(self, section))
        )
