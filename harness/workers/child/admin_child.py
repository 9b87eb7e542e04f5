"""The `admin` worker: what brokers and name server say, through RocketMQ's own tools.

Rests on org.apache.rocketmq.tools.admin.DefaultMQAdminExt and
org.apache.rocketmq.client.impl.MQClientAPIImpl, as they are from 4.9.3 to 5.5.0; use the tools of the
broker's own version. It joins no consumer group: an admin client's heartbeats name no consumer. The commands
are those of `harness.workers.protocol`.
"""

from __future__ import annotations

from rocketchaos.harness.workers import jpype_without_numpy  # noqa: F401  (before jpype)

# isort: split

import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import jpype

from rocketchaos.harness.workers.child import jvm, mqadmin, raw_requests
from rocketchaos.harness.workers.child.access import hook_of
from rocketchaos.harness.workers.child.all_name_servers import AllNameServers
from rocketchaos.harness.workers.child.running_info import running_info
from rocketchaos.harness.workers.child.shared_answers import SharedAnswer
from rocketchaos.harness.workers.protocol import CommandFailed, EventPipe

_TIMEOUT_MS = 5000
"""How long one request may take, where the command doesn't say."""
_MASTER_ID = 0
_GET_ALL_CONSUMER_OFFSET = 43
_GET_CONSUMER_RUNNING_INFO = 307
_NO_MESSAGE = 208
"""ResponseCode.NO_MESSAGE, which the client itself gives where no index has the key (MQAdminImpl)."""
_NO_ROUTE = 17
"""ResponseCode.TOPIC_NOT_EXIST, of a name server that knows no broker with the topic."""
_ROUTE_AGE_S = 1.0
"""A route is asked for again after this; clients do so every 30 s (ClientConfig.pollNameServerInterval)."""


