"""What a look at a cluster saw, typed; each part with the exchange that shows it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.rocketmq.allocation import Queue

TAG, CLASS = "TAG", "CLASS"
"""Types of subscriptions: by tags, and by a class on a filter server (classFilterMode, 4.9.x)."""
RETRY, DEAD_LETTERS = "%RETRY%", "%DLQ%"
"""What stands before the group's name in the names of its own topics."""
HEARTBEATS = "DefaultHeartBeatSyncerTopic"
"""The topic in which proxies tell each other of their members (ProxyConfig.heartbeatSyncerTopicName, 5.x)."""
SYNCER = f"CID_{HEARTBEATS}"
"""The group in which a proxy in cluster mode reads them (HeartbeatSyncer, 5.x)."""
_RESERVED_GROUPS = frozenset(
    {
        "SELF_TEST_C_GROUP", "CID_ONSAPI_OWNER", "CID_ONSAPI_PERMISSION", "TOOLS_CONSUMER", "CID_ONS-HTTP-PROXY",
        "FILTERSRV_CONSUMER", "CID_ONSAPI_PULL", "DEFAULT_CONSUMER", SYNCER,
    }
)  # fmt: skip
"""Of RocketMQ itself (MixAll); so is all that begins with CID_RMQ_SYS_."""
DELAYED = "SCHEDULE_TOPIC_XXXX"
"""The topic in which a broker keeps delayed messages, a queue for each delay level (4.9.4, 5.5.0)."""
HALF = "RMQ_SYS_TRANS_HALF_TOPIC"
"""The topic in which a broker keeps the messages of transactions that aren't decided yet."""
REVIVE = "rmq_sys_REVIVE_LOG_"
"""What the topic of a cluster's popped messages begins with; their broker puts those that aren't acknowledged
in time back (PopReviveService; 5.0 to 5.5.0)."""
REVIVING = "CID_RMQ_SYS_REVIVE_GROUP"
"""The group by whose offset it does so."""
TIMED = "rmq_sys_wheel_timer"
"""The topic in which a broker keeps what its timer hasn't taken yet (TimerMessageStore, 5.x)."""
TRANSACTIONS = "CID_RMQ_SYS_TRANS"
"""The group by whose offset a broker checks them."""


def is_of_rocketmq(group: str) -> bool:
    """Whether it is one of RocketMQ's own groups, which no application has."""
    # `g@broadcast`: how far members that broadcast are (BroadcastOffsetManager, 5.x); no group's name has an @.
    return group in _RESERVED_GROUPS or group.startswith("CID_RMQ_SYS_") or "@" in group


@dataclass(frozen=True, slots=True)
class Subscription:
    """To one topic, as a broker stores it or as a member has it."""

    topic: str
    expression: str
    type: str
    """`TAG`, `SQL92` or `CLASS`."""
    version: int
    """subVersion."""
    codes: frozenset[int]
    """The tags' hashes; empty where all are meant, or the client doesn't tell."""


@dataclass(frozen=True, slots=True)
class Connection:
    """One member, as a broker knows it."""

    client_id: str
    address: str
    """`host:port` of the member's side."""
    language: str
    version: int
    """MQVersion, by its ordinal."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One broker's connections and subscriptions of a group (203)."""

    exchange: Exchange
    online: bool
    """The broker knows members; otherwise it said that it doesn't, or didn't answer."""
    connections: tuple[Connection, ...] = ()
    subscriptions: Mapping[str, Subscription] = field(default_factory=dict)
    """By topic."""
    model: str = ""
    consume_from: str = ""

    @property
    def unknown(self) -> bool:
        """The broker did not say whether anybody is online."""
        return not self.online and self.exchange.answer_code != 206


