"""RocketMQ's own properties of clients, topics and groups, by the names of their setters, with types and versions.

Read from the classes of RocketMQ 4.9.0 to 5.5.0: DefaultMQPushConsumer, DefaultLitePullConsumer,
DefaultMQPullConsumer and DefaultMQProducer with what they have of ClientConfig, TopicConfig and
SubscriptionGroupConfig. Those that take objects of Java are left out. `enableMsgTrace` and `customizedTraceTopic`
of push consumers and producers are arguments of their constructors.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rocketchaos.harness.rocketmq.version_range import VersionRange

Value = int | bool | str
"""The possible values of a property."""
_BITS = {"int": 31, "long": 63}


@dataclass(frozen=True, slots=True)
class Property:
    """One property."""

    name: str
    type: str
    """As Java has it: `int`, `long`, `boolean`, `String`."""
    since: VersionRange = ""
    """The versions that have it; empty: all."""

    def takes(self, value: Value) -> bool:
        """Whether the value is of its type."""
        if self.type == "boolean":
            return isinstance(value, bool)
        if self.type == "String":
            return isinstance(value, str)
        bits = _BITS[self.type]
        return not isinstance(value, bool) and isinstance(value, int) and -(1 << bits) <= value < 1 << bits

    @property
    def needs(self) -> str:
        """What it takes, in words."""
        numbers = {kind: f"a whole number of {bits + 1} bits" for kind, bits in _BITS.items()}
        return {**numbers, "boolean": "`true` or `false`", "String": "text"}[self.type]


Properties = Mapping[str, Property]
"""By name."""


def _table(*lines: str, **more: Properties) -> Properties:
    """Each line is name, type, and the versions that have it where not all do."""
    own = [Property(*line.split()) for line in lines]
    return {
        **{name: item for table in more.values() for name, item in table.items()},
        **{item.name: item for item in own},
    }


_CLIENT = _table(
    "clientCallbackExecutorThreads int",
    "concurrentHeartbeatThreadPoolSize int >=5.5",
    "decodeDecompressBody boolean >=5.0",
    "decodeReadBody boolean >=5.0",
    "detectInterval int >=5.1.4",
    "detectTimeout int >=5.1.4",
    "enableConcurrentHeartbeat boolean >=5.5",
    "enableHeartbeatChannelEventListener boolean >=5.2",
    "enableStreamRequestType boolean >=4.9.4",
    "enableTrace boolean >=5.3",
    "heartbeatBrokerInterval int",
    "maxPageSizeInGetMetadata int >=5.4",
    "mqClientApiTimeout int >=4.9.2",
    "namespaceV2 String >=5.2",
    "persistConsumerOffsetInterval int",
    "pollNameServerInterval int",
    "pullTimeDelayMillsWhenException long",
    "sendLatencyEnable boolean >=5.1.4",
    "startDetectorEnable boolean >=5.1.4",
    "traceMsgBatchNum int >=5.3.1",
    "traceTopic String >=5.3",
    "unitMode boolean",
    "unitName String",
    "useHeartbeatV2 boolean >=5.1.3",
    "useTLS boolean",
    "vipChannelEnabled boolean",
)
_PUSH = _table(
    "adjustThreadPoolNumsThreshold long",
    "awaitTerminationMillisWhenShutdown long",
    "clientRebalance boolean >=5.0",
    "consumeConcurrentlyMaxSpan int",
    "consumeMessageBatchMaxSize int",
    "consumeThreadMax int",
    "consumeThreadMin int",
    "consumeTimeout long",
    "consumeTimestamp String",
    "customizedTraceTopic String",
    "enableMsgTrace boolean",
    "maxReconsumeTimes int",
    "popBatchNums int >=5.0",
    "popInvisibleTime long >=5.0",
    "popThresholdForQueue int >=5.0",
    "postSubscriptionWhenPull boolean",
    "pullBatchSize int",
    "pullBatchSizeInBytes int >=5.0",
    "pullInterval long",
    "pullThresholdForQueue int",
    "pullThresholdForTopic int",
    "pullThresholdSizeForQueue int",
    "pullThresholdSizeForTopic int",
    "suspendCurrentQueueTimeMillis long",
    client=_CLIENT,
)
_LITE_PULL = _table(
    "autoCommit boolean",
    "autoCommitIntervalMillis long",
    "connectBrokerByUser boolean",
    "consumeMaxSpan int",
    "consumeTimestamp String",
    "consumerPullTimeoutMillis long",
    "consumerTimeoutMillisWhenSuspend long",
    "customizedTraceTopic String",
    "defaultBrokerId long",
    "enableMsgTrace boolean",
    "pollTimeoutMillis long",
    "pullBatchSize int",
    "pullThreadNums int",
    "pullThresholdForAll long",
    "pullThresholdForQueue int",
    "pullThresholdSizeForQueue int",
    "topicMetadataCheckIntervalMillis long",
    client=_CLIENT,
)
_PULL = _table(
    "brokerSuspendMaxTimeMillis long",
    "consumerPullTimeoutMillis long",
    "consumerTimeoutMillisWhenSuspend long",
    "enableRebalance boolean >=5.3.2",
    "maxReconsumeTimes int",
    client=_CLIENT,
)

CONSUMERS: Mapping[str, Properties] = {"push": _PUSH, "pop": _PUSH, "lite-pull": _LITE_PULL, "pull": _PULL}
"""Those of Java's consumers, by their `api`."""

