"""Hand-made histories for tests of what reads them. Test data only: never a result.

`eight_messages` is the classic experiment: a and b of group g subscribe to orders with tagA and tagB, the
broker holds b's, 8 messages of tagB go to 4 queues. b gets the 4 of its own queues; the 4 of a's are dropped
by a's client.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cache
from typing import Any, Self, get_type_hints

import yaml
from msgspec import ValidationError, convert
from msgspec.structs import fields

from rocketchaos.assertions.oracle import fates
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events import KINDS
from rocketchaos.harness.core.model import SECTIONS, Event, MessageClass, MessageFate
from rocketchaos.harness.language.consumer_spec import Consumer
from rocketchaos.harness.language.expressions import as_data
from rocketchaos.harness.language.tags import hash_code
from rocketchaos.harness.scenario.model import Scenario

BROKER = "broker-a"

EIGHT_MESSAGES = """\
name: same-group-different-tags
title: Same group, different tags - half of the tagB messages reach nobody
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
  b: {group: g, subscribe: {orders: tagB}}
steps:
  - start: a
  - start: b
  - settle: {ownership: g, within: 40s}
  - settle: {subscription: g, topic: orders, within: 40s}
  - bind: {holder: {member-of: g, whose-subscription-is-stored-for: orders}}
  - send: {topic: orders, tag: $holder.tag, count: 8, per_queue: 2}
  - settle: {offsets: g, topic: orders, lag: 0, within: 30s}
anomaly:
  - delivered: {to: $holder, count: 4, from_queues_of: $holder, claim: B01}
  - delivered: {to: $others, count: 0, claim: B01}
  - undelivered: {count: 4, because: filtered-by-client}
healthy:
  - delivered: {to: g, count: 8}
also:
  - track: {group: g, topic: orders, all: CONSUMED, claim: C02}
expected: reproduced
"""


def scenario_of(text: str, file: str = "scenarios/subscription/same.scenario.yaml") -> Scenario:
    """The scenario of a YAML text; each entry of a section counts as three lines after the last one's."""
    scenario = Scenario.model_validate(yaml.load(text, yaml.CSafeLoader))
    lines: dict[tuple[str | int, ...], int] = {}
    for section in ("steps", *SECTIONS):
        for index in range(len(getattr(scenario, section))):
            lines[(section, index)] = len(lines) + 7
    return scenario.with_source(text, file, lines)


