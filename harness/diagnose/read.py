"""From an exchange to what it says. Unexpected parts count as missing, because answers may come from anybody."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.diagnose import times
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.model import (
    CLASS,
    DEAD_LETTERS,
    TAG,
    Connection,
    Held,
    Member,
    QueueEnds,
    Registered,
    Route,
    Stored,
    Subscription,
    TopicOnBroker,
    is_of_rocketmq,
)
from rocketchaos.harness.diagnose.numbers import queue_count, whole
from rocketchaos.harness.rocketmq.allocation import LOGICAL, Queue
from rocketchaos.harness.rocketmq.fastjson import loads

NO_TOPIC = 17
"""ResponseCode.TOPIC_NOT_EXIST."""

# Of a member without queues, the C++ client takes away the brace that opens their table.
_NO_QUEUES = (b'"mqTable":},', b'"mqTable":{},')

BROKER_SETTINGS = (
    "autoCreateTopicEnable", "autoCreateSubscriptionGroup", "brokerPermission", "fileReservedTime",
    "enablePropertyFilter", "rejectPullConsumerEnable", "brokerIP1", "brokerId", "brokerName",
    "brokerClusterName", "brokerRole", "messageDelayLevel", "notifyConsumerIdsChangedEnable", "namesrvAddr",
    "enableDLegerCommitLog", "enableControllerMode", "totalReplicas", "inSyncReplicas", "minInSyncReplicas",
    "transactionTimeOut", "transactionCheckInterval", "transactionCheckMax", "defaultMessageRequestMode",
    "popConsumerKVServiceEnable", "timerStopEnqueue", "aclEnable", "authorizationEnabled",
    "defaultTopicQueueNums",
)  # fmt: skip
"""What is kept of a broker's settings: others may hold passwords."""
RUNTIME_KEYS = (
    "brokerVersionDesc", "brokerVersion", "bootTimestamp", "runtime", "commitLogDiskRatio",
    "consumeQueueDiskRatio", "earliestMessageTimeStamp", "dispatchBehindBytes", "commitLogMaxOffset",
    "timerOffsetBehind", "timerReadBehind", "timerCongestNum",
)  # fmt: skip
"""What is kept of a broker's state."""
TIMER_BEHIND, TIMER_LATE, TIMER_HOLDS = "timerOffsetBehind", "timerReadBehind", "timerCongestNum"
"""Of a broker's timer: messages that it hasn't taken yet, seconds by which it is late, messages that it holds."""
MEMBER_PROPERTIES = (
    "PROP_CONSUMER_START_TIMESTAMP", "PROP_CONSUME_TYPE", "PROP_CONSUMEORDERLY", "PROP_CLIENT_VERSION",
    "PROP_THREADPOOL_CORE_SIZE", "allocateMessageQueueStrategy", "messageModel", "consumeFromWhere",
    "consumeTimestamp", "consumeTimeout", "maxReconsumeTimes", "pullThresholdForQueue", "consumeThreadMin",
    "consumeThreadMax", "consumeMessageBatchMaxSize", "postSubscriptionWhenPull", "pullInterval", "useHeartbeatV2",
    "clientRebalance", "PROP_NAMESERVER_ADDR",
    "popInvisibleTime", "autoCommit",
)  # fmt: skip
"""What is kept of a member's properties."""


