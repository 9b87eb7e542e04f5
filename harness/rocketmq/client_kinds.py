"""The kinds of clients, and all that differs between them: stated here, and nowhere else.

Steps, conditions, checks and the oracle ask an `Api` for what they must know, and never which client it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal

from rocketchaos.harness.rocketmq.version_range import contains

ApiName = Literal["push", "pop", "lite-pull", "pull", "simple"]
"""In which way a consumer gets its messages."""
USUAL_CLIENT = "java"
"""The kind of those for which neither scenario nor matrix names one."""


@dataclass(frozen=True, slots=True)
class Api:
    """One way in which one kind of client consumes."""

    name: ApiName
    implementation: str
    """RocketMQ's class, or the package's."""
    filters_by: Literal["stored", "own"] = "stored"
    """By what the broker filters: the subscription that it holds for the group, or the expression that travels
    with every pull or receive (FLAG_SUBSCRIPTION; as DefaultLitePullConsumerImpl.pullSyncImpl sets it, 4.9.4)."""
    queues: Literal["owned", "shared"] = "owned"
    """Whether each queue has an owner among the members, or every member is served from every queue."""
    tells_queues: bool = True
    """Whether the client can be asked which queues it owns: code 307, or its own process."""
    asks_process: bool = False
    """Whether its own process is asked for them, for 307 lacks them."""
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
    counts_pulls: bool = True
    """Whether the client counts the pulls that brought messages, and what its own filter let through."""
    commits_skipped: bool = True
    """Whether the group's offset passes what the broker's filter passed over as soon as that is known."""
    lacks: tuple[str, ...] = ()
    """The settings of a consumer, by their names in scenarios, that the client doesn't have."""
    why_lacking: str = ""
    """Why this way of consuming has none of those; empty: other clients may have them."""
    sql: bool = True
    """Whether it subscribes by SQL."""
    request_mode: Literal["POP"] | None = None
    """What brokers must be told to hand out to its group, before it starts (SET_MESSAGE_REQUEST_MODE, 401)."""
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
        return self.tells_queues and not self.asks_process

    def why_not(self, rocketmq: str, client: str) -> str | None:
        """Why a client of this version and brokers of that one can't do it together; None where they can."""
        if not contains(self.brokers, rocketmq):
            return f"`api: {self.name}` is what brokers of RocketMQ {rocketmq} can't do: {self.brokers} can"
        if not contains(self.clients, client):
            return f"`api: {self.name}` is what the client {client} can't do: {self.clients} can"
        clients, brokers = self.newer
        if clients and contains(clients, client) and not contains(brokers, rocketmq):
            return f"{self.implementation} {client} asks for what RocketMQ {rocketmq} doesn't have: {brokers} does"
        return None


@dataclass(frozen=True, slots=True)
class ClientKind:
    """One kind of client."""

    name: str
    title: str
    """Which software it is, in a few words."""
    worker: str
    """The kind of its worker, of `harness.workers.kinds.KINDS`."""
    apis: Mapping[str, Api]
    """What it can do, by name; the first is its usual one."""
    version: str | None = None
    """The one version that is known to work; None: that of the brokers, or any that the user names."""
    needs_proxy: bool = False
    """It speaks gRPC, with the proxy of RocketMQ 5."""
    shared_worker: str | None = None
    """The kind of worker in which clients of several runs live; None: each has a process of its own."""
    heartbeat_v2: str = ""
    """The versions of it that have useHeartbeatV2, where its consumers don't lack it; empty: all."""
    chooses_queues: bool = True
    """Whether its producer sends a message to the queue that it is told."""
    compressed: bool = True
    """Whether its timers can be set: those of the C++ and the gRPC client can't."""


def _apis(*apis: Api) -> Mapping[str, Api]:
    return MappingProxyType({api.name: api for api in apis})


_QUEUES_ALONE = (
    "model",
    "listener",
    "strategy",
    "post_subscription_when_pull",
    "retry_delay_level",
    "pull_threshold_for_queue",
    "pull_interval",
    "pull_retry_after",
    "filter_class",
    "instance",
)
"""What says nothing to a member that owns no queues, for brokers hand messages out to it."""
_LISTENERS_ALONE = (
    "post_subscription_when_pull",
    "max_reconsume_times",
    "retry_delay_level",
    "batch_size",
    "threads",
    "listener",
    "pull_interval",
    "pull_retry_after",
    "filter_class",
    "instance",
)
"""What says nothing to a consumer without a listener, which polls or pulls."""
_GRPC_LACKS = (
    "model",
    "listener",
    "consume_from",
    "strategy",
    "queues",
    "rooms",
    "post_subscription_when_pull",
    "max_reconsume_times",
    "retry_delay_level",
    "batch_size",
    "pull_threshold_for_queue",
    "pull_interval",
    "pull_retry_after",
    "filter_class",
    "instance",
    "through",
    "heartbeat_v2",
)
"""What is the proxy's or the brokers' business, or nobody's, where a client speaks gRPC."""
_GRPC_PUSH = Api(
    "push",
    "PushConsumer",
    filters_by="own",
    queues="shared",
    tells_queues=False,
    raises_version=False,
    filters_itself=False,
    counts_pulls=False,
    lacks=_GRPC_LACKS,
)

