"""A consumer as a scenario declares it, and what follows from that for its queues and filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from rocketchaos.harness.language.account import ACCOUNT, AccessKey
from rocketchaos.harness.language.app_spec import App
from rocketchaos.harness.language.behaviour import Behaviour
from rocketchaos.harness.language.client_words import (
    FIELD_OF,
    JVM_ARGS,
    PROGRAM_EXAMPLES,
    ClientText,
    JvmArgs,
    parts_of_id,
    program_of,
    why_no_property,
    why_not_reached,
)
from rocketchaos.harness.language.consumer_problems import lacking_in, problems
from rocketchaos.harness.language.expressions import ExpressionField, text_of
from rocketchaos.harness.language.name_servers import NameServerNames
from rocketchaos.harness.language.words import (
    ClientId,
    DurationMs,
    GroupKey,
    Name,
    Namespace,
    OneOrMore,
    Strict,
    Through,
    TopicKey,
    WholeSecondsMs,
    as_tuple,
)
from rocketchaos.harness.rocketmq.allocation import Queue, StrategyName
from rocketchaos.harness.rocketmq.client_kinds import (
    USUAL_CLIENT,
    Api,
    ApiName,
    ClientChoice,
    client_choice,
)
from rocketchaos.harness.rocketmq.properties import CONSUMERS, Value
from rocketchaos.harness.rocketmq.version_range import contains


def _list(items: dict[str, Any]) -> Any:
    return WithJsonSchema({"anyOf": [items, {"type": "array", "items": items, "minItems": 1}]})


class Consumer(Strict):
    """A consumer, started by a `start` step. All defaults are RocketMQ's own, except that of `consume_from`."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": [key]} for key in ("subscribe", "app", "beside")]}
    )

    group: GroupKey = Field(
        description="its consumer group; its start fails if RocketMQ refuses the name: too long, or with "
        "other characters than letters, digits, `_-%|`"
    )
    client: ClientText | None = Field(
        default=None,
        description="which client: `java`, `java@4.9.4` in its own version, `python` over the C++ client, `grpc` "
        "and `grpc-java`, the Python and the Java client of 5.x that speak gRPC, `go`, `go@2.1.1`; "
        "default: that of the matrix, otherwise `java` in the brokers' version",
    )
    app: App | None = Field(
        default=None,
        description="a program of your own, unchanged: `{jar: target/billing.jar, args: "
        "[--rocketmq.name-server=$nameserver]}`, or `{command: [./audit, $nameserver], sees: {log: 'handled "
        r"(?P<key>\S+)'}}`; it subscribes by itself. Another consumer of the same program is "
        "`beside` this one",
    )
    api: ApiName = Field(
        default="push",
        description="`push`: DefaultMQPushConsumer, or what its client has for it; `pop`: the same in POP mode "
        "(5.x), which the harness sets on the brokers before its start; `lite-pull`: "
        "DefaultLitePullConsumer, polled continuously; `pull`: DefaultMQPullConsumer, whose queues are "
        "pulled continuously; `simple`: SimpleConsumer of `grpc` and `grpc-java`, polled continuously",
    )
    subscribe: dict[TopicKey, ExpressionField] = Field(
        default_factory=dict,
        min_length=1,
        description="needed without `app`: topic to tag expression, `tagA`, `tagA || tagB`, `*`, or to "
        'SQL, `{sql: "a = 1"}`; '
        "RocketMQ gets any text unchanged, also one that it refuses (`||`) or misreads (`tagA | tagB`, ` * `). "
        "Of a program of your own it is what you expect; default: whatever the program subscribes to",
    )
    client_id: ClientId | None = Field(
        default=None,
        description="the first part of its client id (clientIP), by which the allocation is ordered; default "
        "its name. With `@` it is the whole id, `172.17.0.2@1`, the same in every run; its end `DEFAULT` the "
        "client of a clustering consumer replaces. Consumers with the same id run in separate processes, "
        "unless one is `beside` the other",
    )
    process: Literal["own"] | None = Field(
        default=None,
        description="`own`: a process of its own; default: it shares one with other clients, unless a step "
        "such as `kill` acts on its process",
    )
    beside: Name | None = Field(
        default=None,
        description="a consumer declared above it, whose process it shares, like two listeners of one "
        "application; with the same `client_id` they are one client (MQClientInstance)",
    )
    model: Literal["clustering", "broadcasting"] = Field(
        default="clustering",
        description="`broadcasting`: it consumes every queue, and keeps its offsets itself, in the run's folder; "
        "of a program of your own it says what the program does",
    )
    listener: Literal["concurrent", "orderly"] = Field(
        default="concurrent",
        description="MessageListenerConcurrently, or MessageListenerOrderly, which locks its queues",
    )
    behaviour: Behaviour = Field(
        default_factory=Behaviour,
        description="what its listener does: `succeed`, `block`, `{fail: 2}`, `{block: orders-1}`, `{slow: 50ms}`",
    )
    strategy: StrategyName = Field(
        default="average",
        description="its own AllocateMessageQueueStrategy; `machine-room-nearby` averages within rooms; a "
        "room is the part before the first `-` of client ids and brokers' names",
    )
    queues: (
        Annotated[
            tuple[Annotated[int, Field(ge=0)], ...],
            BeforeValidator(as_tuple),
            Field(min_length=1),
            _list({"type": "integer", "minimum": 0}),
        ]
        | None
    ) = Field(
        default=None,
        description=(
            "with `by-config`: the ids of its queues of each topic, on every broker; it has no retry queue then"
        ),
    )
    rooms: OneOrMore[str] | None = Field(
        default=None,
        description="with `machine-room`: the rooms from which it consumes; a broker's name is `room@name` then",
    )
    consume_from: Literal["first-offset", "last-offset", "timestamp"] = Field(
        default="first-offset",
        description="where a group without offsets starts; `timestamp`: RocketMQ's default timestamp, half "
        "an hour ago",
    )
    post_subscription_when_pull: bool = Field(
        default=False,
        description="each pull carries its own expression, and the broker filters by it instead of the stored one",
    )
    max_reconsume_times: int | None = Field(
        default=None,
        ge=0,
        description="this many retries, then the dead-letter queue; RocketMQ's default is 16, and endless "
        "with an orderly listener",
    )
    retry_delay_level: int | None = Field(
        default=None,
        ge=-1,
        le=18,
        description="the delay of a retry: 1 is 1 s, -1 sends it to the dead-letter queue at once; default: "
        "the broker's own, from 10 s rising; push consumers of `java` and `go`",
    )
    batch_size: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        description="consumeMessageBatchMaxSize: messages per call of the listener",
    )
    threads: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="consumeThreadMin and consumeThreadMax; RocketMQ's default is 20",
    )
    pull_threshold_for_queue: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        description="it stops pulling from a queue once it has cached this many of its messages",
    )
    pull_interval: DurationMs | None = Field(
        default=None,
        ge=1,
        le=65_535,
        description="the time between a pull that returned messages and the next one, at most 65,535 ms",
    )
    pull_retry_after: DurationMs | None = Field(
        default=None,
        ge=1,
        le=3_600_000,
        description="pullTimeDelayMillsWhenException: the time from a failed or refused pull to the next "
        "one; RocketMQ's default is 1 s",
    )
    invisible: WholeSecondsMs | None = Field(
        default=None,
        ge=10_000,
        le=60_000,
        description="with `api: simple`: how long the others don't see what it has received, in whole seconds, "
        "unless it acks (invisibleDuration); default 15 s",
    )
    await_duration: WholeSecondsMs | None = Field(
        default=None,
        ge=1_000,
        le=60_000,
        description="with `api: simple`: how long the proxy holds a receive until there is a message, in whole "
        "seconds (awaitDuration); default 20 s. The proxy raises less than 5 s to 5 s, and lowers more than 20 s "
        "to 20 s (ReceiveMessageActivity)",
    )
    filter_class: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_$][\w$.]*$",
        description="it subscribes in class filter mode, by a Java class of this name, to all its topics; "
        "their expressions must be `*`",
    )
    instance: Literal["default"] | None = Field(
        default=None,
        description="`default`: its client id ends as if no instanceName were set: in `DEFAULT` when it "
        "broadcasts, and it shares its offsets folder with all such consumers of its host; in `PID#nanoTime` "
        "when it clusters (of Go `PID` alone). Default: it ends with a name of the run",
    )
    through: Through = Field(
        default="brokers",
        description="`proxy`: it connects only to the proxy of RocketMQ 5, which has a port for remoting "
        "clients too",
    )
    name_servers: NameServerNames | None = Field(
        default=None,
        description="the name servers that it knows, `nameserver-2`, in this order; default: all of the "
        "cluster. RocketMQ's client shuffles them, and asks one until that one stops answering",
    )
    namespace: Namespace | None = Field(
        default=None,
        description="its namespace (setNamespace), which its client puts before its group and its topics; a "
        "scenario says their whole names, as brokers have them: `{namespace: ns, group: ns%g, subscribe: "
        "{ns%orders: '*'}}`. For setNamespaceV2 of 5.x there is `settings: {namespaceV2: ns}`",
    )
    heartbeat_v2: bool = Field(
        default=False,
        description="its heartbeats omit its subscriptions while those don't change (useHeartbeatV2); "
        "clients from 5.1.3 on. If another heartbeat is under way when a rebalance sends one, the client "
        "skips it, and the broker refuses this member's pulls until its next rebalance (SUBSCRIPTION_NOT_LATEST)",
    )

    account: AccessKey | None = Field(default=None, description=ACCOUNT)
    jvm_args: JvmArgs = Field(default=(), description=JVM_ARGS)
    settings: dict[str, Value] = Field(
        default_factory=dict,
        description="other properties of RocketMQ's Java client, by their own names, set before its start: "
        "`{consumeTimeout: 1, pullBatchSize: 1}`; a setting that the client refuses makes its start fail",
    )

    @model_validator(mode="before")
    @classmethod
    def _a_program(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("app") is not None and data.get("client") is None:
            app = data["app"].model_dump(exclude_none=True) if isinstance(data["app"], App) else data["app"]
            return {**data, "client": program_of(app if isinstance(app, Mapping) else {})}
        return data

    @model_validator(mode="after")
    def _fits_together(self) -> Consumer:
        for problem in problems(self):
            raise ValueError(problem)
        return self

    @property
    def has_whole_id(self) -> bool:
        """Whether its client id is said up to its end."""
        return self.client_id is not None and "@" in self.client_id

    def client_id_in(self, name: str, run: str) -> tuple[str, str]:
        """Its clientIP and its instanceName, in this run, where the scenario calls it `name`."""
        return parts_of_id(self.client_id, name, run if self.instance is None else self.instance.upper())

    @property
    def expressions(self) -> dict[str, str]:
        """By topic, as brokers hold them."""
        return {topic: text_of(expression) for topic, expression in self.subscribe.items()}

    @property
    def choice(self) -> ClientChoice:
        """Its client."""
        return client_choice(self.client or USUAL_CLIENT)

    @property
    def needs_proxy(self) -> bool:
        """Whether it speaks to the proxy."""
        by_app = self.app is not None and self.app.needs_proxy
        return by_app or self.choice.kind.needs_proxy or self.through == "proxy"

    @property
    def traits(self) -> Api:
        """How its client consumes.

        A push consumer's pulls carry its expression (FLAG_SUBSCRIPTION) where postSubscriptionWhenPull is set
        (DefaultMQPushConsumerImpl.pullMessage, 4.9.4).

        Raises:
            KeyError: its client has no such `api` (`why_not_with` tells).
        """
        api = self.choice.kind.api(self.api, self.choice.version)
        if self.app is not None and not self.app.has_hook:
            api = replace(api, seen_by="offsets" if self.app.sees is None else self.app.sees.way)
        return replace(api, filters_by="own") if self.post_subscription_when_pull else api

    def why_not_with(self, choice: ClientChoice) -> str | None:
        """Why a client can't be this consumer; None if it can."""
        if choice.kind.program is not None and self.app is None and self.beside is None:
            which = PROGRAM_EXAMPLES[choice.kind.program]
            return f"`client: {choice}` is a program of your own, and `app` says which: `app: {{{which}}}`"
        if self.app is not None and choice.kind.name != program_of(self.app.model_dump(exclude_none=True)):
            return f"`app` is a client itself: leave out `client: {choice}`"
        if self.api not in choice.kind.apis:
            return f"{choice.kind.title} has no `api: {self.api}`; it has {', '.join(choice.kind.apis)}"
        api = choice.kind.api(self.api, choice.version)
        if api.request_mode == "POP" and self.listener == "orderly":
            # RebalancePushImpl.clientRebalance; seen on 5.5.0.
            return (
                f"{choice.kind.title} pulls for an orderly listener, also where POP is set: write `api: push`"
            )
        lacking = lacking_in(self, choice.kind, api)
        if lacking:
            why = api.why_lacking or f"{choice.title} can't do this"
            return f"{why}: leave out `{'`, `'.join(lacking)}`"
        return None

    @property
    def retries(self) -> bool:
        """Whether what its listener fails comes again: from the retry topic, or in place where it is orderly."""
        return self.traits.retries and (self.model == "clustering" or self.listener == "orderly")

    @property
    def gives_up(self) -> bool:
        """Whether a message that fails too often becomes a dead letter."""
        return self.traits.dead_letters and self.model == "clustering"

    @property
    def needs_own_process(self) -> bool:
        """Whether it needs its own process: the scenario demands it, or it keeps files where its process keeps
        its own.

        Or its kind of client never shares one, or another run may use its client id.
        """
        can_share = self.choice.kind.shared_worker is not None and not self.has_whole_id
        alone = self.process == "own" or self.model == "broadcasting" or bool(self.jvm_args)
        return alone or not can_share

    @property
    def properties(self) -> dict[str, Any]:
        """The settings that are properties of the client, with RocketMQ's names."""
        chosen = {name: getattr(self, field) for name, field in FIELD_OF.items()}
        # A switch that is off says what the client does anyway.
        given = {name: value for name, value in chosen.items() if value is not None and value is not False}
        return {**given, **self.settings}

    def key_of(self, name: str) -> str:
        """The key by which it states one of its `properties`."""
        return f"settings: {{{name}: …}}" if name in self.settings else FIELD_OF[name]

    def why_not_on(self, rocketmq: str) -> str | None:
        """Why its client can't be this consumer with brokers of this version; None if it can."""
        choice = self.choice
        reason = self.why_not_with(choice) or why_not_reached(self.needs_proxy, rocketmq)
        if reason is not None:
            return reason
        client = choice.version_on(rocketmq)
        able = choice.kind.heartbeat_v2
        if self.heartbeat_v2 and not contains(able, client):
            return f"`heartbeat_v2` is what the client {client} can't do: {able} can"
        return self.traits.why_not(rocketmq, client) or why_no_property(
            self.settings, CONSUMERS.get(self.api, {}), client
        )

    def share(
        self, queues: Sequence[Queue], members: Sequence[str], member: str, real_topic: str
    ) -> tuple[Queue, ...]:
        """The queues that its own strategy gives to `member`, which is its client id, among `members`."""
        if self.model == "broadcasting" or self.traits.queues == "shared":
            return tuple(sorted(queues))
        return self.traits.strategies.share(
            self.strategy, queues, members, member, real_topic, ids=self.queues or (), rooms=self.rooms or ()
        )