def mapping(value: object) -> Mapping[str, Any]:
    """The value where it is a mapping, an empty one otherwise."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[Any]:
    """The value where it is a list, an empty one otherwise."""
    return value if isinstance(value, list) else []


def keep_settings(body: bytes) -> bytes:
    """Of the answer to 26: the settings that are looked at."""
    lines = body.decode(errors="replace").splitlines()
    return "\n".join(line for line in lines if line.partition("=")[0] in BROKER_SETTINGS).encode()


def keep_runtime(body: bytes) -> bytes:
    """Of the answer to 28: what is looked at; other keys name paths."""
    try:
        table = mapping(mapping(loads(body)).get("table"))
    except ValueError:
        return b""
    return json.dumps({"table": {key: table[key] for key in RUNTIME_KEYS if key in table}}).encode()


def runtime_number(answer: Exchange, key: str) -> int:
    """A number of the answer to 28; 0 if it lacks."""
    return whole(mapping(mapping(answer.document).get("table")).get(key))


def keep_member(body: bytes) -> bytes:
    """The answer to 307, without unused properties and stacks."""
    try:
        document = mapping(loads(body.replace(*_NO_QUEUES, 1)))
    except ValueError:
        return b""
    properties = mapping(document.get("properties"))
    kept = {key: properties[key] for key in MEMBER_PROPERTIES if key in properties}
    return json.dumps({**document, "properties": kept, "jstack": ""}, ensure_ascii=False).encode()


def keep_groups(body: bytes, groups: Iterable[str] | None) -> bytes:
    """Of the answer to 201: the groups that are looked at, and those of the same name in other namespaces.

    For a name that isn't there, also the most similar one: the user may have mistyped it.
    """
    try:
        table = mapping(mapping(loads(body)).get("subscriptionGroupTable"))
    except ValueError:
        return b""
    wanted = {without_namespace(group) for group in (table if groups is None else groups)}
    of_users = [group for group in table if not is_of_rocketmq(group)]
    similar = {nearest(group, of_users) for group in groups or () if of_users and group not in table}
    kept = {
        group: config
        for group, config in table.items()
        if without_namespace(group) in wanted or group in similar
    }
    return json.dumps({"subscriptionGroupTable": kept}, ensure_ascii=False).encode()


def without_namespace(group: str) -> str:
    """A group's name without the namespace that setNamespace puts before it: `g` of `shop%g` (NamespaceUtil)."""
    return group.rpartition("%")[2]


def keep_offsets(body: bytes, groups: Iterable[str] | None) -> bytes:
    """Of the answer to 43: what is about the groups, also offsets of others in their dead-letter topics."""
    try:
        table = mapping(mapping(loads(body)).get("offsetTable"))
    except ValueError:
        return b""
    wanted = None if groups is None else set(groups)
    dead_letters = {f"{DEAD_LETTERS}{group}" for group in wanted or ()}
    kept = {
        key: offsets
        for key, offsets in table.items()
        if wanted is None or key.partition("@")[2] in wanted or key.partition("@")[0] in dead_letters
    }
    groups_known = {key.partition("@")[2] for key in table}
    return json.dumps({"offsetTable": kept, "groups": len(groups_known)}, ensure_ascii=False).encode()


def keep_modes(body: bytes, groups: Iterable[str] | None) -> bytes:
    """Of the answer to 402: the modes of the groups that are looked at, as a list."""
    try:
        table = mapping(mapping(loads(body)).get("messageRequestModeMap"))
    except ValueError:
        return b""
    wanted = None if groups is None else set(groups)
    kept = [
        {"topic": topic, "consumerGroup": group, "mode": str(mapping(item).get("mode", ""))}
        for topic, by_group in table.items()
        for group, item in mapping(by_group).items()
        if wanted is None or group in wanted
    ]
    return json.dumps({"modes": kept}, ensure_ascii=False).encode()


def keep_topic(body: bytes) -> bytes:
    """Of the answer to 351: what the topic's messages are."""
    try:
        attributes = mapping(mapping(loads(body)).get("attributes"))
    except ValueError:
        return b""
    return json.dumps({"messageType": str(attributes.get("message.type", ""))}).encode()


def keep_delay_offsets(body: bytes) -> bytes:
    """The answer to 45, under a key of its own: other tables of offsets have names as their keys."""
    try:
        table = mapping(mapping(loads(body)).get("offsetTable"))
    except ValueError:
        return b""
    return json.dumps({"delayOffsets": {str(level): offset for level, offset in table.items()}}).encode()


def properties_file(exchange: Exchange) -> dict[str, str]:
    """A broker's settings (26)."""
    pairs = (line.partition("=") for line in exchange.body.splitlines())
    return {key: value for key, _, value in pairs} if exchange.succeeded else {}


