"""Programs of a user's own that are seen by the message trace of their clients, or by their group alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.jars.java_home import find_java
from tests.embedded.small_scenario import held
from tests.embedded.users_programs import WAYWARD, RunOwn, classes_of, jar_of, of_guide

pytestmark = [pytest.mark.embedded, pytest.mark.extended, pytest.mark.timeout(300)]

SCENARIO = """\
name: own
title: programs whose clients write a message trace, but for one
topics: {orders: {queues: 4}}
consumers:
  a:
    {group: g, subscribe: {orders: tagA},
     app: {command: [JAVA, -jar, wayward.jar, $nameserver, traces-fails], SEES}}
  b:
    {group: g, subscribe: {orders: tagA},
     app: {command: [JAVA, -jar, wayward.jar, $nameserver, traces], SEES}}
  c:
    {group: other, subscribe: {orders: tagA},
     app: {command: [JAVA, -jar, wayward.jar, $nameserver, traces-fails], env: {GROUP: other}, SEES}}
  d:
    {group: other, subscribe: {orders: tagA},
     app: {command: [JAVA, -jar, wayward.jar, $nameserver, plain], env: {GROUP: other}, SEES}}
steps:
  - start: a
  - start: b
  - start: c
  - start: d
  - settle: {ownership: g, within: 90s}
  - settle: {ownership: other, within: 90s}
  - send: {topic: orders, tag: tagA, count: 8, per_queue: 2}
  - settle: {delivered: g, topic: orders, count: 8, within: 60s}
  - settle: {delivered: c, topic: orders, count: 4, within: 60s}
  - settle: {offsets: g, topic: orders, lag: 0, within: 60s}
  - settle: {offsets: other, topic: orders, lag: 0, within: 60s}
anomaly: [{undelivered: {group: other, at_least: 1}}]
healthy: [{delivered: {to: g, count: 8}}, {delivered: {to: other, count: 8}}]
"""


@pytest.fixture(scope="module", params=["4.9.4", pytest.param("5.5.0", marks=pytest.mark.nightly)])
def traced(
    run_own: RunOwn, wayward: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> dict[str, Any]:
    """A run of programs that are seen by their trace; one in each of two groups fails each message once."""
    version, folder = request.param, tmp_path_factory.mktemp("traced")
    if version == "4.9.4":
        (folder / "wayward.jar").symlink_to(wayward)
    else:
        jar_of([WAYWARD], "Wayward", folder / "wayward.jar", version)
    text = SCENARIO.replace("JAVA", str(find_java().executable))
    return run_own(folder, text.replace("SEES", of_guide("trace: true").strip()), version)[1]


def test_a_program_may_be_seen_by_its_message_trace(traced: dict[str, Any]) -> None:
    assert traced["trouble"] is None, traced["reason"]
    assert held(traced, "healthy")[0] is True
    text = (Path(traced["run_dir"]) / "events.jsonl").read_text()
    consumed = [event for event in map(json.loads, text.splitlines()) if event["kind"] == "consumed"]
    answers = [(event["node"], event["data"]["status"]) for event in consumed]
    assert {status for node, status in answers if node == "b"} == {"CONSUME_SUCCESS"}
    assert [status for node, status in answers if node == "a"].count("RECONSUME_LATER") == 4


def test_what_no_trace_shows_is_undetermined(traced: dict[str, Any]) -> None:
    """The client of `d` has its trace switched off."""
    assert traced["outcome"] == "inconclusive", traced["reason"]
    assert "4 undetermined" in (Path(traced["run_dir"]) / "START-HERE.md").read_text()
    assert classes_of(traced)["other"]["undetermined"] == 4
    assert held(traced, "healthy")[1] is None


UNSEEN = """\
name: own
title: a program of which nothing shows what it handles
topics: {orders: {queues: 4}}
consumers:
  g: {group: g, subscribe: {orders: tagA}, app: {command: [JAVA, -jar, wayward.jar, $nameserver, plain]}}
steps:
  - start: g
  - settle: {ownership: g, within: 90s}
  - send: {topic: orders, tags: [tagA, tagB], count: 16, per_queue: 4}
  - settle: {offsets: g, topic: orders, lag: 0, within: 60s}
anomaly:
  - undelivered: {group: g, because: filtered-by-broker, count: 8}
  - offsets: {group: g, topic: orders, lag: 0}
healthy: [{delivered: {to: g, count: 8}}]
"""


def test_of_a_program_that_shows_nothing_the_group_and_the_brokers_filter_are_known(
    run_own: RunOwn, wayward: Path, tmp_path: Path
) -> None:
    (tmp_path / "wayward.jar").symlink_to(wayward)
    run = run_own(tmp_path, UNSEEN.replace("JAVA", str(find_java().executable)), "4.9.4")[1]
    assert run["trouble"] is None, run["reason"]
    assert classes_of(run)["g"] == {"filtered-by-broker": 8, "undetermined": 8}
    assert held(run, "anomaly")[1] is True
    assert held(run, "healthy") == [None]
