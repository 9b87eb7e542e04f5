"""The `admin` worker: what RocketMQ's own tools say, where they are the subject.

Rests on org.apache.rocketmq.tools.admin.DefaultMQAdminExt and
org.apache.rocketmq.client.impl.MQClientAPIImpl, as they are from 4.9.3 to 5.5.0; use the tools of the
broker's own version. It joins no consumer group: an admin client's heartbeats name no consumer. The commands
are those of `harness.workers.protocol`.
"""

from __future__ import annotations

from rocketchaos.harness.workers import jpype_without_numpy  # noqa: F401  (before jpype)

# isort: split

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jpype

from rocketchaos.harness.workers.child import jvm, mqadmin, raw_requests
from rocketchaos.harness.workers.child.access import hook_of
from rocketchaos.harness.workers.protocol import CommandFailed, EventPipe, Handler

_TIMEOUT_MS = 5000
"""How long one request may take, where the command doesn't say."""


class AdminWorker:
    """The commands; connected once, then safe to use from several threads."""

    def __init__(self, given: jvm.Arguments) -> None:
        self._given = given
        self._nameserver = ""
        self._lock = threading.Lock()
        self._admins: tuple[Any, ...] = ()

    def connect(self, nameserver: str, instance: str, access: Mapping[str, Any] | None = None) -> None:
        """Start DefaultMQAdminExt, one for each name server, which signs its requests by `access`.

        RocketMQ's own client asks one of several name servers, and another one only where that answers no more
        (`NettyRemotingClient.getAndCreateNameserverChannel`, 4.9.4 and 5.5.0).
        """
        with self._lock:
            if self._admins:
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
            self._admins = tuple(admins)
            self._nameserver = nameserver

    @property
    def _api(self) -> Any:
        """MQClientAPIImpl: one request to one address each."""
        if not self._admins:
            raise CommandFailed("this worker is not connected: `connect` comes first")
        # Its accessors came with 5.x; the fields are the same in all versions.
        implementation = jvm.private_field(self._admins[0], "defaultMQAdminExtImpl")
        return jvm.private_field(implementation, "mqClientInstance").getMQClientAPIImpl()

    def _first_that_can(self, do: Callable[[Any], Any]) -> Any:
        """What the first admin client makes of it that doesn't fail, or what the last one throws."""
        for admin in self._admins[:-1]:
            try:
                return do(admin)
            except jpype.JException:
                continue
        return do(self._admins[-1])

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """The commands, by their names."""
        return {
            "connect": self.connect,
            "consumer-status": self.consumer_status,
            "tracks": self.tracks,
            "mqadmin": self.mqadmin,
            "raw": self.raw,
        }

    def consumer_status(self, group: str, broker_address: str) -> Mapping[str, Any]:
        """What `mqadmin consumerStatus -g` compares (ConsumerStatusSubCommand, 4.9.4)."""
        connection = self._api.getConsumerConnectionList(broker_address, group, jpype.JLong(_TIMEOUT_MS))
        infos = jpype.JClass("java.util.TreeMap")()
        for item in connection.getConnectionSet():
            client_id = item.getClientId()
            asking = partial(_running_info, group, client_id)
            infos.put(client_id, self._first_that_can(asking))
        # The class moved with 5.0, so it is reached by what the client itself hands out.
        alike = next(iter(infos.values())).analyzeSubscription(infos)
        return {"alike": bool(alike), "members": [str(client_id) for client_id in infos.keySet()]}

    def tracks(self, topic: str, offset_msg_id: str) -> Mapping[str, Any]:
        """What RocketMQ's own tools say became of a message, for every group that knows its topic."""
        tracks = self._first_that_can(
            lambda admin: admin.messageTrackDetail(admin.viewMessage(topic, offset_msg_id))
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


def main() -> None:
    """Start the JVM and serve."""
    given = jvm.arguments()
    events = EventPipe(given.events_fd)
    jvm.start(given)
    jvm.run(given, events, AdminWorker(given).handlers)


if __name__ == "__main__":
    main()
