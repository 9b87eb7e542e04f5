"""Histories of a test's own, and recorded ones, as facts are made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rocketchaos.harness.core.history import to_json
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.facts.folder_facts import read_folder
from rocketchaos.harness.facts.story import Story, line_of

GOLDEN = Path(__file__).parents[2] / "golden" / "runs"

Told = tuple[float, str, str, dict[str, Any]]
"""Milliseconds, node, kind, data."""

_REST: Mapping[str, dict[str, Any]] = {
    "consumer-starting": {"subscribe": {}},
    "subscription-observed": {"clients": []},
    "ownership-observed": {"subscriptions": {}},
    "step-started": {"line": None},
    "settled": {"looks": 1, "seen": "", "took_ms": 1.0},
    "sent": {"tag": None, "status": "SEND_OK"},
    "received": {"tag": None},
}
"""What a kind needs, and most tests don't ask about."""


def line(n: int, event: Told, run: str = "run", **more: Any) -> bytes:
    """A line of `events.jsonl`; it begins one second after the machine did, so that no time is 0."""
    ms, node, kind, data = event
    event = Event(n, 10**9 + round(ms * 1e6), 1_700_000_000_000 + int(ms), run, node, kind, {})
    whole = {**_REST.get(kind, {}), **data}
    return json.dumps({**to_json(event), "data": whole, **more}).encode()


def story_of(*events: Told) -> Story:
    """The story of these events, whose first one is at 0 ms."""
    story = Story()
    for n, event in enumerate([(0.0, "harness", "run-started", {}), *events], 0):
        found, body = line_of(line(n, event))
        story.add(found.n, found.mono_ns, found.wall_ms, found.node, body)
    return story


def recorded(name: str) -> Story:
    """That of a golden run."""
    return read_folder(GOLDEN / name).story


def recorded_ms(name: str) -> dict[int, float]:
    """When each event of a golden run was, by its number; milliseconds since the first."""
    events = [json.loads(text) for text in (GOLDEN / name / "events.jsonl").read_text().splitlines()]
    return {event["n"]: (event["mono_ns"] - events[0]["mono_ns"]) / 1e6 for event in events}


def started(ms: float, name: str, queues: str = "owned", group: str = "g") -> list[Told]:
    """A consumer that starts."""
    return [
        (ms - 5, name, "consumer-starting", {"subscribe": {"orders": "*"}}),
        (ms, name, "consumer-started", {"group": group, "client_id": name, "queues": queues}),
    ]


def owns(ms: float, name: str, *queues: int, **more: Any) -> Told:
    """A look at a member's queues."""
    listed = [{"topic": "orders", "broker": "broker-a", "queue_id": item} for item in queues]
    return ms, "harness", "ownership-observed", {"group": "g", "consumer": name, "queues": listed, **more}


def holds(ms: float, expression: str | None, online: bool = True, **more: Any) -> Told:
    """A look at what a broker holds."""
    held = {} if expression is None else {"orders": {"expression": expression, "sub_version": int(ms)}}
    data = {"group": "g", "broker": "broker-a", "online": online, "subscriptions": held, **more}
    return ms, "harness", "subscription-observed", data


def offsets(ms: float, offset: int | None, **more: Any) -> Told:
    """A look at a group's offset."""
    queue = {"broker": "broker-a", "queue_id": 0, "max_offset": 2, "consumer_offset": offset}
    return ms, "harness", "offsets-observed", {"group": "g", "topic": "orders", "queues": [queue], **more}


def sent(ms: float, key: str, offset: int) -> Told:
    """A message that is acknowledged."""
    place = {"broker": "broker-a", "queue_id": 0, "queue_offset": offset}
    return ms, "producer", "sent", {"topic": "orders", "key": key, **place}


def received(ms: float, name: str, key: str, offset: int, reconsume_times: int = 0) -> Told:
    """A message that a listener gets."""
    place = {"broker": "broker-a", "queue_id": 0, "offset": offset, "reconsume_times": reconsume_times}
    return ms, name, "received", {"topic": "orders", "key": key, **place}


def step(ms: float, word: str) -> Told:
    """A step that begins."""
    return ms, "harness", "step-started", {"step": word, "index": 0}


def fault(ms: float, what: str, kind: str, target: str, **more: Any) -> Told:
    """Of a fault."""
    return ms, "harness", kind, {"fault": what, "target": target, **more}
