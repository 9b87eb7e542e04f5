"""The requests that a diagnosis may make: they change nothing. By RequestCode (4.9.4 and 5.5.0)."""

from collections.abc import Mapping

GET_BROKER_CONFIG = 26
GET_BROKER_RUNTIME_INFO = 28
VIEW_MESSAGE_BY_ID = 33
"""A message by its place in the commit log. A pull would do as well, but 5.x keeps the offset of each."""
GET_ALL_CONSUMER_OFFSET = 43
GET_ALL_DELAY_OFFSET = 45
GET_ROUTEINFO_BY_TOPIC = 105
GET_BROKER_CLUSTER_INFO = 106
GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201
GET_TOPIC_STATS_INFO = 202
GET_CONSUMER_CONNECTION_LIST = 203
GET_PRODUCER_CONNECTION_LIST = 204
GET_ALL_TOPIC_LIST_FROM_NAMESERVER = 206
"""Names alone. It is asked if a topic has no route, for a similar name."""
GET_CONSUMER_RUNNING_INFO = 307
QUERY_CONSUME_QUEUE = 321
GET_TOPIC_CONFIG = 351
"""Of 5.x: the type of a topic's messages (message.type), which no route has."""
GET_ALL_MESSAGE_REQUEST_MODE = 402
GET_BROKER_HA_STATUS = 907

READ_ONLY: Mapping[int, str] = {
    value: name for name, value in list(globals().items()) if name.isupper() and isinstance(value, int)
}
"""Every request that passes the gate, and its name."""


def request_text(code: int) -> str:
    """`203 GET_CONSUMER_CONNECTION_LIST`."""
    return f"{code} {READ_ONLY[code]}" if code in READ_ONLY else str(code)
