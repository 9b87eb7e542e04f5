"""rocketmq-client-go v2.

Read in its source, v2.1.2. Its client id is `address@instance`, where nobody can set the address: in a group with
Java members it sorts by that.
"""

from __future__ import annotations

from rocketchaos.harness.rocketmq.client_traits import Api, ClientKind, ClientTimer, by_api
from rocketchaos.harness.rocketmq.go_allocation import GO_STRATEGIES

GO = ClientKind(
    "go",
    "rocketmq-client-go",
    "go",
    by_api(
        Api(
            "push",
            "PushConsumer",
            # For 10 s after a topic's first statistics it answers 307 with success and no body: the rate of one
            # sample is no number, which its JSON doesn't take (computeStatsData, ConsumerRunningInfo.Encode).
            asks_process=True,
            process_tells_all=True,
            suspends=True,
            strategies=GO_STRATEGIES,
            lacks=(
                # There is no option for it.
                "post_subscription_when_pull",
                "pull_retry_after",
                "filter_class",
                "heartbeat_v2",
                # The proxy refuses its QUERY_CONSUMER_OFFSET: "Request doesn't have field bname" (5.5.0).
                "through",
            ),
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
    version="2.1.2",
    # NewHashQueueSelector: FNV-1a (32 bits) of the key's UTF-8, modulo the queues. Java's SelectMessageQueueByHash
    # takes String.hashCode: of a key in ASCII the lowest bits of the two always differ.
    # Messages of a batch have no UNIQ_KEY (encodeBatch, MarshalMessageBatch): consumers get the offset's id.
    sends=frozenset({"hash_key", "async", "delay_level", "batch", "oneway"}),
    namespaces=True,
    compressed=False,
)
