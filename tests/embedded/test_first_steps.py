"""What a newcomer writes, starts and sends alone, is decided: a run waits where only time is missing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.embedded.command import rocketchaos
from tests.embedded.small_scenario import RunScenario, events_of, held
from tests.embedded.workbench import until

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

BROADCASTING = """\
name: a-group-for-each-tag
title: "Broadcasting: who wants another tag gets nothing"
topics: {orders: {queues: 2}}
consumers:
  a: {group: ga, model: broadcasting, subscribe: {orders: tagA}}
  b: {group: gb, model: broadcasting, subscribe: {orders: tagB}}
steps:
  - start: [a, b]
  - send: {topic: orders, tag: tagA, count: 4}
anomaly:
  - delivered: {to: b, at_least: 1}
healthy:
  - delivered: {to: a, count: 4}
  - delivered: {to: b, count: 0}
expected: not-reproduced
"""
FILTERED = """\
name: a-tag-that-nobody-wants
title: A tag that nobody wants reaches nobody
topics: {orders: {queues: 2}}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
steps:
  - start: a
  - send: {topic: orders, tag: tagB, count: 4}
anomaly:
  - delivered: {to: g, count: 0}
healthy:
  - delivered: {to: g, at_least: 1}
expected: reproduced
"""


@pytest.mark.nightly
def test_a_broadcasting_scenario_waits_6_s_after_the_send_and_is_judged_so_again(
    run_scenario: RunScenario, tmp_path: Path
) -> None:
    run = run_scenario(BROADCASTING)
    assert run["outcome"] == "not-reproduced", run
    assert held(run, "healthy") == [True, True]
    events = events_of(run)
    (waited,) = [event["data"] for event in events if event["kind"] == "waited"]
    assert "delivered to b" in [item["check"] for item in waited["for"]]
    sent = [event["mono_ns"] for event in events if event["kind"] == "sent"][-1]
    (end,) = [event["mono_ns"] for event in events if event["kind"] == "run-ended"]
    assert (end - sent) / 1e9 >= 6
    checked = rocketchaos("check", run["run_dir"], "--json", cwd=tmp_path)
    assert checked.document["runs"][0]["outcome"] == "not-reproduced"


def test_a_filtered_scenario_waits_no_longer_than_the_offsets_take(run_scenario: RunScenario) -> None:
    run = run_scenario(FILTERED)
    assert run["outcome"] == "reproduced", run
    waits = [event["data"]["took_ms"] for event in events_of(run) if event["kind"] == "waited"]
    assert all(took_ms < 6_000 for took_ms in waits)


def test_ctrl_c_ends_the_wait(tmp_path: Path) -> None:
    file = tmp_path / "s.scenario.yaml"
    file.write_text(BROADCASTING)
    found = tmp_path / "stderr.txt"
    with found.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "rocketchaos", "reproduce", str(file), "--json"],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=errors, text=True, env=dict(os.environ),
        )  # fmt: skip
        until(found.read_text, lambda text: "a message may still come" in text)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    (run,) = json.loads(out)["runs"]
    assert (run["outcome"], run["trouble"]) == ("inconclusive", "interrupted")