def queue_data(exchange: Exchange) -> list[Mapping[str, Any]]:
    """The entries of a ConsumeQueue (321)."""
    return [mapping(item) for item in listed(mapping(exchange.document).get("queueData"))]


def registered(exchange: Exchange) -> Registered:
    """The brokers that a name server knows (106)."""
    table = mapping(mapping(exchange.document).get("brokerAddrTable"))
    return Registered(
        exchange,
        {
            name: {whole(number): str(address) for number, address in addresses.items()}
            for name, data in table.items()
            if (addresses := mapping(mapping(data).get("brokerAddrs")))
        },
        {name: str(mapping(data).get("cluster", "")) for name, data in table.items()},
    )


def route(exchange: Exchange) -> Route:
    """Where a topic is (105)."""
    document = mapping(exchange.document)
    return Route(
        exchange,
        {
            str(item.get("brokerName")): TopicOnBroker(
                queue_count(item.get("readQueueNums")),
                queue_count(item.get("writeQueueNums")),
                whole(item.get("perm")),
            )
            for item in map(mapping, listed(document.get("queueDatas")))
        },
        tuple(
            sorted(
                (_logical_broker(str(item.get("scope"))), whole(number))
                for item in map(mapping, mapping(document.get("topicQueueMappingByBroker")).values())
                for number in mapping(item.get("currIdMap"))
            )
        ),
        str(document.get("orderTopicConf") or ""),
    )


def _logical_broker(scope: str) -> str:
    """What clients call the broker of such queues (TopicQueueMappingUtils.getMockBrokerName, 5.5.0)."""
    return f"{LOGICAL}{scope.removeprefix('__') if scope == '__global__' else scope}"


def offsets(exchange: Exchange) -> dict[str, dict[str, dict[int, int]]]:
    """A broker's offsets (43), by group, topic and queue id."""
    found: dict[str, dict[str, dict[int, int]]] = {}
    for key, by_queue in mapping(mapping(exchange.document).get("offsetTable")).items():
        topic, _, group = key.partition("@")
        found.setdefault(group, {})[topic] = {
            whole(queue): whole(offset) for queue, offset in mapping(by_queue).items()
        }
    return found


def known_groups(exchange: Exchange) -> int | None:
    """Of how many groups a broker has offsets (43); None: an older version of ours recorded the answer."""
    number = mapping(exchange.document).get("groups")
    return None if number is None else whole(number)


def delay_offsets(exchange: Exchange) -> dict[int, int]:
    """How far a broker has delivered its delayed messages (45), by delay level."""
    table = mapping(mapping(exchange.document).get("delayOffsets"))
    return {whole(level): whole(offset) for level, offset in table.items()}


def modes(exchange: Exchange) -> dict[tuple[str, str], str]:
    """How a broker hands out messages where that was said (402), by topic and group: `PULL` or `POP`."""
    items = map(mapping, listed(mapping(exchange.document).get("modes")))
    return {(str(item.get("topic")), str(item.get("consumerGroup"))): str(item.get("mode")) for item in items}


def ends(exchange: Exchange) -> dict[Queue, QueueEnds]:
    """A topic's queues on one broker (202)."""
    found = {}
    for key, value in mapping(mapping(exchange.document).get("offsetTable")).items():
        if (queue := _queue(key)) is not None:
            state = mapping(value)
            found[queue[1]] = QueueEnds(
                whole(state.get("minOffset")),
                whole(state.get("maxOffset")),
                whole(state.get("lastUpdateTimestamp")),
            )
    return found


def stored(exchange: Exchange) -> Stored:
    """A broker's connections and subscriptions of a group (203)."""
    document = mapping(exchange.document)
    connections = tuple(
        Connection(
            str(item.get("clientId", "")),
            str(item.get("clientAddr", "")),
            str(item.get("language", "")),
            whole(item.get("version")),
        )
        for item in map(mapping, listed(document.get("connectionSet")))
    )
    return Stored(
        exchange,
        online=exchange.succeeded and bool(connections),
        connections=tuple(
            sorted(connections, key=lambda connection: (connection.client_id, connection.address))
        ),
        subscriptions={
            topic: _subscription(mapping(item), topic)
            for topic, item in mapping(document.get("subscriptionTable")).items()
        },
        model=str(document.get("messageModel") or ""),
        consume_from=str(document.get("consumeFromWhere") or ""),
    )


