"""Workers against a real broker, and short ways to use them."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.clients.server_requests import DirectRequests
from rocketchaos.harness.clients.tools import Tools
from rocketchaos.harness.cluster.base import Cluster
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.jars import artifacts
from rocketchaos.harness.jars.java_home import find_java
from rocketchaos.harness.language.topic import evenly
from rocketchaos.harness.probes.subscription_probe import CONSUMER_NOT_ONLINE
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from rocketchaos.harness.rocketmq.remoting import Answer
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from rocketchaos.harness.workers.on_host import OnHost
from rocketchaos.harness.workers.worker import Worker
from rocketchaos.harness.workers.worker_events import WorkerEvent
from rocketchaos.harness.workers.worker_kinds import KINDS
from tests import waiting

LIMIT_S = 30.0
Event = Mapping[str, Any]


def until(look: Callable[[], Any], holds: Callable[[Any], bool]) -> Any:
    """What `look` gives as soon as it holds."""
    return waiting.until(look, LIMIT_S, holds)


class Seen:
    """What workers reported."""

    def __init__(self) -> None:
        self._events: list[WorkerEvent] = []
        self._changed = threading.Condition()

    def on_event(self, event: WorkerEvent) -> None:
        with self._changed:
            self._events.append(event)
            self._changed.notify_all()

    def of(self, consumer: str, kind: str) -> list[Event]:
        with self._changed:
            return [
                event.data
                for event in self._events
                if event.kind == kind and event.data.get("consumer") == consumer
            ]

    def wait(self, consumer: str, kind: str, count: int) -> list[Event]:
        with self._changed:
            self._changed.wait_for(lambda: len(self.of(consumer, kind)) >= count, LIMIT_S)
        found = self.of(consumer, kind)
        assert len(found) >= count, f"{found} within {LIMIT_S} s"
        return found


_NUMBERS = itertools.count()
"""Of topics, groups and consumers: benches of several modules may share a cluster."""


class Bench:
    """Workers against the cluster, and short ways to use them."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        self.seen = Seen()
        self.deaths: list[tuple[str, str, Trouble]] = []
        self.workers: list[Worker] = []
        self.numbers = _NUMBERS
        self.broker = cluster.nodes[1]
        self.tools = Tools(lambda: self.spawn("admin", "admin"), cluster.nameserver)
        self.requests = DirectRequests()
        self.admin = Admin(cluster.nameserver, self.requests, self.tools)
        self.java = self.spawn("java", "java")
        self.java.wait_ready(LIMIT_S)
        self.java.request("start-producer", LIMIT_S, name="p", group="p", **self.identity("p"))

    def spawn(self, kind: str, name: str, *options: str) -> Worker:
        chosen = KINDS[kind]
        role = chosen.classpath_role
        client = CLIENT_KINDS.get(kind)
        version = self.cluster.version if client is None or client.version is None else client.version
        worker = Worker.spawn(
            chosen,
            name,
            home=OnHost("tests", find_java()),
            classpath=() if role is None else artifacts.classpath(version, role),
            packages=chosen.packages_folder(),
            library=chosen.library(),
            jvm_options=[
                *(f"-D{key}={value}" for key, value in COMPRESSED.client_system_properties.items()),
                *options,
            ],
            log_folder=self.folder,
            on_event=self.seen.on_event,
            on_death=lambda *death: self.deaths.append(death),
        )
        self.workers.append(worker)
        return worker

    def identity(self, name: str) -> dict[str, str]:
        return {"nameserver": self.cluster.nameserver, "client_ip": f"ip-{name}", "instance": "i"}

    def raw(self, code: int, body: str | None = None, **fields: str) -> Answer:
        return self.admin.raw(self.broker.address, code, fields, body, 3000)

    def topic(self, queues: int = 4) -> str:
        topic = f"topic-{next(self.numbers)}"
        self.admin.create_topic(topic, evenly(queues), [self.broker.address])
        return topic

    def consume(
        self,
        topic: str,
        expression: str,
        *,
        group: str,
        worker: Worker | None = None,
        settings: Mapping[str, Any] = COMPRESSED.client_settings,
        **more: Any,
    ) -> str:
        """Start a consumer; returns its name."""
        name = f"c-{next(self.numbers)}"
        answer = (worker or self.java).request(
            "start-consumer",
            LIMIT_S,
            name=name,
            group=group,
            subscribe={topic: expression},
            settings=dict(settings),
            **self.identity(name),
            **more,
        )
        assert answer["client_id"] == f"ip-{name}@i"
        return name

    def send(self, topic: str, tag: str | None, queue_id: int | None, key: str = "k") -> dict[str, Any]:
        queue = None if queue_id is None else {"broker": self.broker.name, "id": queue_id}
        message = {"topic": topic, "tag": tag, "key": key, "body": "hello"}
        return self.java.request("send", LIMIT_S, name="p", queue=queue, timeout_ms=3000, **message)

    def connection(self, group: str) -> Mapping[str, Any]:
        return self.admin.connection(group, self.broker.address)

    def online(self, group: str, members: int = 1) -> dict[str, Any]:
        """The same, once so many members are known: a client's `start` may end before its heartbeat is there."""

        def look() -> Mapping[str, Any]:
            try:
                return self.connection(group)
            except RequestFailed as failed:
                if failed.code != CONSUMER_NOT_ONLINE:
                    raise
                return {"connections": []}

        return dict(until(look, lambda seen: len(seen["connections"]) >= members))

    def offsets(self, group: str, topic: str) -> list[tuple[int, int | None]]:
        """Maximum and the group's offset, by queue."""
        queues = self.admin.offsets(group, topic)["queues"]
        assert [(queue["broker"], queue["queue_id"]) for queue in queues] == [
            (self.broker.name, number) for number in range(len(queues))
        ]
        return [(queue["max_offset"], queue["consumer_offset"]) for queue in queues]

    def noted_offsets(self, group: str, client_id: str, topic: str) -> list[int]:
        """The offsets of a member's queues as its own client knows them, stored or not.

        A client notes an offset only after its listener has returned, which is later than the event `consumed`.
        """
        info = self.admin.running_info(group, client_id, self.broker.address, 3000)
        return [queue["commit_offset"] for queue in info["queues"] if queue["topic"] == topic]

    def release(self) -> None:
        """End everything of its own."""
        self.requests.close()
        for worker in self.workers:
            worker.kill()

    def pull_counts(self, name: str, topic: str) -> tuple[int, int]:
        counts = self.java.request("pull-counts", LIMIT_S, name=name, topic=topic)
        return counts["found_pulls"], counts["passed_messages"]


def failure(call: Callable[[], object]) -> RequestFailed | None:
    try:
        call()
    except RequestFailed as failed:
        return failed
    return None
