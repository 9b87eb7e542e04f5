"""A kind of client: its ways of consuming, its timers, and all else that differs between clients.

Steps, conditions, checks and the oracle ask an `Api` for what they must know, and never which client it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from rocketchaos.harness.rocketmq.allocation import JAVA_STRATEGIES, Strategies
from rocketchaos.harness.rocketmq.version_range import contains

ApiName = Literal["push", "pop", "lite-pull", "pull", "simple"]
"""In which way a consumer gets its messages."""


@dataclass(frozen=True, slots=True)
class Api:
    """One way in which one kind of client consumes."""

    name: ApiName
    implementation: str
    """RocketMQ's class, or the package's."""
    filters_by: Literal["stored", "own"] = "stored"
    """By what the broker filters: the subscription that it holds for the group, or the expression that comes
    with every pull or receive (FLAG_SUBSCRIPTION; as DefaultLitePullConsumerImpl.pullSyncImpl sets it, 4.9.4)."""
    queues: Literal["owned", "shared"] = "owned"
    """Whether each queue has an owner among the members, or every member is served from every queue."""
    tells_queues: bool = True
    """Whether the client can be asked which queues it owns: code 307, or its own process."""
    asks_process: bool = False
    """Whether its own process is asked for them, because 307 lacks them."""
    process_tells_all: bool = False
    """Whether its process is asked for all that 307 would tell, which its client doesn't answer at all times."""
    raises_version: bool = True
    """Whether a change of its queues raises its subVersion (RebalancePushImpl.messageQueueChanged)."""
    filters_itself: bool = True
    """Whether the client drops what its own tags don't match (PullAPIWrapper.processPullResult)."""
    retries: bool = True
    """Whether what its listener fails comes again."""
    dead_letters: bool = True
    """Whether what fails too often becomes a dead letter."""
    resubscribes: bool = True
    """Whether it can subscribe and unsubscribe while it runs."""
    suspends: bool = False
    """Whether it can stop pulling while it stays a member (`DefaultMQPushConsumer.suspend`)."""
    replies: bool = False
    """Whether its listener can reply to a request (`behaviour: {reply: true}`)."""
    commits_by_hand: bool = False
    """Whether its application can commit by itself: an orderly listener (`ConsumeOrderlyContext.setAutoCommit`),
    or one that polls or pulls."""
    seeks: bool = False
    """Whether it can move its own position while it runs (`DefaultLitePullConsumer.seek`)."""
    counts_pulls: bool = True
    """Whether the client counts the pulls that brought messages, and what its own filter let through."""
    commits_skipped: bool = True
    """Whether the group's offset passes what the broker's filter skipped as soon as that is known."""
    seen_by: Literal["listener", "lines", "topic", "http", "trace", "offsets"] = "listener"
    """What shows which messages it gets: its listener, which reports each; or lines that its program prints,
    entries that it writes into a topic, its answers to an HTTP call, or its client's message trace, of which a
    missing one proves nothing; or nothing but its group's offsets."""
    lacks: tuple[str, ...] = ()
    """The settings of a consumer, by their names in scenarios, that the client doesn't have."""
    properties: frozenset[str] | None = None
    """The properties of `DefaultMQPushConsumer` that it has; None: all that `lacks` leaves."""
    why_lacking: str = ""
    """Why this way of consuming has none of those; empty: other clients may have them."""
    strategies: Strategies = JAVA_STRATEGIES
    """How its strategies divide queues, by their names in scenarios."""
    sql: bool = True
    """Whether it subscribes by SQL."""
    survives_panics: frozenset[str] = frozenset({"concurrent", "orderly"})
    """The listeners that may throw without an end of its process."""
    request_mode: Literal["POP"] | None = None
    """The request mode that brokers must have for its group before it starts (SET_MESSAGE_REQUEST_MODE, 401)."""
    needs_long_polling: bool = False
    """Whether its brokers must be `longPollingEnable`: it waits there for 15 s, and without that no message that
    arrives wakes it (PopLongPollingService), so that whose wait ends first takes all."""
    brokers: str = ""
    """The versions of RocketMQ whose brokers can do that; empty: all."""
    clients: str = ""
    """The versions of the client that can."""
    newer: tuple[str, str] = ("", "")
    """Where newer clients need newer brokers: the versions of both."""

    @property
    def tells_offsets(self) -> bool:
        """Whether the client can be asked how far it has come in its queues: code 307 has that where it has those.

        Both Java's and the C++ client answer with `commitOffset` of their own offset store, memory first
        (`DefaultMQPushConsumerImpl.consumerRunningInfo`, 4.9.4; `getConsumerRunningInfo`, C++).
        """
        return self.tells_queues and (self.process_tells_all or not self.asks_process)

    def why_not(self, rocketmq: str, client: str) -> str | None:
        """Why a client of this version and brokers of that one can't do it together; None if they can."""
        if not contains(self.brokers, rocketmq):
            return f"`api: {self.name}` is what brokers of RocketMQ {rocketmq} can't do: {self.brokers} can"
        if not contains(self.clients, client):
            return f"`api: {self.name}` is what the client {client} can't do: {self.clients} can"
        clients, brokers = self.newer
        if clients and contains(clients, client) and not contains(brokers, rocketmq):
            return f"{self.implementation} {client} asks for what RocketMQ {rocketmq} doesn't have: {brokers} does"
        return None


