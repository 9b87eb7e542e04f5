"""Reports to tell of, made of hand-made histories."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rocketchaos.assertions.judge import judge
from rocketchaos.harness.core.history import to_json
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.history_builder import HistoryBuilder, eight_messages, record_of

HOSTILE = "<script>alert(1)</script>\x1b[31m`\u202e*_[x](y)"


def report_of(scenario: Scenario, events: Sequence[Event], folder: Path, **record: Any) -> Report:
    """The report of a history, judged; its folder exists."""
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    outcome = judge(scenario, events)
    return Report(scenario, outcome, events, {**record_of(scenario), **record}, folder)


def good(folder: Path, holder: str = "b", **record: Any) -> Report:
    """The classic experiment, reproduced as expected."""
    return report_of(*eight_messages(holder=holder), folder, **record)


def broken(folder: Path) -> Report:
    """The harness was killed after the sending."""
    return report_of(*eight_messages(finished=False), folder)


def troubled(folder: Path, trouble: str, message: str, about: tuple[str, ...] = ()) -> Report:
    """Trouble of this kind came before anything was sent."""
    scenario, _ = eight_messages()
    made = HistoryBuilder().begin(scenario)
    made.step(0, "start").start(scenario, "a")
    made.add("a", "worker-died", reason="exit code 1")
    made.add("harness", "trouble", trouble=trouble, message=message, about=about)
    return report_of(scenario, made.events, folder)


def healthy(folder: Path) -> Report:
    """Expected was the anomaly, but all 8 messages arrived: both take turns at a's queues."""
    scenario, events = eight_messages()
    made = HistoryBuilder()
    made.events = list(events)
    for event in events:
        if event.kind == "sent" and event.data["queue_id"] in (0, 1):
            made.events = _inserted(made.events, event)
    return report_of(scenario, made.events, folder)


def _inserted(events: list[Event], sent: Event) -> list[Event]:
    """The same history with a's listener getting the message at once."""
    data = {**sent.data, "offset": sent.data["queue_offset"], "reconsume_times": 0}
    index = next(
        index for index, event in enumerate(events) if event.data == sent.data and event.kind == "sent"
    )
    received = Event(0, sent.mono_ns + 1, sent.wall_ms, sent.run, "a", "received", data)
    grown = [*events[: index + 1], received, *events[index + 1 :]]
    return [
        Event(number, item.mono_ns, item.wall_ms, item.run, item.node, item.kind, item.data)
        for number, item in enumerate(grown, start=1)
    ]


def write_folder(report: Report) -> None:
    """The run folder as the runner leaves it, before the reporters."""
    (report.folder / "scenario.yaml").write_text(report.scenario.source, encoding="utf-8")
    (report.folder / "run.json").write_text(json.dumps(report.record), encoding="utf-8")
    lines = "".join(json.dumps(to_json(event)) + "\n" for event in report.events)
    (report.folder / "events.jsonl").write_text(lines, encoding="utf-8")
