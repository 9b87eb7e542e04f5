"""The answers of name server and brokers, for clients that say little about brokers and queues."""

from collections.abc import Mapping
from typing import Any

from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.fastjson import loads
from rocketchaos.harness.rocketmq.stored_messages import decode
from rocketchaos.harness.workers.protocol import CommandFailed

GET_ROUTEINFO_BY_TOPIC = 105
PULL_MESSAGE = 11
_LIMIT_S = 3.0
_WRITE = 1 << 1
"""PermName.PERM_WRITE."""
_MASTER = "0"
_SUSPEND, _SUBSCRIPTION = 1 << 1, 1 << 2
"""Of PullSysFlag: wait for the message, and take every one."""
_TOOLS_CONSUMER = "TOOLS_CONSUMER"
"""MixAll.TOOLS_CONSUMER_GROUP: every broker knows it."""

Queue = tuple[str, int]
"""A broker's name and the queue's id there."""


class NameServer:
    """Asks a name server, once for what doesn't change; of several the first that answers."""

    def __init__(self, address: str) -> None:
        self._addresses = address.split(";")
        self._names: Mapping[str, str] = {}

    def broker_at(self, address: str) -> str:
        """The name of the broker at `host:port`.

        Raises:
            CommandFailed: the name server doesn't answer, or doesn't know it.
        """
        if address not in self._names:
            table = loads(self._ask(remoting.GET_BROKER_CLUSTER_INFO).body)["brokerAddrTable"]
            self._names = {
                known: name for name, broker in table.items() for known in broker["brokerAddrs"].values()
            }
        if address not in self._names:
            raise CommandFailed(f"the name server knows no broker at {address}")
        return self._names[address]

    def queues(self, topic: str) -> dict[Queue, str]:
        """The queues to which a client can send, in the C++ client's order, and their masters' addresses.

        By brokers' names, then by number: TopicRouteData::Decode sorts, and
        MQClientFactory::topicRouteData2TopicPublishInfo counts.

        Raises:
            CommandFailed: the name server doesn't answer, or has no route; with its code 17 then.
        """
        answer = self._ask(GET_ROUTEINFO_BY_TOPIC, topic=topic)
        if answer.code != remoting.SUCCESS:
            raise CommandFailed(answer.remark, answer.code)
        route = loads(answer.body)
        masters = {
            broker["brokerName"]: broker["brokerAddrs"][_MASTER]
            for broker in route["brokerDatas"]
            if _MASTER in broker["brokerAddrs"]
        }
        return {
            (data["brokerName"], number): masters[data["brokerName"]]
            for data in sorted(route["queueDatas"], key=lambda data: str(data["brokerName"]))
            if data["perm"] & _WRITE and data["brokerName"] in masters
            for number in range(data["writeQueueNums"])
        }

    def _ask(self, code: int, **fields: str) -> remoting.Answer:
        failure: OSError | None = None
        for address in self._addresses:
            try:
                return remoting.ask(address, code, fields, limit_s=_LIMIT_S)
            except OSError as error:
                failure = error
        raise CommandFailed(f"the name server doesn't answer: {failure}") from failure


def stored_offset_msg_id(address: str, topic: str, queue_id: int, offset: int) -> str | None:
    """The offset message id of a message that the broker at `address` has just acknowledged.

    Asked for by a pull that the broker holds until its consume queue has the message. None: it hasn't in 3 s.
    """
    fields: dict[str, Any] = {
        "consumerGroup": _TOOLS_CONSUMER,
        "topic": topic,
        "queueId": queue_id,
        "queueOffset": offset,
        "maxMsgNums": 1,
        "sysFlag": _SUSPEND | _SUBSCRIPTION,
        "commitOffset": 0,
        "suspendTimeoutMillis": int(_LIMIT_S * 1000),
        "subscription": "*",
        "subVersion": 0,
    }
    try:
        answer = remoting.ask(
            address, PULL_MESSAGE, {name: str(value) for name, value in fields.items()}, limit_s=_LIMIT_S
        )
    except OSError:
        return None
    try:
        stored = decode(answer.body) if answer.code == remoting.SUCCESS else []
    except ValueError:
        return None
    return stored[0].offset_msg_id if stored and stored[0].queue_offset == offset else None
