"""What real runs are like: read from run folders, per scenario, client and version.

What is taken: how many messages, what became of them (with the oracle's own words as samples), how long deliveries
took (log-normal), how long runs took, how busy the machine was, and how the runs ended.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.measuring import ROOT

GOLDEN = ROOT / "tests" / "golden" / "runs"
"""The real runs that are always there."""
SAMPLES_PER_CLASS = 6
LEAST_SPREAD, MOST_SPREAD = 0.3, 1.2
"""Of the logarithm of a delivery's time: one run's few deliveries tell little, and some wait by intent."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What the oracle said of one real message."""

    consumer_group: str
    topic: str
    tag: str | None
    owner: str | None
    subscription: str | None
    message_class: str
    deliveries: tuple[str, ...]
    reason: str
    broker_track: str | None
    dashboard_track: str | None
    event_count: int


@dataclass(frozen=True, slots=True)
class Profile:
    """One scenario with one client on one version, as real runs showed it."""

    scenario: str
    client: str
    rocketmq: str
    cluster: str
    timing: str
    title: str
    expected: str | None
    runs: int
    as_expected: int
    messages: float
    """Per run, the mean."""
    shares: Mapping[str, float]
    """Class: its share of the messages."""
    samples: Mapping[str, Sequence[Sample]]
    """Class: some real messages of it."""
    queues: tuple[str, ...]
    delivery_log_mean: float
    """Of the natural logarithm of milliseconds."""
    delivery_log_spread: float
    seconds: float
    load: float
    busy_share: float


@dataclass(frozen=True, slots=True)
class RealRun:
    """One run folder, read."""

    record: Mapping[str, Any]
    outcome: Mapping[str, Any]
    messages: Sequence[Mapping[str, Any]]
    events: Sequence[Mapping[str, Any]]

    @property
    def cell(self) -> tuple[str, str, str, str, str]:
        """Scenario, client, version, cluster, timing."""
        record = self.record
        return (
            record["scenario"],
            record.get("client", "java"),
            record["rocketmq"],
            record["cluster"]["kind"],
            record["timing"],
        )


def run_folders(places: Iterable[Path]) -> Iterator[Path]:
    """All finished run folders below these places."""
    for place in places:
        for file in sorted(place.rglob("outcome.json")):
            if not file.parent.is_symlink() and (file.parent / "run.json").is_file():
                yield file.parent


def read_run(folder: Path) -> RealRun:
    """A run folder."""

    def lines(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]

    def document(name: str) -> dict[str, Any]:
        return dict(json.loads((folder / name).read_text(encoding="utf-8")))

    return RealRun(
        document("run.json"), document("outcome.json"), lines("messages.jsonl"), lines("events.jsonl")
    )


def delivery_times_ms(run: RealRun) -> list[float]:
    """From a message's acknowledgement to its first delivery, of each that was delivered."""
    sent = {item["data"]["key"]: item["mono_ns"] for item in run.events if item["kind"] == "sent"}
    first: dict[str, int] = {}
    for event in run.events:
        if event["kind"] == "received" and event["data"].get("key") in sent:
            first.setdefault(event["data"]["key"], event["mono_ns"])
    return [max(0.01, (at - sent[key]) / 1e6) for key, at in first.items()]


def tracks(run: RealRun, kind: str) -> dict[tuple[str, str], str]:
    """Key and group: what a witness last said of the message."""
    return {
        (event["data"]["key"], group): str(track)
        for event in run.events
        if event["kind"] == kind
        for group, track in (event["data"].get("tracks") or {}).items()
    }


def samples_of(run: RealRun) -> Iterator[Sample]:
    """Every message of a run."""
    broker, dashboard = tracks(run, "tracks-observed"), tracks(run, "dashboard-tracks-observed")
    for message in run.messages:
        about = (message["key"], message["group"])
        yield Sample(
            consumer_group=message["group"],
            topic=message["topic"],
            tag=message["tag"],
            owner=message["owner"],
            subscription=message["subscription"],
            message_class=message["message_class"],
            deliveries=tuple(message["deliveries"]),
            reason=message["reason"],
            broker_track=broker.get(about),
            dashboard_track=dashboard.get(about),
            event_count=len(message["events"]),
        )


def fit(places: Iterable[Path] = (GOLDEN,)) -> list[Profile]:
    """Profiles of all runs that brought messages, in order of the cells' names."""
    by_cell: dict[tuple[str, str, str, str, str], list[RealRun]] = defaultdict(list)
    for folder in run_folders(places):
        run = read_run(folder)
        if run.messages:
            by_cell[run.cell].append(run)
    return [_profile(runs) for _, runs in sorted(by_cell.items())]


def _profile(runs: Sequence[RealRun]) -> Profile:
    samples: dict[str, dict[Sample, None]] = defaultdict(dict)
    counts: Counter[str] = Counter()
    logs: list[float] = []
    for run in runs:
        logs += [math.log(ms) for ms in delivery_times_ms(run)]
        for sample in samples_of(run):
            counts[sample.message_class] += 1
            samples[sample.message_class][sample] = None
    queues = {message["queue"] for run in runs for message in run.messages if message["queue"]}
    scenario, client, rocketmq, cluster, timing = runs[0].cell
    loads = [run.record.get("load") or {} for run in runs]
    return Profile(
        scenario=scenario,
        client=client,
        rocketmq=rocketmq,
        cluster=cluster,
        timing=timing,
        title=runs[0].record["title"],
        expected=runs[0].outcome.get("expected"),
        runs=len(runs),
        as_expected=sum(bool(run.outcome.get("as_expected")) for run in runs),
        messages=counts.total() / len(runs),
        shares={name: count / counts.total() for name, count in sorted(counts.items())},
        samples={name: tuple(some)[:SAMPLES_PER_CLASS] for name, some in samples.items()},
        queues=tuple(sorted(queues)) or ("broker-a:0",),
        delivery_log_mean=statistics.fmean(logs) if logs else math.log(100),
        delivery_log_spread=min(MOST_SPREAD, max(LEAST_SPREAD, statistics.pstdev(logs)))
        if logs
        else LEAST_SPREAD,
        seconds=statistics.median(run.record.get("seconds") or 1.0 for run in runs),
        load=statistics.median(((load.get("start") or {}).get("average_1min") or 1.0) for load in loads),
        busy_share=statistics.median((load.get("busy_share") or 0.5) for load in loads),
    )
