"""A broker made by hand, which answers every pull with one and the same code.

It speaks as much of the protocol as a Java client needs to be given a queue of it, and to pull: heartbeats (34),
the members of a group (38), a stored offset (14), pulls (11). Rests on `MQClientAPIImpl` of the client and
`RouteInfoManager.registerBroker` of the name server, as they are from RocketMQ 4.9.3 to 5.5.0.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping

from harness.clients.connection import Connection
from harness.cluster import remoting

HEART_BEAT, GET_CONSUMER_LIST_BY_GROUP, QUERY_CONSUMER_OFFSET, PULL_MESSAGE = 34, 38, 14, 11
REGISTER_BROKER = 103
_READ_ONLY = 4
"""PermName.PERM_READ: no producer sends anything there."""
_HOST = "127.0.0.1"


class RefusingBroker:
    """Listens on this host as soon as it is made, with a thread for each connection."""

    def __init__(self, name: str, code: int, on_pull: Callable[[Mapping[str, str]], None]) -> None:
        """
        Args:
            name: under which it registers.
            code: the ResponseCode of every pull's answer.
            on_pull: told of each pull's header fields, from the thread of its connection.
        """
        self.name = name
        self._code = code
        self._on_pull = on_pull
        self._members: dict[str, set[str]] = {}
        """Client ids by group, from their heartbeats."""
        self._connections: list[socket.socket] = []
        self._registered: Connection | None = None
        self._server = socket.create_server((_HOST, 0))
        self.address = f"{_HOST}:{self._server.getsockname()[1]}"
        threading.Thread(target=self._accept, name=f"broker {name}", daemon=True).start()

    def register(self, nameserver: str, cluster: str, topic: str) -> None:
        """Have the name server name it as the broker of one more queue of a topic.

        Raises:
            OSError: the name server doesn't answer, or refuses.
        """
        configuration = {
            "readQueueNums": 1,
            "writeQueueNums": 1,
            "perm": _READ_ONLY,
            "topicFilterType": "SINGLE_TAG",
            "topicSysFlag": 0,
            "order": False,
        }
        version = {"counter": 1, "timestamp": int(time.time() * 1000)}
        body = {
            "topicConfigSerializeWrapper": {
                # From 5.0 on a name server takes no single topic of a broker that it doesn't know yet.
                "topicConfigTable": {one: {**configuration, "topicName": one} for one in (topic, self.name)},
                "dataVersion": version,
            },
            "filterServerList": [],
        }
        fields = {
            "brokerName": self.name,
            "brokerAddr": self.address,
            "clusterName": cluster,
            "brokerId": "0",
        }
        fields |= {"haServerAddr": self.address, "compressed": "false", "bodyCrc32": "0"}
        # A name server forgets a broker whose connection ends.
        self._registered = Connection(nameserver, lambda _: None)
        answer = self._registered.ask(REGISTER_BROKER, fields, json.dumps(body).encode())
        if answer.code != remoting.SUCCESS:
            raise ConnectionError(f"the name server refuses it: code {answer.code}, {answer.remark}")

    def close(self) -> None:
        """Break all connections, that to the name server included, which forgets it then; and take no more."""
        if self._registered is not None:
            self._registered.close()
        # A thread that waits in `accept` holds the port until it is woken.
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # it was closed
            while True:
                connection, _ = self._server.accept()
                self._connections.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):  # the client has gone, or `close` was called
            while True:
                frame = remoting.read_frame(connection, None)
                if not frame.wants_response:
                    continue
                code, fields, body = self._answer(frame.answer)
                connection.sendall(remoting.frame(code, frame.opaque, fields, body, flag=remoting.RESPONSE))

    def _answer(self, request: remoting.Answer) -> tuple[int, dict[str, str], bytes]:
        """Code, fields and body of the answer; whatever isn't known here is taken for done."""
        match request.code:
            case code if code == PULL_MESSAGE:
                self._on_pull(request.fields)
                return self._code, {}, b""
            case code if code == HEART_BEAT:
                self._join(json.loads(request.body))
            case code if code == GET_CONSUMER_LIST_BY_GROUP:
                members = sorted(self._members.get(str(request.fields.get("consumerGroup")), ()))
                return remoting.SUCCESS, {}, json.dumps({"consumerIdList": members}).encode()
            case code if code == QUERY_CONSUMER_OFFSET:
                return remoting.SUCCESS, {"offset": "0"}, b""
        return remoting.SUCCESS, {}, b""

    def _join(self, heartbeat: Mapping[str, object]) -> None:
        groups = heartbeat.get("consumerDataSet")
        for group in groups if isinstance(groups, list) else ():
            self._members.setdefault(str(group["groupName"]), set()).add(str(heartbeat["clientID"]))