@dataclass(frozen=True, slots=True)
class ClientTimer:
    """A timer of a client, which has run out before something happens."""

    name: str
    """One of `harness.rocketmq.timers`, without the client."""
    default_ms: int
    """Its default."""
    property: str = ""
    """The property by which a timing profile sets it; empty: it can't be set."""
    api: ApiName | None = None
    """The way of consuming whose property that is; None: the client's."""
    clients: str = ""
    """The versions of the client that have it; empty: all."""


@dataclass(frozen=True, slots=True)
class ClientKind:
    """One kind of client."""

    name: str
    title: str
    """Which software it is, in a few words."""
    worker: str
    """The kind of its worker, of `harness.workers.worker_kinds.KINDS`."""
    apis: Mapping[str, Api]
    """Its ways of consuming, by name. The first is its usual one."""
    timers: tuple[ClientTimer, ...]
    """Those that may have to run out before something is seen of it."""
    version: str | None = None
    """The version that it has by default; None: that of the brokers, or any that the user names."""
    older: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The further versions that the user may name, where it has a version of its own: the fields of its `Api`s
    that differ there."""
    needs_proxy: bool = False
    """It speaks gRPC, with the proxy of RocketMQ 5."""
    jvm: bool = False
    """It is a Java client of ours, whose JVM takes arguments."""
    shared_worker: str | None = None
    """The kind of worker in which clients of several runs live; None: each has a process of its own."""
    recalls: str = ""
    """The versions whose producer takes delayed messages back (`DefaultMQProducer.recallMessage`); empty: none."""
    heartbeat_v2: str = ""
    """The versions of it that have useHeartbeatV2, where its consumers don't lack it; empty: all."""
    sends: frozenset[str] = frozenset()
    """The ways of `harness.language.sending` in which its producer sends, other than the usual one."""
    namespaces: bool = False
    """Whether its consumers and its producer take a namespace."""
    refuses_properties: frozenset[str] = frozenset()
    """Names of properties that its producer refuses in a message, in every version, because they are its own."""
    refuses_properties_of_5: frozenset[str] = frozenset()
    """Those that it refuses in addition from 5.0 on."""
    takes_ids: bool = True
    """Whether a client has the id that the harness gives it; others put their process and address into it."""
    behaves_by_key: bool = True
    """Whether its listener can fail and be slow on single messages (`behaviour: {only: …}`)."""
    fails_by: frozenset[str] = frozenset({"status"})
    """How its listener can fail (`behaviour: {by}`)."""
    chooses_queues: bool = True
    """Whether its producer sends a message to the queue that the harness names."""
    producer_properties: frozenset[str] | None = frozenset()
    """Those that `settings` of its producer may set, by the names of Java's; None: all that its client has."""
    tells_route: bool = True
    """Whether its producer can be asked to which brokers of a topic it could send now."""
    signs: bool = False
    """Whether its consumers and its producer sign their requests as an account of the cluster (`account`)."""
    compressed: bool = True
    """Whether its timers can be set: those of the C++ and the gRPC client can't."""
    program: Literal["jar", "command", "image"] | None = None
    """The key of `app` by which a consumer names it, where it is a whole program of the user's: it begins with the
    consumer's start, has the names of topics and groups in it, and ends by SIGTERM."""
    begins_at_start: bool = False
    """Whether its process begins with the consumer's start; others are there before, and wait for that."""

    def api(self, name: str, version: str | None) -> Api:
        """One of its ways of consuming, in the version that was asked for.

        Raises:
            KeyError: it has no such way.
        """
        return replace(self.apis[name], **self.older.get(version or "", {}))

    @property
    def users_program(self) -> bool:
        """Whether it is a whole program, which `app` of a consumer names."""
        return self.program is not None


def keys(text: str) -> tuple[str, ...]:
    """The keys of a consumer that stand in the text."""
    return tuple(text.split())


def by_api(*apis: Api) -> Mapping[str, Api]:
    """The ways of consuming by name, the usual one first."""
    return {api.name: api for api in apis}