@dataclass(frozen=True, slots=True)
class Held:
    """One queue in a member's hands: its ProcessQueueInfo. Offsets; times in ms since 1970."""

    commit_offset: int
    cached_count: int
    cached_min_offset: int
    cached_max_offset: int
    locked: bool
    dropped: bool
    last_lock_ms: int
    last_pull_ms: int
    last_consume_ms: int
    unacknowledged: int = 0
    """By POP: popped messages that its listener hasn't finished (PopProcessQueueInfo.waitAckCount, 5.x)."""
    popped: bool = False
    """Its member pops from it, and doesn't pull (mqPopTable, 5.x)."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member's own report (307), relayed by a broker."""

    client_id: str
    exchange: Exchange
    connections: tuple[Connection, ...]
    """As the brokers know it: of several addresses where several processes have this id."""
    answered: bool
    properties: Mapping[str, str] = field(default_factory=dict)
    subscriptions: Mapping[str, Subscription] = field(default_factory=dict)
    """By topic."""
    queues: Mapping[str, Mapping[Queue, Held]] = field(default_factory=dict)
    """By topic."""
    finishing: frozenset[str] = frozenset()
    """Topics of which its listener has finished messages lately: within about a minute (ConsumeStatus)."""
    failing: Mapping[str, float] = field(default_factory=dict)
    """By topic: how many calls of its listener have failed a second, over the last minute (consumeFailedTPS)."""
    succeeding: Mapping[str, float] = field(default_factory=dict)
    """The same of those that have succeeded (consumeOKTPS)."""
    pulling: Mapping[str, float] = field(default_factory=dict)
    """By topic: how many messages it has pulled a second, over the last minute (pullTPS)."""
    heartbeat: Exchange | None = None
    """What its proxy stored of it: the source of its subscriptions; None: it answered, or there is none."""

    @property
    def subscribes(self) -> bool:
        """Its subscriptions are known."""
        return self.answered or self.heartbeat is not None

    @property
    def shown_by(self) -> Exchange:
        """The answer that shows its subscriptions."""
        return self.heartbeat or self.exchange

    @property
    def strategy(self) -> str:
        """The simple name of its AllocateMessageQueueStrategy; empty if it doesn't report one."""
        return self.properties.get("allocateMessageQueueStrategy", "").partition("@")[0].rpartition(".")[2]

    @property
    def started_ms(self) -> int:
        """When it was started, by its own clock; 0 where it doesn't tell."""
        return whole(self.properties.get("PROP_CONSUMER_START_TIMESTAMP"))

    @property
    def name_servers(self) -> frozenset[str]:
        """The name servers that it knows; none where it doesn't report them."""
        known = self.properties.get("PROP_NAMESERVER_ADDR", "").split(";")
        return frozenset(item.strip() for item in known) - {""}

    @property
    def pulls_by_itself(self) -> bool:
        """Its application polls, and no listener is called (DefaultLitePullConsumer, DefaultMQPullConsumer)."""
        return self.properties.get("PROP_CONSUME_TYPE") == "CONSUME_ACTIVELY"

    @property
    def asks_brokers(self) -> bool:
        """It asks brokers for its queues, and whether to pull or to pop (setClientRebalance(false), 5.x)."""
        return self.properties.get("clientRebalance") == "false"

    @property
    def orderly(self) -> bool:
        """Its listener takes a queue's messages one after the other, under a lock at the broker."""
        return self.properties.get("PROP_CONSUMEORDERLY") == "true"

    @property
    def language(self) -> str:
        """As the brokers know it."""
        return self.connections[0].language if self.connections else ""


@dataclass(frozen=True, slots=True)
class QueueEnds:
    """A queue at its broker (202)."""

    min_offset: int
    max_offset: int
    updated_ms: int
    """When its last message was stored, by this machine's clock; 0: never."""


@dataclass(frozen=True, slots=True)
class TopicOnBroker:
    """A topic's queues on one broker, as a name server knows them (105)."""

    read_queues: int
    write_queues: int
    permission: int
    """PermName: 4 read, 2 write."""


