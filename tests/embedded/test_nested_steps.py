"""`repeat`, `parallel` and the checks over time on a real RocketMQ, as a user runs them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.embedded.command import rocketchaos
from tests.embedded.small_scenario import RunScenario, events_of

pytestmark = pytest.mark.embedded

HEAD = """\
name: nested
title: steps inside steps
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
  b: {group: g, subscribe: {orders: tagB}}
"""
RACE = """\
steps:
  - repeat:
      times: 3
      steps:
        - start: [a, b]
        - settle: {ownership: g, within: 60s}
        - settle: {subscription: g, topic: orders, within: 60s}
        - bind: {holder: {member-of: g, whose-subscription-is-stored-for: orders}}
        - observe: settled
        - parallel:
            - - send: {topic: orders, tag: $holder.tag, count: 4, per_queue: 1}
              - wait: 300ms
            - send: {topic: orders, tag: nobody, count: 4, per_queue: 1}
        - settle: {offsets: g, topic: orders, within: 60s}
        - stop: [a, b]
anomaly:
  - outcome-distribution: {of: $holder, values_at_most: 2}
  - outcome-distribution: {group: g, topic: orders, at: settled, values_at_most: 2}
  - subscription: {group: g, topic: orders, expression: $holder.tag, at: settled}
  - subscription: {group: g, topic: orders, clients: 2, at: settled-1}
  - delivered: {to: g, count: 6}
  - delivered: {to: g, count: 2, sent_after: settled}
  - duplicated: {to: g, count: 0}
  - order: {topic: orders, per: queue}
  - latency: {at_most: 20s}
  - retry: {group: g, count: 0}
  - dead-letter: {group: g, count: 0}
healthy:
  - delivered: {to: g, count: 12}
"""
ONE_FAILS = """\
steps:
  - parallel:
      - - start: a
        - settle: {delivered: g, within: 10ms}
      - - wait: 1ms
        - start: b
        - wait: 100s
        - observe: never
anomaly:
  - delivered: {to: g, count: 6, at: never}
healthy:
  - delivered: {to: g, count: 12}
"""
RETRIES = """\
name: retries
title: retries, dead letters and tracks over time
topics: {orders: {queues: 1}}
consumers:
  a:
    group: g
    subscribe: {orders: tagA}
    behaviour: {fail: 9}
    retry_delay_level: 1
    max_reconsume_times: 2
steps:
  - start: a
  - settle: {subscription: g, topic: orders, within: 60s}
  - send: {topic: orders, tag: other, count: 1}
  - settle: {offsets: g, topic: orders, within: 60s}   # a group without an offset has no track while it is offline
  - stop: a
  - send: {topic: orders, tag: tagA, count: 2, per_queue: 2}
  - wait: {duration: 1s, because: the track is looked at a few times while the group is offline}
  - start: a
  - settle: {offsets: g, topic: orders, within: 60s}
  - wait: {duration: 15s, because: the retries take their time}
anomaly:
  - retry: {group: g, count: 4, after_at_least: 900ms, after_at_most: 8s}
  - retry: {group: g, count: 2, reconsume_times: 2}
  - dead-letter: {group: g, count: 2}
  - duplicated: {to: g, count: 0}
healthy:
  - dead-letter: {group: g, count: 0}
also:
  - track-series: {group: g, topic: orders, tag: tagA, sequence: [NOT_ONLINE, NOT_CONSUME_YET, CONSUMED]}
"""


@pytest.mark.nightly
def test_a_race_is_repeated_and_its_distribution_read(run_scenario: RunScenario) -> None:
    run = run_scenario(HEAD + RACE)
    events = events_of(run)
    assert run["outcome"] == "reproduced", run["checks"]
    started = [event["data"] for event in events if event["kind"] == "step-started"]
    inner = [data for data in started if "place" in data]
    lines = (HEAD + RACE).splitlines()
    assert {data["iteration"] for data in inner} == {1, 2, 3}
    assert all(f"{data['step']}:" in lines[data["line"] - 1] for data in started)
    moments = [event["data"] for event in events if event["kind"] == "moment-observed"]
    assert [data["moment"] for data in moments] == ["settled-1", "settled-2", "settled-3", "end"]
    sends = [data["place"] for data in inner if data["step"] == "send"]
    assert sends.count([0, 0, 5, 0, 0]) == sends.count([0, 0, 5, 1, 0]) == 3


def test_a_branch_that_fails_ends_the_others(run_scenario: RunScenario) -> None:
    run = run_scenario(HEAD + ONE_FAILS, trouble="precondition")
    events = events_of(run)
    assert (run["outcome"], run["trouble"]) == ("inconclusive", "precondition"), run
    assert "1 message delivered to g not reached within 0.01 s" in run["reason"]
    started = [event["data"]["step"] for event in events if event["kind"] == "step-started"]
    assert "observe" not in started
    assert not any(event["kind"] == "step-ended" and event["data"]["step"] == "parallel" for event in events)
    began = next(event["mono_ns"] for event in events if event["kind"] == "step-started")
    assert events[-1]["mono_ns"] - began < 100e9, "the other branch waited on"


@pytest.mark.nightly
def test_retries_dead_letters_and_tracks_are_seen_over_time(run_scenario: RunScenario) -> None:
    run = run_scenario(RETRIES)
    events = events_of(run)
    assert run["outcome"] == "reproduced", run["checks"]
    (course,) = [check for check in run["checks"] if check["section"] == "also"]
    # A look may miss NOT_CONSUME_YET, which is short, of one message or of both; then the check can't say, and
    # must not say no.
    assert course["passed"] is not False, course
    assert sum(map(int, re.findall(r"(\d+) NOT_ONLINE then", course["observed"]))) == 2, course
    watched = [
        event for event in events if event["kind"] == "tracks-observed" and "moment" not in event["data"]
    ]
    assert watched


@pytest.mark.extended
@pytest.mark.usefixtures("on_shared_cluster")
def test_what_new_writes_runs_as_it_is(tmp_path: Path) -> None:
    assert rocketchaos("new", cwd=tmp_path).code == 0
    ended = rocketchaos("reproduce", "my-scenario.scenario.yaml", "--json", cwd=tmp_path)
    assert ended.code == 0, ended.out
    assert ended.document["runs"][0]["outcome"] == "reproduced"
