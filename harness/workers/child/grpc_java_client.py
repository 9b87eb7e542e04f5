"""What clients of rocketmq-client-java share: how they reach the proxy, and how they know messages.

Rests on org.apache.rocketmq.client.apis, and on MessageViewImpl, SendReceiptImpl and ClientImpl of
org.apache.rocketmq.client.java, as they are from 5.0.8 to 5.2.0.
"""

from collections.abc import Mapping
from typing import Any

import jpype

from rocketchaos.harness.workers.child.jvm import text
from rocketchaos.harness.workers.child.listener import Described
from rocketchaos.harness.workers.child.receipt_handle import place_of

APIS = "org.apache.rocketmq.client.apis"
_FIRST_USED = (
    f"{APIS}.ClientException",
    f"{APIS}.consumer.ConsumeResult",
    f"{APIS}.message.MessageId",
    f"{APIS}.message.MessageView",
    "org.apache.rocketmq.client.java.message.MessageIdImpl",
    "org.apache.rocketmq.client.java.message.MessageViewImpl",
    "org.apache.rocketmq.client.java.route.Broker",
    "org.apache.rocketmq.client.java.route.MessageQueueImpl",
    *(f"java.util.{name}" for name in ("ArrayList", "Collection", "HashMap", "List", "Map", "Optional")),
    *("java.nio.ByteBuffer", "java.util.HashSet", "java.util.Set", "java.lang.Throwable"),
)
"""The classes that a listener's threads use: two of them must not be the first at the same time, see
`harness.workers.child.java_child.after`."""


def load_classes() -> None:
    """Use each class once."""
    for name in _FIRST_USED:
        jpype.JClass(name)


def provider() -> Any:
    """The client's own entry, from which all builders come."""
    return jpype.JClass(f"{APIS}.ClientServiceProvider").loadService()


def configuration(endpoint: str, access: Mapping[str, Any] | None) -> Any:
    """How a client reaches the proxy at `host:port`, and signs its requests, by `{access_key, secret_key}`."""
    builder = jpype.JClass(f"{APIS}.ClientConfiguration").newBuilder()
    # Its default is TLS, which proxies here don't speak.
    builder.setEndpoints(endpoint).enableSsl(False)
    if access is not None:
        keys = jpype.JClass(f"{APIS}.StaticSessionCredentialsProvider")(
            access["access_key"], access["secret_key"]
        )
        builder.setCredentialProvider(keys)
    return builder.build()


def duration(milliseconds: int) -> Any:
    """A java.time.Duration."""
    return jpype.JClass("java.time.Duration").ofMillis(milliseconds)


def filters(subscribe: Mapping[str, str | Mapping[str, str]]) -> Any:
    """A java.util.Map, by topic."""
    found = jpype.JClass("java.util.HashMap")()
    for topic, expression in subscribe.items():
        found.put(topic, filter_of(expression))
    return found


def filter_of(expression: str | Mapping[str, str]) -> Any:
    """A FilterExpression of tags, or of `{sql}`."""
    package = f"{APIS}.consumer"
    if isinstance(expression, str):
        return jpype.JClass(f"{package}.FilterExpression")(expression)
    kind = jpype.JClass(f"{package}.FilterExpressionType").SQL92
    return jpype.JClass(f"{package}.FilterExpression")(expression["sql"], kind)


def described_message(message: Any) -> Described:
    """A message in JSON's types; where it is stored, and so `offset_msg_id`, is unknown.

    Its place is read from its receipt handle: to a push consumer the proxy assigns queue -1. The proxy counts
    deliveries from 1.
    """
    broker, queue_id, offset = place_of(str(message.getReceiptHandle()))
    keys = [str(key) for key in message.getKeys()]
    return {
        "topic": str(message.getTopic()),
        "tag": text(message.getTag().orElse(None)),
        "key": keys[0] if keys else None,
        "keys": keys[1:],
        "msg_id": str(message.getMessageId()),
        "offset_msg_id": None,
        "broker": broker,
        "queue_id": queue_id,
        "offset": offset,
        "reconsume_times": int(message.getDeliveryAttempt()) - 1,
    }


def client_id_of(client: Any) -> str:
    """The id under which the proxy knows it, which the client makes of host, process and time."""
    return str(client.getClientId())