@dataclass(frozen=True, slots=True)
class Route:
    """What one name server knows of a topic."""

    exchange: Exchange
    brokers: Mapping[str, TopicOnBroker] = field(default_factory=dict)
    """By broker name; none where it doesn't know the topic."""
    logical: tuple[Queue, ...] = ()
    """The queues of a static topic (5.x): clients divide these, and brokers map them to queues of their own."""
    order: str = ""
    """Its order configuration, `broker-a:4;broker-b:4` (orderTopicConf)."""

    @property
    def unknown(self) -> bool:
        """It is unknown whether there is such a topic."""
        return not self.exchange.succeeded and self.exchange.answer_code != 17


def disagree(routes: Iterable[Route]) -> bool:
    """Whether name servers answered differently about one topic."""
    known = [item.brokers for item in routes if not item.unknown]
    return any(item != known[0] for item in known)


@dataclass(frozen=True, slots=True)
class Broker:
    """One broker name, with what its master says of itself."""

    name: str
    cluster: str
    addresses: Mapping[int, str]
    """By broker id; 0 is the master."""
    config: Mapping[str, str] = field(default_factory=dict)
    runtime: Mapping[str, str] = field(default_factory=dict)
    asked: tuple[Exchange, ...] = ()

    @property
    def address(self) -> str:
        """Of the master, otherwise of the slave with the lowest id."""
        return self.addresses[min(self.addresses)]

    @property
    def is_of_5(self) -> bool:
        """It is a RocketMQ of 5.0 or later."""
        return self.runtime.get("brokerVersionDesc", "").startswith("V5")

    @property
    def slaves(self) -> Mapping[int, str]:
        """Addresses by broker id, without the master's."""
        return {number: address for number, address in sorted(self.addresses.items()) if number}


@dataclass(frozen=True, slots=True)
class Copies:
    """What a master and its slaves say of the copied commit log, the master before them."""

    master: Exchange
    """28."""
    slaves: Mapping[int, Exchange]
    """28, by broker id."""
    connected: Exchange | None
    """907 at the master; None: one of 4.9.x doesn't know this request."""
    offsets: Mapping[int, Exchange]
    """43, by broker id."""


@dataclass(frozen=True, slots=True)
class Timer:
    """A broker's timer of messages, and the first messages that it hasn't taken."""

    state: Exchange
    """28."""
    ends: Exchange | None = None
    """Where the queue of its topic ends (202); None: it has taken all."""
    entries: Exchange | None = None
    """The first ones that it hasn't taken, in the ConsumeQueue (321)."""
    messages: tuple[Exchange, ...] = ()
    """What the first one with a delay of its own is, and the first one that is about popped messages (33)."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """What a broker keeps in topics of its own, and hands out later."""

    delayed: Exchange
    """Where the queues of delayed messages end (202)."""
    delay_offsets: Exchange | None
    """How far each of them has been delivered (45); None: there are no delayed messages."""
    next_delayed: Mapping[int, Exchange]
    """By delay level: the first message that isn't delivered yet, in the ConsumeQueue (321); its hash is the
    time at which it is due."""
    half: Exchange
    """Where the queue of half messages ends (202)."""
    half_entries: Exchange | None
    """The first ones that aren't checked yet, in the ConsumeQueue (321); None: there are none."""
    transactions: tuple[Exchange, ...]
    """What these say of themselves (33)."""
    producers: Mapping[str, Exchange]
    """Who could decide them (204), by producer group."""
    revive: Exchange | None
    """Where the queues of popped messages end (202); None: a broker of 4.9.x has none."""
    revive_entries: Mapping[int, Exchange]
    """By queue: the first entries that it hasn't handled yet, in the ConsumeQueue (321)."""
    checkpoints: Mapping[int, Exchange]
    """By queue: when the first of these that is about popped messages was stored (33)."""
    timer: Timer | None
    """None: a broker of 4.9.x has none, and one of 5.x whose `timerWheelEnable` is false doesn't tell."""