def member(client_id: str, exchange: Exchange, connections: tuple[Connection, ...]) -> Member:
    """A member's own report (307)."""
    document = mapping(exchange.document)
    time = times.reader(mapping(document.get("properties")), exchange, connections)
    queues: dict[str, dict[Queue, Held]] = {}
    for table in ("mqTable", "mqPopTable"):
        for key, value in mapping(document.get(table)).items():
            if (found := _queue(key)) is not None:
                held = _held(mapping(value), popped=table == "mqPopTable", time=time)
                queues.setdefault(found[0], {})[found[1]] = held
    return Member(
        client_id,
        exchange,
        connections,
        answered=exchange.succeeded and isinstance(document.get("subscriptionSet"), list),
        properties={key: str(value) for key, value in mapping(document.get("properties")).items()},
        subscriptions=subscriptions(document),
        queues=queues,
        finishing=frozenset(
            topic
            for topic, status in mapping(document.get("statusTable")).items()
            if _finishes(mapping(status))
        ),
        failing=_rates(document, "consumeFailedTPS"),
        succeeding=_rates(document, "consumeOKTPS"),
        pulling=_rates(document, "pullTPS"),
    )


def subscriptions(document: Mapping[str, Any]) -> dict[str, Subscription]:
    """A member's own subscriptions, by topic."""
    items = map(mapping, listed(document.get("subscriptionSet")))
    return {topic: _subscription(item, topic) for item in items if (topic := str(item.get("topic", "")))}


def _rates(document: Mapping[str, Any], key: str) -> dict[str, float]:
    """A rate of a member, by topic, where it isn't 0."""
    return {
        topic: rate
        for topic, status in mapping(document.get("statusTable")).items()
        if isinstance(rate := mapping(status).get(key), int | float) and rate > 0
    }


def _finishes(status: Mapping[str, Any]) -> bool:
    rates = (status.get(key) for key in ("consumeOKTPS", "consumeFailedTPS"))
    return any(isinstance(rate, int | float) and rate > 0 for rate in rates)


def _subscription(item: Mapping[str, Any], topic: str) -> Subscription:
    return Subscription(
        topic,
        str(item.get("subString") or ""),
        CLASS if item.get("classFilterMode") is True else str(item.get("expressionType") or TAG),
        whole(item.get("subVersion")),
        frozenset(map(whole, listed(item.get("codeSet")))),
    )


def _held(item: Mapping[str, Any], *, popped: bool, time: Callable[[object], int]) -> Held:
    # What an orderly listener handles now is no longer among the cached ones (ProcessQueue.takeMessages).
    kinds = [kind for kind in ("transactionMsg", "cachedMsg") if whole(item.get(f"{kind}Count"))]
    return Held(
        commit_offset=whole(item.get("commitOffset")),
        cached_count=sum(whole(item.get(f"{kind}Count")) for kind in kinds),
        cached_min_offset=min((whole(item.get(f"{kind}MinOffset")) for kind in kinds), default=0),
        cached_max_offset=max((whole(item.get(f"{kind}MaxOffset")) for kind in kinds), default=0),
        locked=str(item.get("locked")).lower() == "true",
        # So it is called by Java, and by Go otherwise.
        dropped="true" in (str(item.get(key)).lower() for key in ("droped", "dropped")),
        last_lock_ms=time(item.get("lastLockTimestamp")),
        last_pull_ms=time(item.get("lastPullTimestamp")),
        last_consume_ms=time(item.get("lastConsumeTimestamp")),
        unacknowledged=whole(item.get("waitAckCount")),
        popped=popped,
    )


def _queue(key: str) -> tuple[str, Queue] | None:
    """Topic and queue of a MessageQueue that is written as a key."""
    try:
        item = mapping(loads(key.encode()))
    except ValueError:
        return None
    return str(item.get("topic", "")), (str(item.get("brokerName", "")), whole(item.get("queueId")))
