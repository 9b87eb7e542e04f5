"""A worker under test, a broker, and short ways to use both."""

import itertools
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.cluster.base import Cluster, Node
from rocketchaos.harness.cluster.groups import create_group
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.core.events import body_of
from rocketchaos.harness.core.events.base import BrokenEvent
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.core.names import new_token
from rocketchaos.harness.rocketmq.client_traits import Api, ClientKind
from rocketchaos.harness.workers.worker import Worker
from rocketchaos.harness.workers.worker_events import WorkerEvent

LIMIT_S = 60.0
"""How long anything may take: a client with timers of its own may need two of them."""
READY_LIMIT_S = 30.0
_SEND_TIMEOUT_MS = 3_000
_Seen = TypeVar("_Seen")
Told = Mapping[str, Any]
Spawn = Callable[[str, Callable[[WorkerEvent], None], Callable[[str, str, Trouble], None]], Worker]
"""Starts a worker of this name."""


class NotSo(Exception):
    """What a check found not to be as the protocol, or the worker's traits, have it."""


class Bench:
    """Everything is real; topics and groups are of this bench alone."""

    def __init__(self, kind: ClientKind, api: Api, cluster: Cluster, admin: Admin, spawn: Spawn) -> None:
        self.kind = kind
        self.api = api
        self.admin = admin
        self.broker: Node = next(node for node in cluster.nodes if node.is_master)
        self._cluster = cluster
        self._spawn = spawn
        self._numbers = itertools.count(1)
        # A client keeps offsets of broadcasting in the folder of its logs, also for the next test there.
        self._token = new_token()
        self._changed = threading.Condition()
        self._events: list[WorkerEvent] = []
        self._broken: list[str] = []
        self.workers: list[Worker] = []
        self.producing = self.worker()

    def worker(self) -> Worker:
        """A new process of the worker, once it is ready."""
        worker = self._spawn(f"worker-{next(self._numbers)}", self._on_event, self._on_death)
        self.workers.append(worker)
        worker.wait_ready(READY_LIMIT_S)
        return worker

    def _on_event(self, event: WorkerEvent) -> None:
        with self._changed:
            try:
                body_of(event.kind, {key: value for key, value in event.data.items() if key != "consumer"})
            except BrokenEvent as broken:
                self._broken.append(str(broken))
            self._events.append(event)
            self._changed.notify_all()

    def _on_death(self, name: str, reason: str, _trouble: Trouble) -> None:
        with self._changed:
            self._broken.append(f"{name} ended by itself: {reason}")
            self._changed.notify_all()

    def name(self, what: str) -> str:
        """A name that nothing else has."""
        return f"{what}{self._token}-{next(self._numbers)}"

    def topic(self, queues: int = 4, settings: Mapping[str, str] = MappingProxyType({})) -> str:
        """A new topic; `settings` are further ones of RocketMQ's own names."""
        topic = self.name("topic-")
        of_topic: dict[str, int | bool | str] = {
            "readQueueNums": queues,
            "writeQueueNums": queues,
            **settings,
        }
        self.admin.create_topic(topic, of_topic, [self.broker.address])
        self.until("the topic's route", lambda: self._routed(topic), bool)
        return topic

    def _routed(self, topic: str) -> bool:
        try:
            return bool(self.admin.route(topic)["queues"])
        except RequestFailed:
            return False

    def servers(self) -> dict[str, str]:
        """How a client reaches the servers."""
        proxy = self._cluster.proxy
        endpoint = {"endpoint": proxy.grpc_endpoint} if self.kind.needs_proxy and proxy is not None else {}
        return {"nameserver": self._cluster.nameserver, **endpoint}

    def consume(self, worker: Worker, group: str, subscribe: Told, **more: Any) -> tuple[str, str]:
        """Start a consumer; its name and its client id."""
        name = self.name("c")
        if self.kind.needs_proxy:
            create_group(self.admin, group, [self.broker.address])
        asked: dict[str, Any] = {"settings": {}, "api": self.api.name, **more}
        answer = worker.request(
            "start-consumer",
            LIMIT_S,
            name=name,
            group=group,
            subscribe=dict(subscribe),
            client_ip=name,
            instance="conformance",
            **self.servers(),
            **asked,
        )
        if not isinstance(answer.get("client_id"), str) or not isinstance(answer.get("versions", {}), dict):
            raise NotSo(f"`start-consumer` answers {answer}, without `client_id`, or with broken `versions`")
        return name, answer["client_id"]

    def start_producer(self) -> str:
        """Start a producer in the first worker; its name."""
        name = self.name("p")
        identity = {"group": name, "client_ip": name, "instance": "conformance"}
        answer = self.producing.request("start-producer", LIMIT_S, name=name, **identity, **self.servers())
        if not isinstance(answer.get("client_id"), str):
            raise NotSo(f"`start-producer` answers {answer}, without `client_id`")
        return name

    def send(self, producer: str, topic: str, tag: str | None, key: str, **more: Any) -> dict[str, Any]:
        """Send one message; the answer."""
        asked: dict[str, Any] = {"queue": None, "body": key, "timeout_ms": _SEND_TIMEOUT_MS, **more}
        return self.producing.request("send", LIMIT_S, name=producer, topic=topic, tag=tag, key=key, **asked)

    def of(self, consumer: str, kind: str) -> list[Told]:
        """The events of a consumer so far.

        Raises:
            NotSo: a worker has written a broken event, or has died.
        """
        with self._changed:
            if self._broken:
                raise NotSo(f"it wrote a broken event, or died: {self._broken[0]}")
            return [
                event.data
                for event in self._events
                if event.kind == kind and event.data.get("consumer") == consumer
            ]

    def wait(self, consumer: str, kind: str, count: int) -> list[Told]:
        """The events of a consumer, once there are this many."""
        return self.until(
            f"{count} events `{kind}` of a consumer",
            lambda: self.of(consumer, kind),
            lambda seen: len(seen) >= count,
        )

    def until(self, what: str, look: Callable[[], _Seen], holds: Callable[[_Seen], bool]) -> _Seen:
        """The result of `look` as soon as it holds.

        Raises:
            NotSo: not within the limit; with what was last seen.
        """
        seen = look_until(look, holds, LIMIT_S, 0.05)
        if not holds(seen):
            raise NotSo(f"{what}: not within {LIMIT_S:g} s; last seen: {str(seen)[:300]}")
        return seen

    def members(self, group: str) -> set[str]:
        """The client ids that the broker knows of a group."""
        try:
            connections = self.admin.connection(group, self.broker.address)["connections"]
        except RequestFailed:
            return set()
        return {str(connection["client_id"]) for connection in connections}

    def release(self) -> None:
        """End every process."""
        for worker in self.workers:
            worker.release()