@dataclass(frozen=True, slots=True)
class Registered:
    """What one name server knows of brokers (106)."""

    exchange: Exchange
    brokers: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """Addresses by id, by broker name."""
    clusters: Mapping[str, str] = field(default_factory=dict)
    """By broker name."""


@dataclass(slots=True)
class Look:
    """All that was seen at one time."""

    number: int
    at_ms: int
    registered: dict[str, Registered] = field(default_factory=dict)
    """By the name server's address."""
    brokers: dict[str, Broker] = field(default_factory=dict)
    copies: dict[str, Copies] = field(default_factory=dict)
    """By broker, of those with a master and a slave."""
    backlogs: dict[str, Backlog] = field(default_factory=dict)
    """By broker, of those with a master."""
    modes: dict[str, Exchange] = field(default_factory=dict)
    """By broker: how it hands out messages (402); of brokers of 5.x alone."""
    group_configs: dict[str, Exchange] = field(default_factory=dict)
    """By broker (201)."""
    groups: dict[str, dict[str, Mapping[str, object]]] = field(default_factory=dict)
    """SubscriptionGroupConfig by broker and group."""
    offset_tables: dict[str, Exchange] = field(default_factory=dict)
    """By broker (43)."""
    offsets: dict[str, dict[str, dict[str, dict[int, int]]]] = field(default_factory=dict)
    """By broker, group, topic and queue id."""
    stored: dict[str, dict[str, Stored]] = field(default_factory=dict)
    """By group and broker."""
    members: dict[str, dict[str, Member]] = field(default_factory=dict)
    """By group and client id."""
    routes: dict[str, dict[str, Route]] = field(default_factory=dict)
    """By topic and the name server's address."""
    proxies: dict[str, Route] = field(default_factory=dict)
    """The route of HEARTBEATS, by the name server's address; asked for if a named group has no member."""
    similar: dict[str, dict[str, Exchange]] = field(default_factory=dict)
    """By a topic without a route: topics whose names are like its own (206)."""
    topic_configs: dict[str, Exchange] = field(default_factory=dict)
    """By topic: what one of its brokers says of it (351); of brokers of 5.x alone."""
    stats: dict[str, dict[str, Exchange]] = field(default_factory=dict)
    """By topic and broker (202)."""
    ends: dict[str, dict[Queue, QueueEnds]] = field(default_factory=dict)
    """By topic."""
    entries: dict[tuple[str, Queue], Exchange] = field(default_factory=dict)
    """Of a queue's ConsumeQueue (321), by topic and queue."""
    removed: dict[tuple[str, Queue], Exchange] = field(default_factory=dict)
    """Of a ConsumeQueue (321) that the topic no longer has, though a group has an offset in it."""
    messages: dict[tuple[str, Queue], list[Exchange]] = field(default_factory=dict)
    """Offset and tag of each message that was read (33), by topic and queue."""

    def offset(self, group: str, topic: str, queue: Queue) -> int | None:
        """A group's offset at the broker; None: none is stored, or the broker didn't tell.

        Go clients store -1 where they have none.
        """
        offset = self.offsets.get(queue[0], {}).get(group, {}).get(topic, {}).get(queue[1])
        return None if offset is not None and offset < 0 else offset

    def reached(self, group: str, topic: str, queue: Queue) -> int | None:
        """How far a group is: by the queue's owner, where that is further than it has committed."""
        known = [self.offset(group, topic, queue)]
        for member in self.members.get(group, {}).values():
            held = member.queues.get(topic, {}).get(queue)
            if held is not None and not held.dropped:
                known.append(held.commit_offset)
        return max((item for item in known if item is not None and item >= 0), default=None)

    def retried_at(self, topic: str) -> set[str]:
        """The brokers that have an offset in a retry topic of POP. One makes it at the first retry, and tells name
        servers up to 30 s later (PopReviveService, 5.5.0)."""
        return {
            name
            for name, groups in self.offsets.items()
            for group, topics in groups.items()
            if topic.startswith(RETRY) and topic in topics and topic != f"{RETRY}{group}"
        }
