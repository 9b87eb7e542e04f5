"""RocketMQ's Java client."""

from rocketchaos.harness.rocketmq.client_traits import Api, ClientKind, ClientTimer, by_api, keys

_QUEUES_ALONE = keys(
    "model listener strategy post_subscription_when_pull retry_delay_level pull_threshold_for_queue "
    "pull_interval pull_retry_after filter_class instance"
)
"""What says nothing to a member that owns no queues, because brokers distribute messages to it."""
_LISTENERS_ALONE = keys(
    "post_subscription_when_pull max_reconsume_times retry_delay_level batch_size threads listener "
    "pull_interval pull_retry_after filter_class instance"
)
"""What says nothing to a consumer without a listener, which polls or pulls."""
_TIMERS = (
    ClientTimer("rebalance", 20_000, "rocketmq.client.rebalance.waitInterval"),
    ClientTimer("heartbeat", 30_000, "heartbeatBrokerInterval"),
    ClientTimer("persist-offsets", 5_000, "persistConsumerOffsetInterval"),
    ClientTimer("first-persist", 10_000),
    ClientTimer("route-poll", 30_000, "pollNameServerInterval"),
    ClientTimer("pull-retry", 1_000, "pullTimeDelayMillsWhenException", api="push"),
    ClientTimer("auto-commit", 5_000, "autoCommitIntervalMillis", api="lite-pull"),
    ClientTimer("first-pull", 500, clients=">=5.0"),
    ClientTimer("pop-invisible", 60_000, "popInvisibleTime", api="pop", clients=">=5.0"),
    ClientTimer("rebalance-min", 1_000, "rocketmq.client.rebalance.minInterval", clients=">=5.2"),
)
"""`ClientConfig`, `RebalanceService`, `DefaultMQPushConsumerImpl`."""

_OWN_PROPERTIES = frozenset(
    keys(
        "ARRIVE_TIME BUYER_ID CLUSTER CONSUME_START_TIME CORRECTION_FLAG CORRELATION_ID DELAY INSTANCE_ID KEYS "
        "MAX_OFFSET MAX_RECONSUME_TIMES MIN_OFFSET MQ2_FLAG MSG_REGION MSG_TYPE ORIGIN_MESSAGE_ID PGROUP "
        "PUSH_REPLY_TIME REAL_QID REAL_TOPIC RECONSUME_TIME REPLY_TO_CLIENT RETRY_TOPIC TAGS TRACE_ON "
        "TRANSFER_FLAG TRAN_MSG TTL UNIQ_KEY WAIT"
    )
)
"""`MessageConst.STRING_HASH_SET` of 4.9.0, all of which 5.5.0 has too: `Message.putUserProperty` refuses them."""
_OWN_PROPERTIES_OF_5 = frozenset(
    keys(
        "1ST_POP_TIME BORN_TIMESTAMP DLQ_ORIGIN_MESSAGE_ID DLQ_ORIGIN_TOPIC DUP_INFO EXTEND_UNIQ_INFO "
        "POP_CK POP_CK_OFFSET TIMER_DELAY_LEVEL TIMER_DELAY_MS TIMER_DELAY_SEC TIMER_DELIVER_MS "
        "TIMER_DEL_UNIQKEY TIMER_DEQUEUE_MS TIMER_ENQUEUE_MS TIMER_OUT_MS TIMER_ROLL_TIMES "
        "TRAN_PREPARED_QUEUE_OFFSET __BORNHOST"
    )
)
"""Those that 5.1.4 and 5.5.0 have there in addition."""

JAVA = ClientKind(
    "java",
    "RocketMQ's Java client",
    "java",
    by_api(
        Api("push", "DefaultMQPushConsumer", suspends=True, replies=True, commits_by_hand=True),
        Api(
            "pop",
            "DefaultMQPushConsumer in POP mode, 5.x",
            filters_by="own",
            queues="shared",
            asks_process=True,
            dead_letters=False,
            suspends=True,
            replies=True,
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
            seeks=True,
            counts_pulls=False,
            commits_skipped=False,
            commits_by_hand=True,
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
            commits_by_hand=True,
            lacks=(*_LISTENERS_ALONE, "pull_threshold_for_queue"),
            why_lacking="a pull consumer has no listener and no retries",
        ),
    ),
    timers=_TIMERS,
    jvm=True,
    shared_worker="shared-java",
    producer_properties=None,
    sends=frozenset(
        {"hash_key", "delay_level", "delay", "batch", "oneway", "async", "transaction", "request"}
    ),
    namespaces=True,
    signs=True,
    refuses_properties=_OWN_PROPERTIES,
    refuses_properties_of_5=_OWN_PROPERTIES_OF_5,
    fails_by=frozenset({"status", "exception", "nothing"}),
    recalls=">=5.3.2",
    heartbeat_v2=">=5.1.3",
)
