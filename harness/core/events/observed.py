"""Events about what brokers, members, RocketMQ's tools and its dashboard were observed to say."""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from rocketchaos.harness.core.events.base import Body, Part, Queue


class Observation(Body, frozen=True, kw_only=True):
    """The common fields of observations. One is written if it differs from the last one, and at moments."""

    moment: str | None = None
    """The observation to which it belongs; null between observations."""
    look_began_before_ms: float | None = None
    """How long before this event the last look began which showed what was written down before, in ms."""
    look_before_ms: float | None = None
    """The same, counted from the end of that look, as older versions wrote it."""


class OwnSubscription(Part, frozen=True, kw_only=True):
    """A member's own entry for a topic."""

    expression: str
    type: str = "TAG"
    """`TAG` or `SQL92`."""
    sub_version: int = 0


class StoredSubscription(OwnSubscription, frozen=True, kw_only=True):
    """A broker's entry for a topic."""

    tags: tuple[str, ...] = ()
    codes: tuple[int, ...] = ()
    """The hash codes of the tags."""


class SubscriptionObserved(Observation, frozen=True, kw_only=True):
    """A broker's connections and subscriptions of a group (request 203)."""

    kind: ClassVar[str] = "subscription-observed"
    node: ClassVar[str] = "harness"
    group: str
    broker: str
    online: bool
    """Whether any member is connected."""
    clients: tuple[str, ...]
    """The client ids of the members."""
    addresses: tuple[str, ...] | None = None
    """Of their connections, in the same order; older histories lack it."""
    subscriptions: Mapping[str, StoredSubscription]
    """By topic."""
    consume_from_where: str | msgspec.UnsetType | None = msgspec.UNSET
    """The group's; null if no member is online."""
    message_model: str | msgspec.UnsetType | None = msgspec.UNSET
    """The group's; null if no member is online."""


class OwnedQueue(Queue, frozen=True, kw_only=True):
    """A queue that a member owns."""

    topic: str


class OwnershipObserved(Observation, frozen=True, kw_only=True):
    """The queues that a member says it owns (request 307, or its own process)."""

    kind: ClassVar[str] = "ownership-observed"
    node: ClassVar[str] = "harness"
    group: str
    consumer: str
    client_id: str = ""
    queues: tuple[OwnedQueue, ...]
    subscriptions: Mapping[str, OwnSubscription]
    """By topic; empty if the client reports none."""

    def owned(self, topic: str) -> list[str]:
        """The names of its queues of a topic."""
        return [queue.name for queue in self.queues if queue.topic == topic]


class QueueProgress(Queue, frozen=True, kw_only=True):
    """How far a queue and a group in it are."""

    max_offset: int
    """Where the queue ends."""
    consumer_offset: int | None
    """The group's stored offsets; none: it has none."""


class OffsetsObserved(Observation, frozen=True, kw_only=True):
    """How far the queues of a topic are, and what the brokers have stored for a group."""

    kind: ClassVar[str] = "offsets-observed"
    node: ClassVar[str] = "harness"
    group: str
    topic: str
    queues: tuple[QueueProgress, ...]


class PullCountsObserved(Observation, frozen=True, kw_only=True):
    """A consumer's own counts, by its client's ConsumerStatsManager."""

    kind: ClassVar[str] = "pull-counts-observed"
    node: ClassVar[str] = "harness"
    consumer: str
    topic: str
    found_pulls: int
    """Pulls that were answered with messages."""
    passed_messages: int
    """Messages that its filter let through."""


class DeadLettersObserved(Observation, frozen=True, kw_only=True):
    """The number of dead letters of a group: the end of `%DLQ%<group>`."""

    kind: ClassVar[str] = "dead-letters-observed"
    node: ClassVar[str] = "harness"
    group: str
    count: int


class ConsumerStatusObserved(Observation, frozen=True, kw_only=True):
    """The answer of `mqadmin consumerStatus` about a group."""

    kind: ClassVar[str] = "consumer-status-observed"
    node: ClassVar[str] = "harness"
    group: str
    alike: bool
    """Whether the members' subscriptions are."""
    members: tuple[str, ...]
    """Their client ids."""


class DiagnosisFinding(Part, frozen=True, kw_only=True):
    """One finding of `rocketchaos diagnose`."""

    code: str
    level: str
    """`info`, `warning`, `error`."""
    topic: str
    """Empty: it is the group's, or the cluster's."""
    sentence: str


class DiagnosisObserved(Observation, frozen=True, kw_only=True):
    """The answer of `rocketchaos diagnose` about a group."""

    kind: ClassVar[str] = "diagnosis-observed"
    node: ClassVar[str] = "harness"
    group: str
    findings: tuple[DiagnosisFinding, ...]
    undetermined: tuple[str, ...]
    """The codes that could not be determined."""
    looks: int
    """How often it looked."""
    seconds: float
    """How long it took."""


class CommandObserved(Observation, frozen=True, kw_only=True):
    """How a command of the user's ended, which a `check-command` asks for."""

    kind: ClassVar[str] = "command-observed"
    node: ClassVar[str] = "harness"
    command: tuple[str, ...]
    """As the check has it."""
    within_ms: int
    """How long it could take, in milliseconds."""
    exit_code: int | None
    why_none: str
    """Why there is no exit code; empty where there is one."""
    output: str
    """The end of what it printed, 2000 bytes at most."""
    seconds: float
    """How long it took."""


class TracksObserved(Observation, frozen=True, kw_only=True):
    """The answer of `messageTrackDetail` about a message."""

    kind: ClassVar[str] = "tracks-observed"
    node: ClassVar[str] = "harness"
    topic: str
    key: str
    tracks: Mapping[str, str]
    """By group: a TrackType, `CONSUMED`."""
    exceptions: Mapping[str, str] = {}
    """By group: why there is no better answer."""


class DashboardTracksObserved(Observation, frozen=True, kw_only=True):
    """The dashboard's entries for a message, of all groups, in the scenario or not."""

    kind: ClassVar[str] = "dashboard-tracks-observed"
    node: ClassVar[str] = "harness"
    topic: str
    key: str
    tracks: Mapping[str, str]
    """By group: a TrackType."""
    why: Mapping[str, str] | None = None
    """By group: what kept it from saying more."""


class DashboardConnectionsObserved(Observation, frozen=True, kw_only=True):
    """What the dashboard shows of a group's members and subscriptions."""

    kind: ClassVar[str] = "dashboard-connections-observed"
    node: ClassVar[str] = "harness"
    group: str
    clients: tuple[str, ...]
    """Their client ids."""
    subscriptions: Mapping[str, OwnSubscription]
    """By topic."""
    error: str | None
    """What it shows instead."""
    consume_from_where: str | None = None
    message_model: str | None = None


class ShownProgress(QueueProgress, frozen=True, kw_only=True):
    """How far a queue and a group in it are, as the dashboard shows it."""

    owner: str | None = None
    """The client id of the queue's owner."""


class DashboardProgressObserved(Observation, frozen=True, kw_only=True):
    """What the dashboard shows of a group's progress."""

    kind: ClassVar[str] = "dashboard-progress-observed"
    node: ClassVar[str] = "harness"
    group: str
    topics: Mapping[str, tuple[ShownProgress, ...]]
    """By topic."""
    error: str | None
    """What it shows instead."""
