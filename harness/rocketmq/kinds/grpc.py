"""rocketmq-python-client, over gRPC."""

from dataclasses import replace

from rocketchaos.harness.rocketmq.client_traits import Api, ClientKind, ClientTimer, by_api, keys

_LACKS = keys(
    "model listener consume_from strategy queues rooms post_subscription_when_pull max_reconsume_times "
    "retry_delay_level batch_size pull_threshold_for_queue pull_interval pull_retry_after filter_class "
    "instance through heartbeat_v2 settings"
)
"""What is the proxy's or the brokers' business, or nobody's, where a client speaks gRPC."""
_PUSH = Api(
    "push",
    "PushConsumer",
    filters_by="own",
    queues="shared",
    tells_queues=False,
    raises_version=False,
    filters_itself=False,
    counts_pulls=False,
    lacks=_LACKS,
)

GRPC = ClientKind(
    "grpc",
    "rocketmq-python-client, over gRPC",
    "grpc",
    by_api(
        _PUSH,
        replace(
            _PUSH,
            name="simple",
            implementation="SimpleConsumer",
            lacks=(*_PUSH.lacks, "threads"),
        ),
    ),
    timers=(
        ClientTimer("heartbeat", 10_000),
        ClientTimer("settings", 300_000),
        ClientTimer("assignment", 5_000),
    ),
    version="5.1.2",
    needs_proxy=True,
    takes_ids=False,
    signs=True,
    chooses_queues=False,
    # As the message group, of which the proxy makes the queue: Guava's consistentHash of String.hashCode
    # (SendMessageActivity, 5.5.0), where Java's SelectMessageQueueByHash takes the hash modulo the queues.
    # A delay is a time of delivery, and its topic needs `message.type: DELAY`.
    sends=frozenset({"hash_key", "delay"}),
    compressed=False,
)
