"""A group on one broker as conditions and probes see it: what its members and the broker tell."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from rocketchaos.harness.language.cluster_needs import PROXY
from rocketchaos.harness.language.consumer_spec import Consumer
from rocketchaos.harness.probes.context import ProbeContext
from rocketchaos.harness.rocketmq.client_kinds import Api

QUEUES = [("broker-a", number) for number in range(4)]


class Member:
    """A running consumer, as far as conditions and probes look at it."""

    def __init__(self, name: str, tag: str, client: str, api: str, text: dict[str, Any], **more: Any) -> None:
        self.name = name
        spec = Consumer.model_validate(
            {"group": "g", "client": client, "api": api, "subscribe": {"orders": tag}, **more}
        )
        self.spec = SimpleNamespace(
            share=spec.share,
            listener=spec.listener,
            model=spec.model,
            name_servers=spec.name_servers,
            group=spec.group,
            choice=spec.choice,
        )
        self.traits = replace(spec.traits, **text)
        self.client_id = f"{name}@t"
        self.subscriptions = {"orders": tag}
        self.topics = ("orders",)
        self.paused = False
        self.queues: list[int] = []
        self.come_to = [0, 0, 0, 0]
        self.version = 1
        self.changes = SimpleNamespace(under_way=lambda *_where: False)

    def read_entries(self) -> None:
        """It writes none."""

    def recognize(self, connections: Any) -> None:
        """Its client is the same all the time."""

    def flush_events(self) -> None:
        pass

    def assignment(self) -> dict[str, Any]:
        queues = [{"topic": "orders", "broker": "broker-a", "queue_id": queue} for queue in self.queues]
        if not self.traits.process_tells_all:
            return {"queues": queues}
        subscribed = {"sub_version": self.version, "expression": self.subscriptions["orders"]}
        return {"queues": queues, "subscriptions": {"orders": subscribed}}

    def pull_counts(self, topic: str) -> dict[str, int] | None:
        traits: Api = self.traits
        return {"found_pulls": 0, "passed_messages": 0} if traits.counts_pulls else None


class Group:
    """A group on one broker, and what a ProbeContext is asked of it."""

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.connected: list[str] | None = None
        self.stored: tuple[int, str] | None = (1, "tagA")
        self.now_ms = 0.0
        self.observed: list[tuple[str, dict[str, Any]]] = []
        self.began_ns: list[int] = []
        self.failed: list[tuple[str, str]] = []
        self.asked: list[str] = []
        self.sent: list[Any] = []

    def add(self, name: str, tag: str, client: str = "java", api: str = "push", **text: Any) -> Member:
        self.members[name] = Member(name, tag, client, api, text)
        return self.members[name]

    def _connection(self, *_where: str) -> dict[str, Any]:
        known = (
            [member.client_id for member in self.members.values()]
            if self.connected is None
            else self.connected
        )
        held = {} if self.stored is None else {"orders": self._entry(*self.stored)}
        connections = [{"client_id": item, "address": f"{item}:1"} for item in known]
        return {"connections": connections, "subscriptions": held}

    @staticmethod
    def _entry(version: int, expression: str) -> dict[str, Any]:
        return {"sub_version": version, "expression": expression, "codes": [], "tags": []}

    def _running_info(self, _group: str, client_id: str, *_rest: object) -> dict[str, Any]:
        self.asked.append(client_id.partition("@")[0])
        member = self.members[self.asked[-1]]
        lacks = member.traits.asks_process
        subscribed = self._entry(member.version, member.subscriptions["orders"])
        queues = member.assignment()["queues"]
        found = [{**item, "commit_offset": member.come_to[item["queue_id"]]} for item in queues]
        return {"queues": [] if lacks else found, "subscriptions": {"orders": subscribed}}

    def _offsets(self, _group: str, _topic: str) -> dict[str, Any]:
        stored = {"max_offset": 2, "consumer_offset": None}
        return {"queues": [{"broker": broker, "queue_id": number, **stored} for broker, number in QUEUES]}

    @property
    def context(self) -> ProbeContext:
        consumers = self.members

        def write(_what: str, kind: str, data: dict[str, Any], _moment: str | None, began_ns: int) -> None:
            self.observed.append((kind, data))
            self.began_ns.append(began_ns)

        def failed(probe: str, error: str, **_where: str) -> None:
            self.failed.append((probe, error))

        return cast(
            ProbeContext,
            SimpleNamespace(
                consumers=consumers,
                scenario=SimpleNamespace(
                    consumers={name: SimpleNamespace(group="g") for name in consumers},
                    routes_of=lambda _name: (frozenset({"broker-a"}),),
                    counted_by=lambda _name, online: list(online),
                    groups=(),
                    topics={"orders": None},
                    checks=lambda: (),
                ),
                members=SimpleNamespace(
                    online=lambda _group: tuple(consumers),
                    running=lambda: tuple(consumer for consumer in consumers.values() if not consumer.paused),
                ),
                hand_made=SimpleNamespace(ids=lambda _group: [], flush=lambda: None),
                servers=SimpleNamespace(
                    brokers_of_group=lambda _group: {"broker-a": ":10911"},
                    keepers_of_group=lambda _group: {"broker-a": ":10911"},
                    members_at=lambda _group, keeper: () if keeper == PROXY else tuple(consumers),
                    broker_addresses={"broker-a": ":10911"},
                    why_not_asked=lambda _topic: None,
                    routed_queues=lambda _topic: tuple(QUEUES),
                    queues=lambda _topic: tuple(QUEUES),
                    down={"broker-a": "paused"},
                ),
                admin=SimpleNamespace(
                    connection=self._connection, running_info=self._running_info, offsets=self._offsets
                ),
                producer=SimpleNamespace(acknowledged=self.sent, look_for_accepted=lambda: None),
                variables=SimpleNamespace(resolve=list),
                names=SimpleNamespace(real=str, scenario=str),
                observations=SimpleNamespace(
                    only=lambda _probe: nullcontext(), write=write, note_failure=failed
                ),
                now_ns=lambda: int(self.now_ms * 1e6),
                history=SimpleNamespace(append=lambda *_said: None),
            ),
        )


def two(client: str, api: str = "push", **text: Any) -> Group:
    group = Group()
    group.add("a", "tagA", client, api, **text).queues = [0, 1]
    group.add("b", "tagB", client, api, **text).queues = [2, 3]
    return group
