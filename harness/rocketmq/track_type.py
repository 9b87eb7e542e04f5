"""What RocketMQ's tools say became of a message: TrackType of org.apache.rocketmq.tools.admin.api."""

from typing import Literal

TrackType = Literal[
    "CONSUMED",
    "CONSUMED_BUT_FILTERED",
    "PULL",
    "NOT_CONSUME_YET",
    "NOT_ONLINE",
    "CONSUME_BROADCASTING",
    "UNKNOWN",
]
