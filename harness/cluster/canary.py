"""A canary: one message through every broker, sent and received, before anything is measured."""

import re
import time
from collections.abc import Sequence

from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.cluster.base import Node
from rocketchaos.harness.cluster.topics import create_routed_topic
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.core.names import new_token
from rocketchaos.harness.language.topic import evenly
from rocketchaos.harness.rocketmq.remoting import GET_BROKER_CONFIG, SUCCESS, Answer

RECEIVE_LIMIT_S = 15.0
_ANSWER_LIMIT_MS = 3_000
_LOOK_EVERY_S = 0.01
_SEND_MESSAGE_V2, _PULL_MESSAGE = 310, 11
_PULL_WITH_OWN_SUBSCRIPTION = 4
_NO_PERMISSION = 16
_READABLE = 4
"""A bit of `brokerPermission` (PermName.PERM_READ)."""
_STORED = (SUCCESS, 10, 11, 12)
"""FLUSH_DISK_TIMEOUT, SLAVE_NOT_AVAILABLE and FLUSH_SLAVE_TIMEOUT: the broker has the message even so."""
_GROUP = "SELF_TEST_C_GROUP"
"""Every broker has it from the start (SubscriptionGroupManager.init), also one that creates no others.
`hooks/FlowControl.java` spares it."""


def prove_delivery(admin: Admin, brokers: Sequence[Node]) -> None:
    """Create a topic, wait for its route, send a message to each broker, and pull it from there.

    By raw requests (RequestCode SEND_MESSAGE_V2 and PULL_MESSAGE of RocketMQ 4.9.4), so that no client joins a
    group, and no timer of a client has a say. A broker that its `brokerPermission` closes to readers refuses the
    pull, and is ready then.

    Raises:
        EnvironmentNotReady: a broker takes no message, or doesn't give it back within 15 s.
    """
    topic = f"rocketchaos-canary-{new_token()}"
    create_routed_topic(admin, topic, evenly(1), {node.name: node.address for node in brokers})
    for node in brokers:
        _send(admin, node, topic)
        _receive(admin, node, topic)


def _send(admin: Admin, node: Node, topic: str) -> None:
    fields = {
        "a": "rocketchaos-canary",  # producer group
        "b": topic,
        "c": "TBW102",
        "d": "1",
        "e": "0",  # queue id
        "f": "0",
        "g": str(time.time_ns() // 1_000_000),
        "h": "0",
        "i": "",
        "j": "0",
        "k": "false",
        "m": "false",
    }
    answer = admin.raw(node.address, _SEND_MESSAGE_V2, fields, topic, _ANSWER_LIMIT_MS)
    if answer.code not in _STORED:
        raise EnvironmentNotReady(
            f"{node.name} refuses a message: code {answer.code}, {answer.remark}",
            f"Its log: {node.log}",
        )


def _receive(admin: Admin, node: Node, topic: str) -> None:
    fields = {
        "consumerGroup": _GROUP,
        "topic": topic,
        "queueId": "0",
        "queueOffset": "0",
        "maxMsgNums": "1",
        "sysFlag": str(_PULL_WITH_OWN_SUBSCRIPTION),
        "commitOffset": "0",
        "suspendTimeoutMillis": "0",
        "subscription": "*",
        "subVersion": "0",
        "expressionType": "TAG",
    }

    def pull() -> Answer:
        return admin.raw(node.address, _PULL_MESSAGE, fields, None, _ANSWER_LIMIT_MS)

    def ready(answer: Answer) -> bool:
        if answer.code == SUCCESS:
            return topic.encode() in answer.body
        return answer.code == _NO_PERMISSION and _closed_to_readers(admin, node)

    # The consume queue is filled a moment after the message was acknowledged.
    last = look_until(pull, ready, RECEIVE_LIMIT_S, _LOOK_EVERY_S)
    if not ready(last):
        raise EnvironmentNotReady(
            f"{node.name} took a message and doesn't give it back within {RECEIVE_LIMIT_S:g} s; last seen: "
            f"code {last.code}, {last.remark}",
            f"Its log: {node.log}",
        )


def _closed_to_readers(admin: Admin, node: Node) -> bool:
    settings = admin.raw(node.address, GET_BROKER_CONFIG, {}, None, _ANSWER_LIMIT_MS).body
    permission = re.search(rb"^brokerPermission=(\d+)$", settings, re.M)
    return permission is not None and not int(permission[1]) & _READABLE
