"""What a diagnosis may ask: requests that change nothing, by their RequestCode (4.9.4 and 5.5.0)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

PULL_MESSAGE = 11
GET_BROKER_CONFIG = 26
GET_BROKER_RUNTIME_INFO = 28
GET_ALL_CONSUMER_OFFSET = 43
GET_ROUTEINFO_BY_TOPIC = 105
GET_BROKER_CLUSTER_INFO = 106
GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201
GET_TOPIC_STATS_INFO = 202
GET_CONSUMER_CONNECTION_LIST = 203
GET_CONSUMER_RUNNING_INFO = 307
QUERY_CONSUME_QUEUE = 321

READ_ONLY: Mapping[int, str] = MappingProxyType(
    {value: name for name, value in list(globals().items()) if name.isupper() and isinstance(value, int)}
)
"""Every request that passes the gate, and its name."""

READERS_GROUP = "TOOLS_CONSUMER"
"""A group that every broker has by itself (MixAll): to read in its name makes no group, and is in none."""


def told(code: int) -> str:
    """`203 GET_CONSUMER_CONNECTION_LIST`."""
    return f"{code} {READ_ONLY[code]}" if code in READ_ONLY else str(code)


def why_refused(code: int, fields: Mapping[str, str]) -> str | None:
    """Why a request doesn't pass the gate; None: it does.

    A pull passes only without the flags to commit an offset and to be held (PullSysFlag), and in nobody's name.
    """
    if code not in READ_ONLY:
        return f"{code} is not on the list of requests that change nothing"
    if code == PULL_MESSAGE and (
        int(fields.get("sysFlag", "1")) & 3 or fields.get("consumerGroup") != READERS_GROUP
    ):
        return "this pull would commit an offset, be held, or speak for a group"
    return None
