"""Events about consumers, hand-made clients and their processes."""

from collections.abc import Mapping
from typing import ClassVar

from rocketchaos.harness.core.events.base import Body, Part, Queue

Expression = str | dict[str, str]
"""Tags, or SQL as `{sql: ...}`."""


class WorkerReady(Body, frozen=True, kw_only=True):
    """A worker's process can take requests."""

    kind: ClassVar[str] = "ready"
    node: ClassVar[str] = "worker"
    pid: int
    clock_uncertainty_ms: float | None = None
    """Of a worker with a clock of its own, as in a container: how exactly its times are known, in milliseconds."""


class WorkerDied(Body, frozen=True, kw_only=True):
    """A worker's process ended unexpectedly."""

    kind: ClassVar[str] = "worker-died"
    node: ClassVar[str] = "consumer"
    reason: str


class OutputCut(Body, frozen=True, kw_only=True):
    """A user's program printed more than its log keeps: the beginning, and the end of what one start printed."""

    kind: ClassVar[str] = "output-cut"
    node: ClassVar[str] = "worker"
    log: str
    """The file in `logs/`."""
    left_out_bytes: int


class ConsumerStarting(Body, frozen=True, kw_only=True):
    """The harness asks a consumer to start: from here on it may ask for messages."""

    kind: ClassVar[str] = "consumer-starting"
    node: ClassVar[str] = "consumer"
    pid: int | None = None
    subscribe: Mapping[str, Expression]
    """By topic."""


class ProgramSubscription(Body, frozen=True, kw_only=True):
    """The subscription of a user's program when its consumer starts."""

    kind: ClassVar[str] = "program-subscription"
    node: ClassVar[str] = "worker"
    subscribe: Mapping[str, Expression]
    """By topic."""
    pid: int | None = None
    """Of the program: consumers of one process have one."""


class ConsumerStarted(Body, frozen=True, kw_only=True):
    """A consumer's own start() has returned.

    The traits of its client are those of `harness.rocketmq.client_kinds.Api`; older histories lack them.
    """

    kind: ClassVar[str] = "consumer-started"
    node: ClassVar[str] = "consumer"
    client_id: str
    """Under which brokers know it."""
    group: str
    client: str | None = None
    """The kind of its client, `java`."""
    client_version: str | None = None
    api: str | None = None
    """How it consumes, `push`."""
    filters_by: str | None = None
    """`stored` or `own`."""
    filters_itself: bool | None = None
    queues: str | None = None
    """`owned` or `shared`."""
    tells_queues: bool | None = None
    asks_process: bool | None = None
    raises_version: bool | None = None
    retries: bool | None = None
    dead_letters: bool | None = None
    resubscribes: bool | None = None
    counts_pulls: bool | None = None
    commits_skipped: bool | None = None
    pid: int | None = None
    process: str | None = None
    """`own`, or `shared` with other clients."""


class ConsumerRefused(Body, frozen=True, kw_only=True):
    """A consumer's own start() threw."""

    kind: ClassVar[str] = "consumer-refused"
    node: ClassVar[str] = "consumer"
    error: str
    code: int | None = None
    """RocketMQ's response code, if there was one."""
    exceptions: tuple[str, ...] = ()
    """The classes of what the client threw, outermost first: `MQClientException`."""


class ConsumerStopping(Body, frozen=True, kw_only=True):
    """A consumer's shutdown begins, by a request or by SIGTERM."""

    kind: ClassVar[str] = "consumer-stopping"
    node: ClassVar[str] = "consumer"


class ConsumerStopped(Body, frozen=True, kw_only=True):
    """A consumer's shutdown has ended."""

    kind: ClassVar[str] = "consumer-stopped"
    node: ClassVar[str] = "consumer"


class Subscribed(Body, frozen=True, kw_only=True):
    """A running consumer has subscribed."""

    kind: ClassVar[str] = "subscribed"
    node: ClassVar[str] = "consumer"
    topic: str
    expression: Expression


