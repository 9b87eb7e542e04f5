"""What a scenario declares: its fields, and what can't be meant together."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from rocketchaos.assertions import CHECKS, Check
from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.language.client_words import PROGRAM_CLIENTS, program_of
from rocketchaos.harness.language.cluster_needs import ClusterNeeds as ClusterNeeds
from rocketchaos.harness.language.consumer_spec import Consumer as Consumer
from rocketchaos.harness.language.expectation import Expected, expected_kinds
from rocketchaos.harness.language.producer_spec import PRODUCER as SENDER
from rocketchaos.harness.language.producer_spec import Producer
from rocketchaos.harness.language.repetition import Repeats
from rocketchaos.harness.language.symptom import Issue, Symptom
from rocketchaos.harness.language.topic import Group, NamedGroup
from rocketchaos.harness.language.topic import Topic as Topic
from rocketchaos.harness.language.words import (
    GroupKey,
    Name,
    Strict,
    TopicKey,
    as_tuple,
    one_word_of,
)
from rocketchaos.harness.rocketmq.client_kinds import ClientChoice
from rocketchaos.harness.rocketmq.version_range import VersionRange
from rocketchaos.harness.steps import Step, StepEntry

if TYPE_CHECKING:
    StepOfScenario = Step
    CheckOfScenario = Check
else:
    StepOfScenario = StepEntry
    CheckOfScenario = one_word_of(CHECKS, "check")
ScenarioName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,79}$")]
Owner = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[^\x00-\x1f\x7f]{1,100}$")]
Checks = Annotated[tuple[CheckOfScenario, ...], BeforeValidator(as_tuple)]


def _by_name(groups: Any) -> Any:
    """Groups that are only named may be a list of names, or one.

    Raises:
        ValueError: a list has groups with settings.
    """
    if isinstance(groups, Mapping) or not all(isinstance(name, str) for name in as_tuple(groups)):
        if isinstance(groups, list) and any(isinstance(entry, Mapping) for entry in groups):
            raise ValueError(
                "a list has names alone, `[g]`; a group with settings is a key of `groups`, without a `-`: "
                "`g: {settings: {retryMaxTimes: 3}}`"
            )
        return groups
    return {name: NamedGroup() for name in as_tuple(groups)}


def _program_client(consumer: Any) -> str | None:
    """The client of a consumer that is in another one's program; None: it isn't."""
    client = consumer.get("client") if isinstance(consumer, Mapping) else None
    return client if client in PROGRAM_CLIENTS else None


def _consumers_or_groups(schema: dict[str, Any]) -> None:
    """One of these is needed; pydantic reports only the first. Groups may be a list, or a single one."""
    by_name = schema["properties"]["groups"]
    name = {"type": "string"}
    found = {key: by_name.pop(key) for key in ("description", "title") if key in by_name}
    schema["properties"]["groups"] = {"anyOf": [by_name, name, {"type": "array", "items": name}], **found}
    schema["required"].remove("consumers")
    schema["anyOf"] = [{"required": ["consumers"]}, {"required": ["groups"]}]


class Declared(Strict):
    """The clients to start, the steps, and the checks."""

    model_config = ConfigDict(title="rocketchaos scenario", json_schema_extra=_consumers_or_groups)

    name: ScenarioName = Field(description="the name on the command line: small letters, digits, `-`")
    title: str = Field(min_length=1, description="one sentence that gives cause and effect")
    description: str = Field(default="", description="why it happens, and what follows from it")
    marks: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = Field(
        default=(), description="words that select it with `-m`"
    )
    issue: Annotated[tuple[Issue, ...], BeforeValidator(as_tuple)] = Field(
        default=(),
        description="the threads of public trackers that report it: `apache/rocketmq#2760`, or a list",
    )
    symptom: Symptom | None = Field(default=None, description="what is reported there; needs `issue` as well")
    owner: Owner | None = Field(
        default=None,
        description='the team or person that maintains it: `payments`, `"@acme/payments"`; default: the '
        "file's owner in the `CODEOWNERS` of its git checkout. The run's record has it, and reports count by it",
    )
    control: ScenarioName | None = Field(
        default=None, description="the name of the scenario in which this one's anomaly must be absent"
    )
    timing: Literal["compressed", "faithful"] = Field(
        default="compressed",
        description="`faithful` keeps RocketMQ's own timers, `compressed` shortens those that have a setting",
    )
    rocketmq: VersionRange = Field(
        default="",
        description="the versions of RocketMQ that it runs on: `>=5.0`, `>=4.9.4,<5.2`; default all",
    )
    workers: Literal["host", "containers"] = Field(
        default="host",
        description="where its clients run: as processes of this host, or each in a container of its own on the "
        "cluster's network, which faults of the network can reach",
    )
    cluster: ClusterNeeds = Field(default_factory=ClusterNeeds, description="what it needs of its cluster")
    topics: dict[TopicKey, Topic] = Field(
        min_length=1,
        description="the topics by name. RocketMQ takes letters, digits, `_-%|`, at most 127 characters; give any "
        "other name `by_sending: true`, and it is refused when the scenario sends to it (`send-refused`). "
        "A group's own, `%RETRY%g` and `%DLQ%g`, are there without a declaration, to subscribe and to send to",
    )
    names: Literal["of-the-run", "as-written"] | None = Field(
        default=None,
        description="the names of topics and groups on the brokers. `of-the-run`: the run adds 15 characters, so "
        "that runs can share a cluster; `as-written`: exactly those of the scenario, on a cluster of its own, for "
        "RocketMQ's own names (`TBW102`, `DEFAULT_PRODUCER`) and limits of length. Default: `of-the-run`, and "
        "`as-written` if one of them has more than 100 characters",
    )
    bare_groups: Annotated[dict[GroupKey, Group], BeforeValidator(_by_name)] = Field(
        default_factory=dict,
        alias="groups",
        description="groups without a consumer of the scenario, for raw pulls and hand-made heartbeats, `[g]`; "
        "with any of them, `consumers` may be left out. Also groups with their own settings, `{g: {settings: "
        "{consumeEnable: false}}}`. If the cluster's `autoCreateSubscriptionGroup` is false, `{g: {}}` creates "
        "the group, and `[g]` doesn't",
    )
    consumers: dict[Name, Consumer] = Field(description="the consumers by name")
    producer: Producer = Field(default_factory=Producer, description="the client that sends its messages")
    producers: dict[Name, Producer] = Field(
        default_factory=dict,
        description="further producers by name, which send what names them, `send: {producer: p2, …}`",
    )
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
    tendency: Checks = Field(
        default=(),
        description="checks that are measured and never judged, for races: the share of the runs in which "
        "each holds",
    )
    repeats: Repeats | None = Field(
        default=None,
        description="how often it runs for a verdict; default once, and with a `tendency` as often as the "
        "defaults below say",
    )
    expected: Expected = Field(
        default="reproduced",
        description="the expected outcome with the clients that the scenario names, or with `java`; or a "
        "mapping by client, by versions of RocketMQ, or by both, nested: `{java: reproduced, grpc: "
        '{">=5.4": not-reproduced}}`, `{">=4.9.4": reproduced}`; the first entry that matches wins; clients '
        "that share a group are `java+python`; a combination without an entry is measured, not judged",
    )

    @model_validator(mode="before")
    @classmethod
    def _groups_do(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("groups") and "consumers" not in data:
            return {**data, "consumers": {}}
        return data

    @field_validator("consumers", mode="before")
    @classmethod
    def _in_one_program(cls, consumers: Any) -> Any:
        """A consumer that is `beside` a user's program is in that program."""
        if not isinstance(consumers, Mapping):
            return consumers
        found: dict[Any, Any] = {}
        for name, item in consumers.items():
            first = found.get(item.get("beside")) if isinstance(item, Mapping) else None
            app = first.get("app") if isinstance(first, Mapping) else None
            client = program_of(app) if isinstance(app, Mapping) else _program_client(first)
            found[name] = {"client": client, **item} if client else item
        return found

    @field_validator("cluster")
    @classmethod
    def _who_resolves_names(cls, cluster: ClusterNeeds, info: ValidationInfo) -> ClusterNeeds:
        if cluster.advertise == "hostname" and info.data.get("workers") != "containers":
            raise ValueError("only containers resolve the brokers' names: write `workers: containers`")
        return cluster

    @field_validator("consumers")
    @classmethod
    def _some_group(cls, consumers: dict[Name, Consumer], info: ValidationInfo) -> dict[Name, Consumer]:
        if not consumers and not info.data.get("bare_groups"):
            raise PydanticCustomError("too_short", "no consumer", {"min_length": 1})
        if info.data.get("workers") == "containers" and any(
            item.app is not None and item.app.image is None for item in consumers.values()
        ):
            raise ValueError(
                "a `jar` or `command` of your own runs on this host: leave out `workers: containers`, or write "
                "`image`"
            )
        for name, item in consumers.items():
            if item.beside is not None and item.choice.kind.begins_at_start:
                raise ValueError(
                    f"{name} is `beside` {item.beside}, whose program is seen by what it prints, which "
                    "doesn't distinguish its consumers: only the consumers of a `jar` can be `beside` one another"
                )
        _require_neighbours(consumers, "consumer")
        return consumers

    @model_validator(mode="after")
    def _neighbours_of_producers(self) -> Self:
        _require_neighbours(self.senders, "producer")
        return self

    @model_validator(mode="after")
    def _a_symptom_is_of_an_issue(self) -> Self:
        if self.symptom is None:
            return self
        if not self.issue:
            raise ValueError("a `symptom` needs the `issue` in which it is reported: `apache/rocketmq#2760`")
        if self.symptom.not_reproduced and OutcomeKind.REPRODUCED in self.expected_kinds:
            raise ValueError(
                "`not_reproduced` says that no version shows it, but `expected` says `reproduced`"
            )
        return self

    @field_validator("tendency")
    @classmethod
    def _shares_refute_nothing(cls, tendency: tuple[Check, ...]) -> tuple[Check, ...]:
        if any(check.refutes is not None for check in tendency):
            raise ValueError("a share refutes nothing: give a check of `tendency` its claim with `claim`")
        return tendency

    @property
    def senders(self) -> dict[str, Producer]:
        """All its producers, by the names that steps have for them."""
        return {SENDER: self.producer, **self.producers}

    @property
    def expected_kinds(self) -> frozenset[OutcomeKind]:
        """Every outcome that is expected with some client on some version."""
        return expected_kinds(self.expected)


def _require_neighbours(clients: Mapping[str, Producer] | Mapping[str, Consumer], word: str) -> None:
    """Raises ValueError: a client names a neighbour that isn't declared above it, or of another kind."""
    above: dict[str, ClientChoice] = {}
    for name, item in clients.items():
        if item.beside is not None and item.beside not in above:
            only = f"a {word} can only be `beside` another {word}"
            raise ValueError(f"{name} is `beside` {item.beside}: no {word} above it has that name; {only}")
        if item.beside is not None and (other := above[item.beside]) != item.choice:
            raise ValueError(f"{name} is `beside` {item.beside}, which is another client: {other}")
        above[name] = item.choice
