"""Events about servers, faults, raw requests and logs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rocketchaos.harness.core.events.base import Body


class NodeReady(Body, frozen=True, kw_only=True):
    """A server takes requests."""

    kind: ClassVar[str] = "node-ready"
    node: ClassVar[str] = "server"
    role: str = ""
    """`nameserver`, `broker`, `proxy` or `dashboard`."""
    address: str = ""
    pid: int | None = None
    slave_of: str | None = None
    """Of a slave: its master."""


class Fault(Body, frozen=True, kw_only=True):
    """What all events about a fault tell."""

    fault: str
    """Its name, `kill`."""
    target: str
    """The target. For a fault between two ends, both in words."""
    sides: tuple[str, ...] = ()
    """Of a fault between two ends: both."""

    @property
    def ends(self) -> frozenset[str]:
        """Everybody whom it concerns."""
        return frozenset((self.target, *self.sides))

    @property
    def identity(self) -> tuple[str, str]:
        """By which the events of one fault are found."""
        return self.fault, self.target


class FaultInjected(Fault, frozen=True, kw_only=True):
    """A fault is done; whether it had the intended effect is not proven yet."""

    kind: ClassVar[str] = "fault-injected"
    node: ClassVar[str] = "harness"


class FaultEffective(Fault, frozen=True, kw_only=True):
    """A fault has taken effect."""

    kind: ClassVar[str] = "fault-effective"
    node: ClassVar[str] = "harness"
    proof: str = ""
    """In words."""


class FaultHealed(Fault, frozen=True, kw_only=True):
    """A fault is undone."""

    kind: ClassVar[str] = "fault-healed"
    node: ClassVar[str] = "harness"
    proof: str = ""
    """In words."""


class BrokerConfigured(Body, frozen=True, kw_only=True, rename={"settings": "set"}):
    """A running broker has taken settings."""

    kind: ClassVar[str] = "broker-configured"
    node: ClassVar[str] = "harness"
    broker: str
    settings: Mapping[str, str]
    before: Mapping[str, str]
    """Those that they replace."""


class TopicConfigured(Body, frozen=True, kw_only=True):
    """A topic's settings changed, and the name server's route has them."""

    kind: ClassVar[str] = "topic-configured"
    node: ClassVar[str] = "harness"
    topic: str
    """Or a group's own, `%DLQ%g`."""
    settings: Mapping[str, int | bool | str]
    """All of them, by RocketMQ's own names."""
    brokers: tuple[str, ...]


class GroupConfigured(Body, frozen=True, kw_only=True):
    """A group has settings of its own at the brokers."""

    kind: ClassVar[str] = "group-configured"
    node: ClassVar[str] = "harness"
    group: str
    settings: Mapping[str, int | bool | str]
    """All that were given, by RocketMQ's own names."""
    brokers: tuple[str, ...]


class TopicDeleted(Body, frozen=True, kw_only=True):
    """A topic was deleted on its brokers and at the name servers."""

    kind: ClassVar[str] = "topic-deleted"
    node: ClassVar[str] = "harness"
    topic: str
    brokers: tuple[str, ...]
    then: Mapping[str, str]
    """What each broker and each name server answered about it afterwards, to 202 and 105: `17 TOPIC_NOT_EXIST`."""


class GroupDeleted(Body, frozen=True, kw_only=True):
    """A group was deleted on the brokers, with its retry and its dead-letter topic."""

    kind: ClassVar[str] = "group-deleted"
    node: ClassVar[str] = "harness"
    group: str
    offsets: bool
    """Whether its offsets were removed too."""
    brokers: tuple[str, ...]


class FilesExpired(Body, frozen=True, kw_only=True):
    """A broker has deleted its old files."""

    kind: ClassVar[str] = "files-expired"
    node: ClassVar[str] = "harness"
    broker: str
    topic: str
    min_offsets_before: Mapping[str, int]
    """By queue id."""
    min_offsets: Mapping[str, int]
    """By queue id."""


class FilesLost(Body, frozen=True, kw_only=True):
    """Files of a broker or a consumer that is down were deleted, or cut."""

    kind: ClassVar[str] = "files-lost"
    node: ClassVar[str] = "harness"
    broker: str = ""
    consumer: str = ""
    """One that broadcasts, in place of a broker."""
    files: tuple[str, ...]
    """Below the broker's store, or the consumer's folder of offsets; of a folder all that was in it."""
    keep_bytes: int | None = None
    """The length to which each was cut; None: they were deleted."""


class Asked(Body, frozen=True, kw_only=True):
    """A raw request, and its answer."""

    kind: ClassVar[str] = "asked"
    node: ClassVar[str] = "harness"
    name: str
    """The step's."""
    of: str
    """The node that was asked."""
    request: int
    """RocketMQ's request code."""
    code: int
    """RocketMQ's response code."""
    status: str
    """The same in words."""
    remark: str | None = None
    fields: Mapping[str, str] = {}
    text: str = ""
    """The body; each character that is not text becomes `\ufffd`."""


class MqadminRan(Body, frozen=True, kw_only=True):
    """A command of RocketMQ's `mqadmin`, and what it printed."""

    kind: ClassVar[str] = "mqadmin-ran"
    node: ClassVar[str] = "harness"
    name: str
    """The step's."""
    command: tuple[str, ...]
    """With its arguments, without `-n`, in the scenario's names."""
    exit_code: int | None
    """None: it had not ended by the limit, and was killed."""
    output: str
    """What it printed to both outputs, in the scenario's names, its first 100,000 characters."""
    seconds: float


class Pulled(Body, frozen=True, kw_only=True, rename={"own_expression": "with"}):
    """A raw pull, and its answer."""

    kind: ClassVar[str] = "pulled"
    node: ClassVar[str] = "harness"
    name: str
    """The step's."""
    group: str
    topic: str
    broker: str
    queue_id: int
    offset: int
    own_expression: str | None
    code: int
    """RocketMQ's response code."""
    status: str
    """The same in words."""
    remark: str | None
    next_offset: int | None
    min_offset: int | None
    max_offset: int | None
    messages: int
    """How many."""
    keys: tuple[str, ...] = ()
    took_ms: float = 0.0
    """Milliseconds from the request to the answer."""


class PullRefused(Body, frozen=True, kw_only=True):
    """A broker refused a raw pull, as older versions wrote it."""

    kind: ClassVar[str] = "pull-refused"
    node: ClassVar[str] = "harness"
    name: str
    group: str = ""
    topic: str = ""
    status: str = ""


class LogLine(Body, frozen=True, kw_only=True):
    """A line of a log that a check asks for."""

    kind: ClassVar[str] = "log-line"
    node: ClassVar[str] = "logged"
    of: str
    """The server, or the client."""
    pattern: str
    """The regular expression that it matches."""
    time: str | None = None
    """Of the line, the month as a number; null if the line has none."""
    text: str = ""


class LogObserved(Body, frozen=True, kw_only=True):
    """How many lines since the run's beginning match."""

    kind: ClassVar[str] = "log-observed"
    node: ClassVar[str] = "logged"
    of: str
    """The server, or the client."""
    pattern: str
    """The regular expression."""
    count: int
    moment: str | None = None
    """The observation to which it belongs."""
