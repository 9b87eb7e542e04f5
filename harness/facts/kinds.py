"""The kinds of facts: a line of `facts.jsonl` each, with units, made by the judge from the other files.

From these types come the docs of the facts (`docs/facts.md`) and the tables of a store with their Spark schemas
(`spark_reports.tables`). Times within a run are milliseconds on CLOCK_MONOTONIC since its first event; `n` and
`events` are numbers of lines of its `events.jsonl`. Topics, groups and consumers have the scenario's names.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec

FACTS_VERSION = 1
"""Of the form of facts, and of how they are made: facts of another version are made again before they are used.

A field that older folders can't have is null there, and needs no new version."""

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
"""An integer that is small in every run: numbers of events, counts of things."""


class Fact(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact"):
    """What all facts share: `fact`, the word of their kind."""

    made_by: ClassVar[str] = ""
    """The module of `harness.facts` that makes it."""


class RunFact(Fact, frozen=True, kw_only=True, tag="run"):
    """One for each run: what was run, where, and how it ended."""

    made_by: ClassVar[str] = "run_facts"
    run: str
    """The harness's own id of the run, unique over all machines."""
    scenario: str
    client: str
    """`java`, `python`, `grpc`, `java+python`; with its version if that differs from the brokers'."""
    rocketmq: str
    cluster: str
    """`embedded` or `containers`; `unknown` if it never started."""
    timing: str
    """`compressed` or `faithful`."""
    title: str | None
    scenario_owner: str | None
    """The team or person that maintains the scenario; null: no owner, as in old folders."""
    seed: int | None
    client_version: str | None
    workers: str | None
    harness_version: str | None
    java_version: Int32 | None
    host: str | None
    """Name of the machine, or its system if the folder names none."""
    processors: Int32 | None
    memory_mib: Int32 | None
    timers_ms: Mapping[str, int | None] | None
    """RocketMQ's timers in this run, in ms; null in old folders."""
    started_wall_ms: int
    """Unix time of the first event, in ms."""
    ended_wall_ms: int
    """Unix time of the end, in ms."""
    seconds: float | None
    clock_jump_ms: int
    """How far the wall clock drifted from the monotonic one within the run, in ms."""
    outcome: str
    expected: str | None
    """Null: only measured."""
    as_expected: bool | None
    """Null: only measured."""
    reason: str | None
    trouble: str | None
    load_start: float | None
    """Average of the run queue in the last minute."""
    load_end: float | None
    busy_share: float | None
    """The busy share of all cores during the run, from 0 to 1."""
    beside: Int32 | None
    """Other runs at the same time."""
    event_count: int
    message_count: int
    """Lines of `messages.jsonl`."""


class SubscriptionFact(Fact, frozen=True, kw_only=True, tag="subscription"):
    """One for each change of the subscription that a broker held for a group and topic, including the first."""

    made_by: ClassVar[str] = "observed_facts"
    n: Int32
    at_ms: float
    consumer_group: str
    broker: str
    topic: str
    expression: str | None
    """Null: no longer held."""
    expression_type: str | None
    sub_version: int | None
    previous_expression: str | None
    members: Int32


class OwnershipFact(Fact, frozen=True, kw_only=True, tag="ownership"):
    """One for each change of the queues of a topic that a member had, including the first."""

    made_by: ClassVar[str] = "observed_facts"
    n: Int32
    at_ms: float
    consumer_group: str
    consumer: str
    topic: str
    queues: tuple[str, ...]
    """`<broker>:<queue id>` each."""
    previous_queues: tuple[str, ...] | None


class OffsetFact(Fact, frozen=True, kw_only=True, tag="offset"):
    """One for each queue and look at a group's offsets."""

    made_by: ClassVar[str] = "observed_facts"
    n: Int32
    at_ms: float
    moment: str | None
    consumer_group: str
    topic: str
    queue: str
    max_offset: int
    consumer_offset: int | None
    """Null: the broker has none."""


class FaultFact(Fact, frozen=True, kw_only=True, tag="fault"):
    """One for each fault injected."""

    made_by: ClassVar[str] = "fault_facts"
    n: Int32
    fault: str
    target: str
    injected_ms: float
    effective_ms: float | None
    """Null: no effect was seen."""
    healed_ms: float | None
    proof: str | None


class CheckFact(Fact, frozen=True, kw_only=True, tag="check"):
    """One for each check of the scenario: what was expected, and what was seen."""

    made_by: ClassVar[str] = "check_facts"
    position: Int32
    """In `checks.json`, from 0."""
    section: str | None
    id: str | None
    """The id of its statement; null in folders older than these ids."""
    name: str | None
    holds: str | None
    """`yes`, `no`, `unknown`."""
    expected: str | None
    observed: str | None
    claim: str | None
    line: Int32 | None
    events: tuple[Int32, ...]


class FindingFact(Fact, frozen=True, kw_only=True, tag="finding"):
    """One for each problem, in a form in which equal causes look equal."""

    made_by: ClassVar[str] = "finding_facts"
    kind: str
    """`outcome`, `check`, `trouble`, `event`, `invariant` (found by a night), `log`."""
    side: str
    """`product`, `harness`, `environment`."""
    node: str
    text: str
    signature: str
    """An id of the cause; without one the text, minus what differs from run to run."""
    occurrences: int
    events: tuple[Int32, ...]


class TimingFact(Fact, frozen=True, kw_only=True, tag="timing"):
    """One for each interval that RocketMQ's timers decide, delivery apart, which `messages` has.

    A look saw its end: it took at least `at_least_ms`, the start of the last look that saw nothing yet, and
    at most `ms`.
    """

    made_by: ClassVar[str] = "timing_facts"
    what: str
    """`rebalance`, `subscription-flip`, `offset-correction`."""
    cause: str
    """The kind of event, or of fault, that began it."""
    consumer_group: str
    subject: str
    """The member, or the broker and the topic, or the queue and the topic."""
    ms: float
    at_least_ms: float
    seen_by: str
    """`settled`: a look saw the expected state; `look`: a look saw a change."""
    from_n: Int32
    to_n: Int32


class ConditionFact(Fact, frozen=True, kw_only=True, tag="condition"):
    """One for each measured condition that may go with the outcome of a run."""

    made_by: ClassVar[str] = "condition_facts"
    name: str
    """`start_gap_ms`, `load_start`, `busy_share`, `beside`, `fault_offset_ms`, …: see what makes it."""
    value: float


class Seal(Fact, frozen=True, kw_only=True, tag="seal"):
    """The last line: digests of the files that the facts were made from, so that a later change is noticed."""

    made_by: ClassVar[str] = "folder_facts"
    facts_version: int
    files: Mapping[str, str]
    """Name of a file: its digest (`harness.facts.line_digest`); of `facts.jsonl` that of the other lines."""


KINDS: tuple[type[Fact], ...] = (
    RunFact,
    SubscriptionFact,
    OwnershipFact,
    OffsetFact,
    FaultFact,
    CheckFact,
    FindingFact,
    TimingFact,
    ConditionFact,
    Seal,
)
"""All of them. A new one is registered here, and its table in `spark_reports.tables`."""


def word_of(kind: type[Fact]) -> str:
    """The value of `fact` in a line of this kind."""
    return str(kind.__struct_config__.tag)


class MessageLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of `messages.jsonl`: what became of a message for a group, and what the witnesses say of it."""

    schema_version: Int32
    group: str
    topic: str
    key: str
    tag: str | None = None
    queue: str | None = None
    """`<broker>:<queue id>`."""
    offset: int | None = None
    owner: str | None = None
    subscription: str | None = None
    """The expression that the broker held."""
    message_class: str
    """See `harness.core.model.MessageClass`."""
    deliveries: tuple[str, ...]
    """Members whose listener got it, in order of time."""
    reason: str | None = None
    events: tuple[Int32, ...]
    delivery_ms: float | None = None
    """From its acknowledgement to the producer, or the group's first start if later, to the first delivery; null:
    none. Older folders lack it and the tracks."""
    broker_track: str | None = None
    """TrackType by the broker's tools, as last seen."""
    dashboard_track: str | None = None
    """TrackType by the dashboard, as last seen."""
