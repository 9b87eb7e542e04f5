"""The same scenarios on both kinds of clusters: outcomes, deliveries and final offsets must agree."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rocketchaos.harness.containers.container_engine import Engine
from tests.embedded.command import ROOT, rocketchaos

pytestmark = pytest.mark.containers

SCENARIOS = {
    "tags": (
        "same-group-different-tags",
        "same-group-same-tags",
        "mixed-tags-a-quarter-arrives",
        "colliding-hashes",
    ),
    "topics": ("two-brokers-half-stranded", "same-group-same-topics"),
    "filter": ("sql92-only-the-broker-filters", "retries-pass-the-tags"),
    "offsets": (
        "dead-letter-after-the-last-retry",
        "broadcasting-reaches-everyone",
        "kill-behind-a-blocked-message",
    ),
    "pull": ("pull-gets-at-most-32", "pull-at-and-beyond-the-end"),
    "rebalance": ("fifth-member-stays-idle",),
}
"""Some of each theme; none in which a race decides how often something is delivered."""

Fate = tuple[str, str, str, int]
"""Group, topic, class by the oracle, number of deliveries."""


class Ended(NamedTuple):
    """What must be the same wherever it ran; who won a race, and so which tag was sent, isn't in it."""

    outcome: str
    fates: Counter[Fate]
    offsets: Mapping[tuple[str, str], Sequence[tuple[int, int]]]
    """The group's (-1: none is stored) and the greatest offset of each queue at the end, by group and topic, in
    order. Whether the 0 of a queue without a message is stored by then is a matter of time: it counts as 0."""


def ended(run: Mapping[str, Any]) -> Ended:
    folder = Path(run["run_dir"])
    messages = [json.loads(line) for line in (folder / "messages.jsonl").read_text().splitlines()]
    fates = Counter(
        (message["group"], message["topic"], message["message_class"], len(message["deliveries"]))
        for message in messages
    )
    offsets: dict[tuple[str, str], Sequence[tuple[int, int]]] = {}
    for line in (folder / "events.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["kind"] == "offsets-observed" and event["data"].get("moment") == "end":
            pairs = [(queue["consumer_offset"], queue["max_offset"]) for queue in event["data"]["queues"]]
            offsets[event["data"]["group"], event["data"]["topic"]] = sorted(
                ((-1 if most else 0) if stored is None else stored, most) for stored, most in pairs
            )
    return Ended(run["outcome"], fates, offsets)


def ended_on(kind: str, tmp_path: Path) -> dict[str, Ended]:
    files = [
        ROOT / "scenarios" / theme / f"{name}.scenario.yaml"
        for theme, names in SCENARIOS.items()
        for name in names
    ]
    done = rocketchaos("run", *files, "--on", kind, "--json", cwd=tmp_path, limit_s=280)
    assert done.code == 0, done.err
    runs = done.document["runs"]
    assert {
        json.loads((Path(run["run_dir"]) / "run.json").read_text())["cluster"]["kind"] for run in runs
    } == {kind}
    return {run["scenario"]: ended(run) for run in runs}


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_both_clusters_agree(engine: Engine, tmp_path: Path) -> None:
    embedded, containers = (ended_on(kind, tmp_path) for kind in ("embedded", "containers"))
    assert set(embedded) == {name for names in SCENARIOS.values() for name in names}
    assert all(item.fates for name, item in embedded.items() if not name.startswith("pull-"))
    assert containers == embedded


def test_a_difference_shows() -> None:
    """Of deliveries, classes, offsets and outcomes."""
    item = Ended("reproduced", Counter({("g", "t", "delivered", 1): 4}), {("g", "t"): [(2, 2)]})
    assert item != item._replace(outcome="not-reproduced")
    assert item != item._replace(fates=Counter({("g", "t", "delivered", 2): 4}))
    assert item != item._replace(offsets={("g", "t"): [(1, 2)]})