def _what_else_belongs_to(kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Values that say nothing, for the fields that every event of the kind has and the story is not about."""
    return {name: copy(value) for name, value in _required(kind).items() if name not in data}


@cache
def _required(kind: str) -> dict[str, Any]:
    """The fields that every event of the kind has, each with a value that says nothing."""
    of = KINDS.get(kind)
    types = {} if of is None else get_type_hints(of)
    return {
        field.encode_name: _nothing_of(types[field.name])
        for field in (() if of is None else fields(of))
        if field.required
    }


def _nothing_of(wanted: Any) -> Any:
    for value in (None, "", 0, False, [], {}):
        try:
            convert(value, wanted)
        except ValidationError:
            continue
        return value
    raise TypeError(wanted)


class HistoryBuilder:
    """Adds events one after the other; `at` sets the clock, every event moves it on by a millisecond."""

    def __init__(self, run: str = "testrun") -> None:
        self.run = run
        self.events: list[Event] = []
        self._now_ms = 0.0
        self._versions: dict[object, tuple[object, int]] = {}

    def _version(self, what: object, value: object) -> int:
        """A subVersion that rises when the value changes, and only then."""
        last, version = self._versions.get(what, (None, len(self.events)))
        if last != value:
            version = len(self.events) + 1
        self._versions[what] = value, version
        return version

    def at(self, seconds: float) -> HistoryBuilder:
        """Set the clock, in seconds since the beginning."""
        self._now_ms = seconds * 1000
        return self

    def add(self, node: str, kind: str, **data: Any) -> int:
        """One event; its number."""
        self._now_ms += 1
        number = len(self.events) + 1
        self.events.append(
            Event(
                n=number,
                mono_ns=5_000_000_000 + int(self._now_ms * 1e6),
                wall_ms=1_760_000_000_000 + int(self._now_ms),
                run=self.run,
                node=node,
                kind=kind,
                data={**data, **_what_else_belongs_to(kind, data)},
            )
        )
        return number

    def begin(self, scenario: Scenario) -> HistoryBuilder:
        """Servers ready, topics created."""
        self.add("harness", "run-started", scenario=scenario.name)
        self.add("namesrv", "node-ready", role="nameserver", address="127.0.0.1:9876", pid=100)
        self.add(BROKER, "node-ready", role="broker", address="127.0.0.1:10911", pid=101)
        for topic, spec in scenario.topics.items():
            self.add("harness", "topic-created", topic=topic, real=f"{topic}-testrun", queues=spec.queues)
        return self

    def step(self, index: int, word: str) -> HistoryBuilder:
        """The previous step ends, this one begins."""
        if index:
            self.add("harness", "step-ended", index=index - 1, step="previous", line=7)
        self.add("harness", "step-started", index=index, step=word, line=7 + index)
        return self

    @staticmethod
    def _declared(spec: Consumer) -> dict[str, Any]:
        return {topic: as_data(expression) for topic, expression in spec.subscribe.items()}

    def start(self, scenario: Scenario, name: str, **facts: Any) -> int:
        """A consumer starts, and tells these facts of its client besides."""
        spec = scenario.consumers[name]
        self.add(name, "consumer-starting", pid=200, subscribe=self._declared(spec))
        found = {"client_id": f"{name}@t", "group": spec.group, "client": spec.choice.kind.name, "pid": 200}
        return self.add(name, "consumer-started", **found, **facts)

    def stored(
        self, group: str, subscriptions: Mapping[str, str], clients: Sequence[str], **more: Any
    ) -> int:
        """What the broker holds of a group."""
        return self.add(
            "harness",
            "subscription-observed",
            group=group,
            broker=BROKER,
            online=bool(clients),
            clients=[f"{name}@t" for name in clients],
            subscriptions={
                topic: {
                    "expression": text,
                    "tags": [text],
                    "codes": [hash_code(text)],
                    "sub_version": self._version(("stored", group, topic), text),
                }
                for topic, text in subscriptions.items()
            },
            consume_from_where="CONSUME_FROM_FIRST_OFFSET",
            message_model="CLUSTERING",
            **more,
        )

    def owns(self, scenario: Scenario, name: str, topic: str, queues: Sequence[int], **more: Any) -> int:
        """What a member says of itself."""
        return self.add(
            "harness",
            "ownership-observed",
            group=scenario.consumers[name].group,
            consumer=name,
            client_id=f"{name}@t",
            queues=[{"topic": topic, "broker": BROKER, "queue_id": queue} for queue in queues],
            subscriptions={
                own: {"expression": text, "sub_version": self._version(("own", name, topic), list(queues))}
                for own, text in scenario.consumers[name].expressions.items()
            },
            **more,
        )

    def offsets(self, group: str, topic: str, queues: Sequence[tuple[int | None, int]], **more: Any) -> int:
        """The group's offset and the broker's, by queue."""
        return self.add(
            "harness",
            "offsets-observed",
            group=group,
            topic=topic,
            queues=[
                {"broker": BROKER, "queue_id": index, "max_offset": maximum, "consumer_offset": own}
                for index, (own, maximum) in enumerate(queues)
            ],
            **more,
        )

    def settled(self, condition: str, took_ms: float) -> int:
        """A condition is reached."""
        return self.add("harness", "settled", condition=condition, took_ms=took_ms, looks=9, seen="it is so")

    def send(self, topic: str, tag: str | None, number: int, queue: int, offset: int) -> str:
        """One acknowledged message; its key."""
        message = {"topic": topic, "key": f"{topic}-{number}", "tag": tag}
        self.add("producer", "send-invoked", **message)
        self.add(
            "producer",
            "sent",
            **message,
            status="SEND_OK",
            broker=BROKER,
            queue_id=queue,
            queue_offset=offset,
            msg_id=f"ID{number}",
            offset_msg_id=f"OF{number}",
        )
        return message["key"] or ""

    def receive(self, name: str, topic: str, key: str, tag: str | None, queue: int, offset: int) -> None:
        """A listener gets a message and is content."""
        self.add(
            name,
            "received",
            topic=topic,
            key=key,
            tag=tag,
            broker=BROKER,
            queue_id=queue,
            offset=offset,
            reconsume_times=0,
            msg_id="ID",
            offset_msg_id="OF",
        )
        self.add(name, "consumed", key=key, status="CONSUME_SUCCESS", msg_id="ID", offset_msg_id="OF")


class OneMessage:
    """A story of one message: who begins it sets the scenario, and what happens before the sending."""

    scenario: Scenario
    made: HistoryBuilder

    def sent(self, tag: str | None = "tagB") -> Self:
        self.made.send("orders", tag, 1, 0, 0)
        return self

    @property
    def view(self) -> RunView:
        return RunView(self.scenario, self.made.events)

    def fate(self) -> MessageFate:
        """What has become of it by the end."""
        (fate,) = fates(self.view, self.made.events[-1].n)
        return fate

    def found(self) -> MessageClass:
        return self.fate().message_class


def eight_messages(
    tag_a: str = "tagA", tag_b: str = "tagB", *, holder: str = "b", finished: bool = True
) -> tuple[Scenario, list[Event]]:
    """The classic experiment, with `holder`'s subscription stored in the end.

    Not `finished`: the history stops after the sending, as if the harness had been killed.
    """
    text = EIGHT_MESSAGES.replace("{orders: tagA}", f"{{orders: {_quoted(tag_a)}}}")
    scenario = scenario_of(text.replace("{orders: tagB}", f"{{orders: {_quoted(tag_b)}}}"))
    tag = tag_b if holder == "b" else tag_a
    made = HistoryBuilder().begin(scenario)
    made.at(2.0).step(0, "start")
    made.start(scenario, "a")
    made.at(2.2).stored("g", {"orders": tag_a}, ["a"])
    made.owns(scenario, "a", "orders", [0, 1, 2, 3])
    made.offsets("g", "orders", [(None, 0)] * 4)
    made.at(2.4).step(1, "start")
    made.start(scenario, "b")
    made.at(2.7).stored("g", {"orders": tag}, ["a", "b"])
    made.step(2, "settle")
    made.owns(scenario, "a", "orders", [0, 1])
    made.owns(scenario, "b", "orders", [2, 3])
    made.at(3.0).settled("ownership of g", 300.0)
    made.step(3, "settle")
    made.at(3.1).settled("subscription of g for orders", 80.0)
    made.step(4, "bind")
    made.add("harness", "bound", variable="holder", consumers=[holder])
    made.add("harness", "bound", variable="others", consumers=["a" if holder == "b" else "b"])
    made.step(5, "send")
    mine = (2, 3) if holder == "b" else (0, 1)
    for number in range(1, 9):
        queue, offset = (number - 1) % 4, (number - 1) // 4
        key = made.send("orders", tag, number, queue, offset)
        if queue in mine:
            made.receive(holder, "orders", key, tag, queue, offset)
    if finished:
        _finish(made, scenario, tag, mine)
    return scenario, made.events


def _finish(made: HistoryBuilder, scenario: Scenario, tag: str, mine: tuple[int, int]) -> None:
    made.step(6, "settle")
    made.at(3.4).offsets("g", "orders", [(2 if queue in mine else 0, 2) for queue in range(4)])
    made.at(4.4).offsets("g", "orders", [(2, 2)] * 4)
    made.settled("offsets of g for orders within lag 0", 1100.0)
    made.add("harness", "step-ended", index=6, step="settle", line=13)
    made.stored("g", {"orders": tag}, ["a", "b"], moment="end")
    made.offsets("g", "orders", [(2, 2)] * 4, moment="end")
    for name, queues in (("a", [0, 1]), ("b", [2, 3])):
        made.owns(scenario, name, "orders", queues, moment="end")
        made.add(
            "harness",
            "pull-counts-observed",
            consumer=name,
            topic="orders",
            found_pulls=4,
            passed_messages=4 if tuple(queues) == mine else 0,
            moment="end",
        )
    for number in range(1, 9):
        made.add(
            "harness",
            "tracks-observed",
            topic="orders",
            key=f"orders-{number}",
            tracks={"g": "CONSUMED"},
            moment="end",
        )
    made.add("harness", "moment-observed", moment="end")
    made.add("harness", "run-ended")


def _quoted(text: str) -> str:
    """As a YAML scalar in flow style."""
    return text if text.isalnum() else json.dumps(text)


def record_of(scenario: Scenario, *, seed: int = 7, seconds: float = 5.1) -> dict[str, Any]:
    """A `run.json`."""
    return {
        "schema_version": 1,
        "run": "testrun",
        "scenario": scenario.name,
        "title": scenario.title,
        "scenario_file": scenario.file,
        "seed": seed,
        "timing": "compressed",
        "rocketmq": "4.9.4",
        "client": "java",
        "client_version": "4.9.4",
        "cluster": {
            "kind": "embedded",
            "nodes": [
                {"name": "namesrv", "role": "nameserver", "address": "127.0.0.1:9876"},
                {"name": BROKER, "role": "broker", "address": "127.0.0.1:10911"},
            ],
            "shared": False,
        },
        "attempts": 1,
        "ended": "2026-01-01T00:00:00.000+00:00",
        "seconds": seconds,
        "phases": {"provision": 1.9, "steps": 2.5, "observe": 0.2, "tear down": 0.5},
        "versions": {"rocketchaos": "0.1.0", "python": "3.11.2", "java": "17.0.9"},
        "host": {
            "system": "Linux-test",
            "processors": 2,
            "memory_mib": 16 * 1024,
            "free_memory_mib": 8 * 1024,
            "free_disk_mib": 50_000,
            "load": [0.1, 0.2, 0.3],
        },
        "command": ["rocketchaos", "run"],
    }