PRODUCER = _table(
    "autoBatch boolean >=5.1.4",
    "backPressureForAsyncSendNum int >=5.0",
    "backPressureForAsyncSendSize int >=5.0",
    "compressLevel int >=5.3",
    "compressMsgBodyOverHowmuch int",
    "createTopicKey String",
    "customizedTraceTopic String",
    "defaultTopicQueueNums int",
    "enableBackpressureForAsyncMode boolean >=5.0",
    "enableMsgTrace boolean",
    "maxMessageSize int",
    "retryAnotherBrokerWhenNotStoreOK boolean",
    "retryTimesWhenSendAsyncFailed int",
    "retryTimesWhenSendFailed int",
    "sendLatencyFaultEnable boolean",
    "sendMessageWithVIPChannel boolean",
    "sendMsgMaxTimeoutPerRequest int >=5.3.3",
    "sendMsgTimeout int",
    client=_CLIENT,
)
"""Those of Java's producer."""

TOPIC = _table("order boolean", "perm int", "readQueueNums int", "topicSysFlag int", "writeQueueNums int")
"""TopicConfig; 5.x also has `attributes`, such as `message.type`."""
TOPIC_ATTRIBUTES = ("message.type", "queue.type", "cleanup.policy", "reserve.time", "lite.topic.expiration")
"""Those of releases up to 5.5.0 (`TopicAttributes`)."""

GROUP = _table(
    "brokerId long",
    "consumeBroadcastEnable boolean",
    "consumeEnable boolean",
    "consumeFromMinEnable boolean",
    "consumeMessageOrderly boolean >=5.0",
    "consumeTimeoutMinute int >=5.0",
    "groupSysFlag int >=5.0",
    "notifyConsumerIdsChangedEnable boolean",
    "retryMaxTimes int",
    "retryQueueNums int",
    "whichBrokerWhenConsumeSlowly long",
)
"""SubscriptionGroupConfig."""

SAID_BY = {
    "allocateMessageQueueStrategy": "strategy",
    "clientIP": "client_id",
    "consumeFromWhere": "consume_from",
    "consumerGroup": "group",
    "instanceName": "client_id",
    "messageModel": "model",
    "namespace": "namespace",
    "subscription": "subscribe",
}
"""Properties of clients for which scenarios have a key of their own."""
OF_THE_RUN = frozenset({"namesrvAddr", "producerGroup", "socksProxyConfig"})
"""Properties of clients that the harness itself sets, or that would take its clients elsewhere."""
