"""The admin client: what servers and RocketMQ's tools say of topics, groups and members."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from rocketchaos.harness.clients.access import keys_of
from rocketchaos.harness.clients.server_requests import ServerRequests
from rocketchaos.harness.clients.shared_answers import SharedAnswer
from rocketchaos.harness.clients.tools import Tools
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.language.topic import attributes_of
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.client_version import version_name
from rocketchaos.harness.rocketmq.committed_offsets import committed_offsets
from rocketchaos.harness.rocketmq.fastjson import loads
from rocketchaos.harness.rocketmq.properties import Value
from rocketchaos.harness.rocketmq.remoting import Answer
from rocketchaos.harness.rocketmq.running_info import running_info
from rocketchaos.harness.rocketmq.stored_messages import decode

_LIMIT_S = 5.0
_ONE_OF_SEVERAL_LIMIT_S = 2.0
"""How long a name server may take where there are others to ask."""
_QUERY_MESSAGE, _CREATE_TOPIC, _ALL_OFFSETS, _ROUTE = 12, 17, 43, 105
_TOPIC_STATS, _CONNECTIONS, _RUNNING_INFO = 202, 203, 307
"""RequestCode, 4.9.4 and 5.5.0."""
_QUERY_NOT_FOUND = 22
"""ResponseCode of a broker whose index lacks the key."""
_TOPIC_DEFAULTS: Mapping[str, Value] = {
    "readQueueNums": 16,
    "writeQueueNums": 16,
    "perm": 6,
    "topicFilterType": "SINGLE_TAG",
    "topicSysFlag": 0,
    "order": False,
}
"""TopicConfig(topicName)."""
_DEFAULT_TOPIC = "TBW102"
"""The topic whose settings a new one inherits; every field is given, so nothing is."""
_MASTER_ID = "0"
_ROUTE_AGE_S = 1.0
"""A route is asked for again after this; clients do so every 30 s (ClientConfig.pollNameServerInterval)."""
_LONGEST_MS = 2**63 - 1
_FOUND_AT_MOST = 32

Brokers = list[tuple[str, str]]
"""Name and address of each."""


class Admin:
    """Asks servers by their own protocol, and RocketMQ's tools where they are the subject.

    It joins no consumer group. Every call may come from any thread, and raises `RequestFailed`, with RocketMQ's
    response code where the server refused it.
    """

    def __init__(self, nameserver: str, requests: ServerRequests, tools: Tools) -> None:
        """`nameserver` may be several, with `;` between them: an answer of any of them counts."""
        self._name_servers = nameserver.split(";")
        self._requests = requests
        self._tools = tools
        self._lock = threading.Lock()
        self._routes: dict[str, tuple[float, Brokers]] = {}
        self._offset_tables: dict[str, SharedAnswer[bytes]] = {}

    def begin(self) -> None:
        """Start RocketMQ's tools in the background: they are asked what became of messages."""
        self._tools.begin()

    def create_topic(
        self, topic: str, settings: Mapping[str, Value], broker_addresses: Sequence[str]
    ) -> None:
        """Create a topic on each of these brokers, or change it (17); `settings` are its TopicConfig."""
        attributes = attributes_of(settings)
        own = {name: value for name, value in settings.items() if name not in attributes}
        fields = {name: _text(value) for name, value in {**_TOPIC_DEFAULTS, **own}.items()}
        fields |= {"topic": topic, "defaultTopic": _DEFAULT_TOPIC}
        if attributes:
            # As AttributeParser.parseToString has it, 5.0.0 to 5.5.0.
            fields["attributes"] = ",".join(f"+{name}={value}" for name, value in attributes.items())
        for address in broker_addresses:
            self._ask(address, _CREATE_TOPIC, fields)

    def route(self, topic: str) -> Mapping[str, Any]:
        """What the name servers know of a topic (105): `{queues: [{broker, queues, write_queues, perm}]}`.

        Of a broker that several name servers know, each telling something else, there are several entries.
        Code 17: no name server has a route.
        """
        queues = {
            (str(data["brokerName"]), data["readQueueNums"], data["writeQueueNums"], data["perm"])
            for route in self._routes_of(topic)
            for data in route["queueDatas"]
        }
        names = ("broker", "queues", "write_queues", "perm")
        return {"queues": [dict(zip(names, queue, strict=True)) for queue in sorted(queues)]}

    def masters(self, topic: str) -> set[tuple[str, str]]:
        """Name and address of each master of a topic, as the name servers know them (105).

        Code 17: no name server has a route.
        """
        return set(_brokers(self._routes_of(topic)))

    def connection(self, group: str, broker_address: str) -> Mapping[str, Any]:
        """Who is online in a group, and what the broker holds as its subscription (203).

        Returns:
            `{connections: [{client_id, address, language, version, version_name}], subscriptions: {topic:
            {expression, type, tags, codes, sub_version}}, consume_type, message_model, consume_from_where}`;
            `type` is TAG or SQL92. Code 206: no consumer is online.
        """
        answer = loads(self._ask(broker_address, _CONNECTIONS, {"consumerGroup": group}).body)
        connections = [
            {
                "client_id": str(connection["clientId"]),
                "address": str(connection["clientAddr"]),
                "language": str(connection["language"]),
                "version": int(connection["version"]),
                "version_name": version_name(int(connection["version"])),
            }
            for connection in answer["connectionSet"]
        ]
        return {
            "connections": sorted(connections, key=lambda connection: str(connection["client_id"])),
            "subscriptions": {
                topic: {
                    "expression": str(item["subString"]),
                    "type": item.get("expressionType") or "TAG",
                    "sub_version": int(item["subVersion"]),
                    "tags": sorted(item["tagsSet"]),
                    "codes": sorted(item["codeSet"]),
                }
                for topic, item in answer["subscriptionTable"].items()
            },
            "consume_type": answer.get("consumeType"),
            "message_model": answer.get("messageModel"),
            "consume_from_where": answer.get("consumeFromWhere"),
        }

    def running_info(
        self, group: str, client_id: str, broker_address: str, timeout_ms: int
    ) -> Mapping[str, Any]:
        """A member's own report of its queues and subscriptions, relayed by the broker (307).

        A lite pull consumer of 4.9.x tells no queues (DefaultLitePullConsumerImpl.consumerRunningInfo).
        """
        fields = {"consumerGroup": group, "clientId": client_id, "jstackEnable": "false"}
        answer = self._ask(broker_address, _RUNNING_INFO, fields, limit_s=timeout_ms / 1000)
        if not answer.body:
            raise RequestFailed(f"{client_id} answers with success, and nothing else")
        return running_info(answer.body)

    def offsets(self, group: str, topic: str) -> Mapping[str, Any]:
        """Each queue's maximum at the broker, and the offset that the broker holds for the group, or None.

        The group's offset is read from the broker's whole table (43): it has an entry only where an offset
        was committed, while code 14 answers 0, and code 208 shows 0, where none is (ConsumerManageProcessor.
        queryConsumerOffset, AdminBrokerProcessor.getConsumeStats; 4.9.4 and 5.3.3).

        Returns:
            `{queues: [{broker, queue_id, max_offset, consumer_offset|null}]}`. Code 17: the topic has no route.
        """
        known, brokers = self._brokers_of(topic)
        try:
            return {"queues": self._queues(brokers, group, topic)}
        except RequestFailed:
            if not known:
                raise
        # A broker of the route may be gone by now; if none is, it fails for good.
        self._routes.pop(topic, None)
        return {"queues": self._queues(self._brokers_of(topic)[1], group, topic)}

    def find_message(self, topic: str, msg_id: str) -> Mapping[str, Any] | None:
        """Where the message with this unique id is stored, by the brokers' indexes (12).

        They are filled a moment after a message is stored.

        Returns:
            `{broker, queue_id, queue_offset, offset_msg_id}`, or None.
        """
        fields = {
            "topic": topic,
            "key": msg_id,
            "maxNum": str(_FOUND_AT_MOST),
            "beginTimestamp": "0",
            "endTimestamp": str(_LONGEST_MS),
            "_UNIQUE_KEY_QUERY": "true",  # MixAll.UNIQUE_MSG_QUERY_FLAG
        }
        failures = []
        brokers = _brokers(self._routes_of(topic), masters=False)
        for name, address in brokers:
            try:
                answer = self._requests.ask(address, _QUERY_MESSAGE, fields, limit_s=_LIMIT_S)
                if answer.code != _QUERY_NOT_FOUND:
                    _check(answer, address)
            except RequestFailed as failure:
                failures.append(failure)
                continue
            for message in decode(answer.body):
                if message.properties.get("UNIQ_KEY") == msg_id:
                    return {
                        "broker": name,
                        "queue_id": message.queue_id,
                        "queue_offset": message.queue_offset,
                        "offset_msg_id": message.offset_msg_id,
                    }
        if failures and len(failures) == len(brokers):
            raise failures[0]
        return None

    def raw(
        self, address: str, code: int, fields: Mapping[str, str], body: str | None, timeout_ms: int
    ) -> Answer:
        """Any request, and its answer, whatever its code."""
        return self._requests.ask(address, code, fields, (body or "").encode(), limit_s=timeout_ms / 1000)

    def consumer_status(self, group: str, broker_address: str) -> Mapping[str, Any]:
        """Whether RocketMQ's tools find the members' subscriptions `alike`, and whose: `members`."""
        return self._tools.request("consumer-status", group=group, broker_address=broker_address)

    def tracks(self, topic: str, offset_msg_id: str) -> Mapping[str, Any]:
        """What RocketMQ's tools say became of a message (messageTrackDetail)."""
        return self._tools.request("tracks", topic=topic, offset_msg_id=offset_msg_id)

    def mqadmin(self, arguments: Sequence[str], limit_s: float, account: str | None) -> Mapping[str, Any]:
        """One command of `mqadmin`, signed as this account, or unsigned.

        Returns:
            `{exit_code, output, seconds}`; the exit code is None if it was killed after the limit.
        """
        access = {} if account is None else {"access": keys_of(account)}
        return self._tools.request("mqadmin", limit_s, arguments=list(arguments), **access, limit_s=limit_s)

    def release(self) -> None:
        """End its connections and its process."""
        self._requests.close()
        self._tools.release()

    def _ask(
        self, address: str, code: int, fields: Mapping[str, str], *, limit_s: float = _LIMIT_S
    ) -> Answer:
        answer = self._requests.ask(address, code, fields, limit_s=limit_s)
        _check(answer, address)
        return answer

    def _routes_of(self, topic: str) -> list[Mapping[str, Any]]:
        """TopicRouteData of each name server that answers and has one."""
        limit_s = _LIMIT_S if len(self._name_servers) == 1 else _ONE_OF_SEVERAL_LIMIT_S
        routes, failures = [], []
        for address in self._name_servers:
            try:
                routes.append(loads(self._ask(address, _ROUTE, {"topic": topic}, limit_s=limit_s).body))
            except RequestFailed as failure:
                failures.append(failure)
        if not routes:
            # One that has no route tells more than one that doesn't answer.
            raise min(failures, key=lambda failure: failure.code is None)
        return routes

    def _brokers_of(self, topic: str) -> tuple[bool, Brokers]:
        """Whether the topic's brokers were known already, and name and address of each."""
        now = time.monotonic()
        for other, (until, _) in list(self._routes.items()):
            if until < now:
                self._routes.pop(other, None)
        if topic in (routes := dict(self._routes)):
            return True, routes[topic][1]
        brokers = _brokers(self._routes_of(topic))
        self._routes[topic] = now + _ROUTE_AGE_S, brokers
        return False, brokers

    def _queues(self, brokers: Brokers, group: str, topic: str) -> list[dict[str, Any]]:
        queues = []
        for name, address in brokers:
            # In this order: a maximum as new as, or newer than, the offset overstates a lag, never hides it.
            committed = self._committed(address, group, topic)
            table = loads(self._ask(address, _TOPIC_STATS, {"topic": topic}).body)["offsetTable"]
            maxima = {int(json.loads(key)["queueId"]): int(ends["maxOffset"]) for key, ends in table.items()}
            queues += [
                {
                    "broker": name,
                    "queue_id": queue_id,
                    "max_offset": maximum,
                    "consumer_offset": committed.get(queue_id),
                }
                for queue_id, maximum in sorted(maxima.items())
            ]
        return queues

    def _committed(self, address: str, group: str, topic: str) -> Mapping[int, int]:
        with self._lock:
            table = self._offset_tables.setdefault(
                address, SharedAnswer(lambda: self._ask(address, _ALL_OFFSETS, {}).body)
            )
        return committed_offsets(table.get(), group, topic)


def _check(answer: Answer, address: str) -> None:
    if answer.code != remoting.SUCCESS:
        # A remark may go on with a link to the FAQ.
        reason = (answer.remark or "no remark").splitlines()[0]
        raise RequestFailed(f"{address}: {reason} (code {answer.code})", answer.code)


def _brokers(routes: Sequence[Mapping[str, Any]], *, masters: bool = True) -> Brokers:
    """The brokers of these routes: only masters, or the one with the lowest id of each name."""
    found = set()
    for data in (data for route in routes for data in route["brokerDatas"]):
        addresses: Mapping[str, str] = data["brokerAddrs"]
        wanted = _MASTER_ID if masters else min(addresses, key=int, default=_MASTER_ID)
        if wanted in addresses:
            found.add((str(data["brokerName"]), str(addresses[wanted])))
    return sorted(found)


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