class AdminWorker:
    """The commands; connected once, then safe to use from several threads."""

    def __init__(self, given: jvm.Arguments) -> None:
        self._given = given
        self._nameserver = ""
        self._lock = threading.Lock()
        self._asked: AllNameServers | None = None
        self._routes: dict[str, tuple[float, list[tuple[str, str]]]] = {}
        self._offset_tables: dict[str, SharedAnswer[bytes]] = {}

    def connect(self, nameserver: str, instance: str, access: Mapping[str, Any] | None = None) -> None:
        """Start DefaultMQAdminExt, one for each name server, which signs its requests by `access`."""
        with self._lock:
            if self._asked is not None:
                raise CommandFailed("this worker is connected already")
            admins = []
            for number, address in enumerate(nameserver.split(";")):
                admin_class = "org.apache.rocketmq.tools.admin.DefaultMQAdminExt"
                hooks = () if access is None else (hook_of(access),)
                admin = jvm.new_client(admin_class, *hooks, jpype.JLong(_TIMEOUT_MS))
                admin.setNamesrvAddr(address)
                admin.setInstanceName(f"{instance}-{number + 1}" if number else instance)
                admin.start()
                admins.append(admin)
            self._asked = AllNameServers(admins)
            self._nameserver = nameserver

    @property
    def _all(self) -> AllNameServers:
        if self._asked is None:
            raise CommandFailed("this worker is not connected: `connect` comes first")
        return self._asked

    @property
    def _api(self) -> Any:
        """MQClientAPIImpl: one request to one address each."""
        return self._all.instances[0].getMQClientAPIImpl()

    def cluster(self) -> Mapping[str, Any]:
        """The master brokers that any name server knows (106)."""
        known = dict(pair for table in self._all.broker_tables() for pair in _masters(table.values()))
        return {"brokers": [{"name": name, "address": known[name]} for name in sorted(known)]}

    def create_topic(
        self,
        topic: str,
        settings: Mapping[str, Any],
        broker_addresses: Sequence[str],
        attributes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Create a topic, or change its settings, on each of the brokers (17)."""
        config = jpype.JClass("org.apache.rocketmq.common.TopicConfig")(topic)
        for setting, value in settings.items():
            jvm.set_property(config, setting, value)
        if attributes:
            changes = jpype.JClass("java.util.HashMap")()
            for name, value in attributes.items():
                changes.put(f"+{name}", value)
            config.setAttributes(changes)
        for address in broker_addresses:
            # TBW102: the topic whose settings a new one inherits; every field is given, so nothing is.
            self._api.createTopic(address, "TBW102", config, jpype.JLong(_TIMEOUT_MS))

    def route(self, topic: str) -> Mapping[str, Any]:
        """How many read and write queues of a topic each broker has, and its permission (105).

        Of a broker that several name servers know, each telling something else, there are several entries.
        """
        queues = {
            (
                str(data.getBrokerName()),
                int(data.getReadQueueNums()),
                int(data.getWriteQueueNums()),
                int(data.getPerm()),
            )
            for route in self._all.routes(topic)
            for data in route.getQueueDatas()
        }
        names = ("broker", "queues", "write_queues", "perm")
        return {"queues": [dict(zip(names, queue, strict=True)) for queue in sorted(queues)]}

    def connection(self, group: str, broker_address: str) -> Mapping[str, Any]:
        """Who is online in a group, and what the broker holds as its subscription (203)."""
        answer = self._api.getConsumerConnectionList(broker_address, group, jpype.JLong(_TIMEOUT_MS))
        connections = [
            {
                "client_id": str(connection.getClientId()),
                "address": str(connection.getClientAddr()),
                "language": str(connection.getLanguage()),
                "version": int(connection.getVersion()),
                "version_name": _version_name(int(connection.getVersion())),
            }
            for connection in answer.getConnectionSet()
        ]
        return {
            "connections": sorted(connections, key=lambda connection: str(connection["client_id"])),
            "subscriptions": {
                str(entry.getKey()): {
                    **_expression(entry.getValue()),
                    "tags": sorted(str(tag) for tag in entry.getValue().getTagsSet()),
                    "codes": sorted(int(code) for code in entry.getValue().getCodeSet()),
                }
                for entry in answer.getSubscriptionTable().entrySet()
            },
            "consume_type": jvm.text(answer.getConsumeType()),
            "message_model": jvm.text(answer.getMessageModel()),
            "consume_from_where": jvm.text(answer.getConsumeFromWhere()),
        }

    def running_info(
        self, group: str, client_id: str, broker_address: str, timeout_ms: int
    ) -> Mapping[str, Any]:
        """A client's own view of its queues and subscription, relayed by the broker (307)."""
        # Read here: the C++ client's answer is JSON that RocketMQ's own decoder refuses from 5.x on (fastjson2).
        fields = {"consumerGroup": group, "clientId": client_id, "jstackEnable": "false"}
        answer = raw_requests.ask(
            self._api, broker_address, _GET_CONSUMER_RUNNING_INFO, fields, None, timeout_ms
        )
        if answer.code != raw_requests.SUCCESS:
            raise CommandFailed(answer.remark or f"{client_id} doesn't tell", answer.code)
        if not answer.body:
            raise CommandFailed(f"{client_id} answers with success, and nothing else")
        return running_info(answer.body)

    def consumer_status(self, group: str, broker_address: str) -> Mapping[str, Any]:
        """What `mqadmin consumerStatus -g` compares (ConsumerStatusSubCommand, 4.9.4)."""
        connection = self._api.getConsumerConnectionList(broker_address, group, jpype.JLong(_TIMEOUT_MS))
        infos = jpype.JClass("java.util.TreeMap")()
        for item in connection.getConnectionSet():
            client_id = item.getClientId()
            asking = partial(_running_info, group, client_id)
            infos.put(client_id, self._all.first_that_can(asking, self._all.admins))
        # The class moved with 5.0, so it is reached by what the client itself hands out.
        alike = next(iter(infos.values())).analyzeSubscription(infos)
        return {"alike": bool(alike), "members": [str(client_id) for client_id in infos.keySet()]}

    def offsets(self, group: str, topic: str) -> Mapping[str, Any]:
        """Each queue's maximum at the broker, and the offset that the broker holds for the group, or None.

        The group's offset is read from the broker's whole table (43): it has an entry only where an offset
        was committed, while code 14 answers 0, and code 208 shows 0, where none is (ConsumerManageProcessor.
        queryConsumerOffset, AdminBrokerProcessor.getConsumeStats; 4.9.4 and 5.3.3).
        """
        known, brokers = self._brokers_of(topic)
        try:
            return {"queues": self._queues(brokers, group, topic)}
        except (CommandFailed, jpype.JException):
            if not known:
                raise
        # A broker of the route may be gone by now; if none is, it fails for good.
        self._routes.pop(topic, None)
        return {"queues": self._queues(self._brokers_of(topic)[1], group, topic)}

    def _brokers_of(self, topic: str) -> tuple[bool, list[tuple[str, str]]]:
        """Whether the topic's brokers were known already, and name and address of each."""
        now = time.monotonic()
        for other, (until, _) in list(self._routes.items()):
            if until < now:
                self._routes.pop(other, None)
        if topic in (routes := dict(self._routes)):
            return True, routes[topic][1]
        answered = self._all.routes(topic)
        brokers = sorted({pair for route in answered for pair in _masters(route.getBrokerDatas())})
        self._routes[topic] = now + _ROUTE_AGE_S, brokers
        return False, brokers

    def _queues(self, brokers: Sequence[tuple[str, str]], group: str, topic: str) -> list[dict[str, Any]]:
        queues = []
        for name, address in brokers:
            # In this order: a maximum as new as, or newer than, the offset overstates a lag, never hides it.
            committed = self._committed(address, group, topic)
            table = self._api.getTopicStatsInfo(address, topic, jpype.JLong(_TIMEOUT_MS)).getOffsetTable()
            maxima = {
                int(entry.getKey().getQueueId()): int(entry.getValue().getMaxOffset())
                for entry in table.entrySet()
            }
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
            table = self._offset_tables.setdefault(address, SharedAnswer(lambda: self._all_offsets(address)))
        return raw_requests.committed_offsets(table.get(), group, topic)

    def _all_offsets(self, address: str) -> bytes:
        answer = raw_requests.ask(self._api, address, _GET_ALL_CONSUMER_OFFSET, {}, None, _TIMEOUT_MS)
        if answer.code != raw_requests.SUCCESS:
            raise CommandFailed(f"{address}: {answer.remark or 'no remark'}", answer.code)
        return answer.body

    def find_message(self, topic: str, msg_id: str) -> Mapping[str, Any]:
        """A message by its UNIQ_KEY, from the brokers' indexes (12); it tells where it is stored, not the name."""
        tables = self._all.broker_tables()
        names = {address: name for table in tables for name, address in _masters(table.values())}
        try:
            message = self._all.first_that_can(
                lambda instance: instance.getMQAdminImpl().queryMessageByUniqKey(topic, msg_id),
                self._all.instances,
            )
        except jpype.JException as error:
            no_route = len(self._all.instances) > 1 and jvm.failure(error).code == _NO_ROUTE
            if jvm.failure(error).code != _NO_MESSAGE and not no_route:
                raise
            message = None
        if message is None:
            return {"message": None}
        return {
            "message": {
                "broker": names.get(str(message.getStoreHost()).lstrip("/")),
                "queue_id": int(message.getQueueId()),
                "queue_offset": int(message.getQueueOffset()),
                "offset_msg_id": jvm.text(message.getOffsetMsgId()),
            }
        }

    def tracks(self, topic: str, offset_msg_id: str) -> Mapping[str, Any]:
        """What RocketMQ's own tools say became of a message, for every group that knows its topic."""
        tracks = self._all.first_that_can(
            lambda admin: admin.messageTrackDetail(admin.viewMessage(topic, offset_msg_id)), self._all.admins
        )
        return {
            "tracks": [
                {
                    "group": str(track.getConsumerGroup()),
                    "type": str(track.getTrackType()),
                    "exception": jvm.text(track.getExceptionDesc()),
                }
                for track in tracks
            ]
        }

    def mqadmin(
        self, arguments: Sequence[str], limit_s: float, access: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        """What `mqadmin` prints, run as a command against all name servers."""
        return mqadmin.run(self._given, self._nameserver, arguments, limit_s, access)

    def raw(
        self, address: str, code: int, fields: Mapping[str, str], body: str | None, timeout_ms: int
    ) -> Mapping[str, Any]:
        """Send any request to any address; return its answer, whatever it is."""
        answer = raw_requests.ask(self._api, address, code, fields, body, timeout_ms)
        return {
            "code": answer.code,
            "remark": answer.remark,
            "fields": dict(answer.fields),
            **raw_requests.printable(answer.body),
        }


def _running_info(group: str, client_id: Any, admin: Any) -> Any:
    return admin.getConsumerRunningInfo(group, client_id, False)


def _masters(broker_datas: Any) -> list[tuple[str, str]]:
    """Name and address of each broker that has a master now."""
    found = []
    for data in broker_datas:
        address = data.getBrokerAddrs().get(jpype.JLong(_MASTER_ID))
        if address is not None:
            found.append((str(data.getBrokerName()), str(address)))
    return found


def _version_name(number: int) -> str:
    """`4.9.4`, of Java's clients (MQVersion); others send numbers of their own."""
    name = jpype.JClass("org.apache.rocketmq.common.MQVersion").getVersionDesc(number)
    return str(name).removeprefix("V").replace("_", ".")


def _expression(subscription: Any) -> dict[str, Any]:
    return {
        "expression": str(subscription.getSubString()),
        "type": jvm.text(subscription.getExpressionType()) or "TAG",
        "sub_version": int(subscription.getSubVersion()),
    }


def main() -> None:
    """Start the JVM and serve."""
    given = jvm.arguments()
    events = EventPipe(given.events_fd)
    jvm.start(given)
    worker = AdminWorker(given)
    jvm.run(
        given,
        events,
        {
            "connect": worker.connect,
            "cluster": worker.cluster,
            "create-topic": worker.create_topic,
            "route": worker.route,
            "connection": worker.connection,
            "running-info": worker.running_info,
            "consumer-status": worker.consumer_status,
            "offsets": worker.offsets,
            "find-message": worker.find_message,
            "tracks": worker.tracks,
            "mqadmin": worker.mqadmin,
            "raw": worker.raw,
        },
    )


if __name__ == "__main__":
    main()
