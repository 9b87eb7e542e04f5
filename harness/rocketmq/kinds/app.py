"""A program of the user's own, with RocketMQ's Java client inside.

Its timers and settings are its own, and its client's version is the one in its jar.
"""

from rocketchaos.harness.rocketmq.client_traits import Api, ClientKind, ClientTimer, by_api, keys

APP = ClientKind(
    "app",
    "a program of your own",
    "app",
    by_api(
        Api(
            "push",
            "RocketMQ's Java client in it",
            # Its counts can't be asked for from outside.
            counts_pulls=False,
            resubscribes=False,
            lacks=keys(
                "client_id process listener behaviour strategy queues rooms consume_from "
                "post_subscription_when_pull max_reconsume_times retry_delay_level batch_size threads "
                "pull_threshold_for_queue pull_interval pull_retry_after filter_class instance through "
                "heartbeat_v2 settings"
            ),
            why_lacking="the program decides on this itself",
        )
    ),
    timers=(
        ClientTimer("rebalance", 20_000),
        ClientTimer("heartbeat", 30_000),
        ClientTimer("persist-offsets", 5_000),
        ClientTimer("first-persist", 10_000),
        ClientTimer("route-poll", 30_000),
        ClientTimer("pull-retry", 3_000),
    ),
    takes_ids=False,
    compressed=False,
    program="jar",
)
