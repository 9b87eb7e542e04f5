"""rocketmq-client-python, over the C++ client 2.x."""

from rocketchaos.harness.rocketmq.client_traits import Api, ClientKind, ClientTimer, by_api, keys

PYTHON = ClientKind(
    "python",
    "rocketmq-client-python, over the C++ client",
    "python",
    by_api(
        Api(
            "push",
            "PushConsumer",
            filters_by="own",
            raises_version=False,
            counts_pulls=False,
            # The C++ client has a batch size, but takes it for orderly listeners alone. Its requests have no
            # `bname` (there is no such text in librocketmq.so), which the proxy's remoting port wants.
            lacks=keys(
                "consume_from strategy queues rooms post_subscription_when_pull heartbeat_v2 settings "
                "max_reconsume_times retry_delay_level batch_size pull_threshold_for_queue pull_interval "
                "pull_retry_after filter_class instance through"
            ),
            sql=False,
            resubscribes=False,
        )
    ),
    timers=(
        ClientTimer("rebalance", 10_000),
        ClientTimer("heartbeat", 30_000),
        ClientTimer("persist-offsets", 5_000),
        ClientTimer("route-poll", 30_000),
    ),
    version="2.0.0",
    takes_ids=False,
    tells_route=False,
    signs=True,
    sends=frozenset({"delay_level"}),
    fails_by=frozenset({"status", "exception", "nothing"}),
    compressed=False,
)