class SubscriptionRefused(Body, frozen=True, kw_only=True):
    """A subscription of a running consumer was refused."""

    kind: ClassVar[str] = "subscription-refused"
    node: ClassVar[str] = "consumer"
    topic: str
    expression: Expression
    error: str
    code: int | None = None
    """RocketMQ's response code, if there was one."""
    exceptions: tuple[str, ...] = ()
    """The classes of what the client threw, outermost first."""


class Unsubscribed(Body, frozen=True, kw_only=True):
    """A running consumer has unsubscribed."""

    kind: ClassVar[str] = "unsubscribed"
    node: ClassVar[str] = "consumer"
    topic: str


class Sought(Body, frozen=True, kw_only=True):
    """A running consumer has moved its own position in queues of a topic."""

    kind: ClassVar[str] = "sought"
    node: ClassVar[str] = "consumer"
    topic: str
    to: str
    """An offset, `begin` or `end`."""
    queues: tuple[Queue, ...]


class SeekRefused(Body, frozen=True, kw_only=True):
    """A consumer's client refused to move its position."""

    kind: ClassVar[str] = "seek-refused"
    node: ClassVar[str] = "consumer"
    topic: str
    to: str
    """An offset, `begin` or `end`."""
    error: str
    code: int | None = None
    """RocketMQ's response code, if there was one."""
    exceptions: tuple[str, ...] = ()
    """The classes of what the client threw, outermost first."""


class ConsumerSuspended(Body, frozen=True, kw_only=True):
    """A consumer's client pulls no more, and stays a member."""

    kind: ClassVar[str] = "consumer-suspended"
    node: ClassVar[str] = "consumer"


class ConsumerResumed(Body, frozen=True, kw_only=True):
    """A suspended consumer's client pulls again."""

    kind: ClassVar[str] = "consumer-resumed"
    node: ClassVar[str] = "consumer"


class ListenerReleased(Body, frozen=True, kw_only=True):
    """A consumer's listener no longer blocks."""

    kind: ClassVar[str] = "listener-released"
    node: ClassVar[str] = "consumer"


class RequestModeSet(Body, frozen=True, kw_only=True):
    """Brokers now serve a topic to a group in this mode."""

    kind: ClassVar[str] = "request-mode-set"
    node: ClassVar[str] = "harness"
    group: str
    topic: str
    mode: str
    """`POP` or `PULL`."""
    brokers: tuple[str, ...]


class ClientPulled(Body, frozen=True, kw_only=True, rename={"own_expression": "with"}):
    """One pull by a consumer's own client, and its result."""

    kind: ClassVar[str] = "client-pulled"
    node: ClassVar[str] = "consumer"
    name: str
    """The step's."""
    topic: str
    broker: str
    queue_id: int
    offset: int
    own_expression: str | None
    status: str | None
    """A PullStatus; null if it threw."""
    next_offset: int | None = None
    messages: int | None = None
    """How many."""
    error: str | None = None
    code: int | None = None


class ClaimedSubscription(Part, frozen=True, kw_only=True):
    """A subscription of a hand-made member, as it says."""

    expression: str
    sub_version: int = 0


class HeartbeatSent(Body, frozen=True, kw_only=True):
    """A client made by hand has sent brokers a heartbeat as a member of a group."""

    kind: ClassVar[str] = "heartbeat-sent"
    node: ClassVar[str] = "hand-made"
    client_id: str
    group: str
    brokers: tuple[str, ...] | None = None
    subscriptions: Mapping[str, ClaimedSubscription] | None = None
    """By topic."""
    consume_from_where: str | None = None
    message_model: str | None = None


class HandMadeClosed(Body, frozen=True, kw_only=True):
    """The connections of a client made by hand end."""

    kind: ClassVar[str] = "hand-made-closed"
    node: ClassVar[str] = "hand-made"
    client_id: str = ""


class Notified(Body, frozen=True, kw_only=True):
    """A broker tells a client made by hand that a group has changed (request 40)."""

    kind: ClassVar[str] = "notified"
    node: ClassVar[str] = "hand-made"
    broker: str
    group: str