CLIENT_KINDS: Mapping[str, ClientKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            ClientKind(
                "java",
                "RocketMQ's Java client",
                "java",
                _apis(
                    Api("push", "DefaultMQPushConsumer"),
                    Api(
                        "pop",
                        "DefaultMQPushConsumer in POP mode, 5.x",
                        filters_by="own",
                        queues="shared",
                        asks_process=True,
                        dead_letters=False,
                        lacks=_QUEUES_ALONE,
                        why_lacking="a consumer in POP mode takes from all queues, by its own expression, with "
                        "delays of its own",
                        request_mode="POP",
                        needs_long_polling=True,
                        brokers=">=5.0",
                        clients=">=5.0",
                    ),
                    Api(
                        "lite-pull",
                        "DefaultLitePullConsumer",
                        filters_by="own",
                        asks_process=True,
                        # RebalanceLitePullImpl.messageQueueChanged tells a listener alone (4.9.4, 5.5.0).
                        raises_version=False,
                        retries=False,
                        dead_letters=False,
                        counts_pulls=False,
                        commits_skipped=False,
                        lacks=_LISTENERS_ALONE,
                        why_lacking="a lite pull consumer has no listener and no retries",
                        # They pull with LITE_PULL_MESSAGE (361).
                        newer=(">=5.0", ">=5.0"),
                    ),
                    Api(
                        "pull",
                        "DefaultMQPullConsumer",
                        filters_by="own",
                        asks_process=True,
                        raises_version=False,
                        retries=False,
                        dead_letters=False,
                        resubscribes=False,
                        counts_pulls=False,
                        lacks=(*_LISTENERS_ALONE, "pull_threshold_for_queue"),
                        why_lacking="a pull consumer has no listener and no retries",
                    ),
                ),
                shared_worker="shared-java",
                heartbeat_v2=">=5.1.3",
            ),
            ClientKind(
                "python",
                "rocketmq-client-python, over the C++ client",
                "python",
                _apis(
                    Api(
                        "push",
                        "PushConsumer",
                        filters_by="own",
                        raises_version=False,
                        counts_pulls=False,
                        lacks=(
                            "consume_from",
                            "strategy",
                            "queues",
                            "rooms",
                            "post_subscription_when_pull",
                            "heartbeat_v2",
                            "max_reconsume_times",
                            "retry_delay_level",
                            # The C++ client has one, but takes it for orderly listeners alone.
                            "batch_size",
                            "pull_threshold_for_queue",
                            "pull_interval",
                            "pull_retry_after",
                            "filter_class",
                            "instance",
                        ),
                        sql=False,
                        resubscribes=False,
                    )
                ),
                version="2.0.0",
                compressed=False,
            ),
            ClientKind(
                "grpc",
                "rocketmq-python-client, over gRPC",
                "grpc",
                _apis(
                    _GRPC_PUSH,
                    replace(
                        _GRPC_PUSH,
                        name="simple",
                        implementation="SimpleConsumer",
                        lacks=(*_GRPC_PUSH.lacks, "threads"),
                    ),
                ),
                version="5.1.2",
                needs_proxy=True,
                chooses_queues=False,
                compressed=False,
            ),
        )
    }
)
"""By name."""

_CHOICE = re.compile(r"([a-z]+)(?:@(\d+\.\d+\.\d+))?")


@dataclass(frozen=True, slots=True)
class ClientChoice:
    """A kind of client, in some version: `java`, `java@4.9.4`, `python`, `grpc`."""

    kind: ClientKind
    version: str | None = None
    """The one that was asked for; None: the kind's own, or the brokers'."""

    def __str__(self) -> str:
        return self.kind.name if self.version is None else f"{self.kind.name}@{self.version}"

    def version_on(self, rocketmq: str) -> str:
        """The client's version where the brokers' is `rocketmq`."""
        return self.version or self.kind.version or rocketmq


def client_choice(text: str) -> ClientChoice:
    """The client that the text names.

    Raises:
        ValueError: there is no such kind, or it is there in another version alone.
    """
    found = _CHOICE.fullmatch(text)
    kind = CLIENT_KINDS.get(found[1]) if found else None
    if found is None or kind is None:
        near = get_close_matches(text.partition("@")[0], CLIENT_KINDS, 1)
        meant = f"; did you mean `{near[0]}`?" if near else ""
        known = ", ".join(CLIENT_KINDS)
        raise ValueError(f"`{text[:40]}` is no client: write one of {known}, or `java@4.9.4`{meant}")
    if kind.version is not None and found[2] not in (None, kind.version):
        raise ValueError(f"{kind.name} is {kind.title}, in version {kind.version} alone: write `{kind.name}`")
    return ClientChoice(kind, found[2])
