"""Builds of one's own on a real RocketMQ: a release's jars as a distribution has them, and another class."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.embedded.command import rocketchaos
from tests.embedded.own_build import EVERYBODY_GETS_ALL, unpacked
from tests.embedded.test_scenarios import outcomes_text

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

SHARED_OUT = """\
name: queues-are-shared-out
title: "Two members of a group share its queues out, and no message comes twice"
topics:
  orders: {queues: 4}
consumers:
  a: {group: g, subscribe: {orders: '*'}}
  b: {group: g, subscribe: {orders: '*'}}
steps:
  - start: [a, b]
  - wait: {duration: 3s, because: "a member that takes all queues never comes to own its share"}
  - send: {topic: orders, count: 8, per_queue: 2}
  - settle: {offsets: g, topic: orders, lag: 0, within: 60s}
anomaly:
  - duplicated: {to: g, at_least: 1}
healthy:
  - delivered: {to: g, count: 8}
  - duplicated: {to: g, count: 0}
expected: not-reproduced
"""


@pytest.mark.nightly
def test_a_build_beside_its_release_and_a_bisect_that_tells_them_apart(tmp_path: Path) -> None:
    (tmp_path / "s.scenario.yaml").write_text(SHARED_OUT)
    unpacked(tmp_path / "same", "4.9.4")
    unpacked(tmp_path / "changed", "4.9.4", EVERYBODY_GETS_ALL)

    ended = rocketchaos("run", "s.scenario.yaml", "--matrix", "rocketmq=4.9.4,same", "--json", cwd=tmp_path)
    assert ended.code == 0, ended.err + outcomes_text(ended.document["runs"])
    release, build = ended.document["runs"]
    assert release["rocketmq"] == "4.9.4"
    assert build["rocketmq"].startswith("4.9.4+")
    record = json.loads((Path(build["run_dir"]) / "run.json").read_text())
    known = record["builds"][build["rocketmq"]]
    assert (known["folder"], known["version"]) == (str(tmp_path / "same"), "4.9.4")
    assert known["sha256"].startswith(build["rocketmq"].partition("+")[2])
    assert json.loads((Path(release["run_dir"]) / "run.json").read_text())["builds"] == {}

    again = rocketchaos("reproduce", build["run_dir"], "--json", cwd=tmp_path)
    assert again.document["runs"][0]["rocketmq"] == build["rocketmq"]

    words = ["bisect", "s.scenario.yaml", "--from", "4.9.4", "--to", "4.9.4", "--builds", "same", "changed"]
    found = rocketchaos(*words, "--json", cwd=tmp_path, limit_s=280)
    assert found.code == 0, found.out + found.err
    (scenario,) = found.document["scenarios"]
    assert scenario["changes"][0]["before"] == build["rocketmq"]
    assert len(found.document["first"]) == 1
    assert [list(item["answers"]) for item in scenario["versions"]] == [
        ["not-reproduced"],
        ["not-reproduced"],
        ["reproduced"],
    ]
