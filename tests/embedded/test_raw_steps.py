"""Steps that talk to brokers themselves, and what checks make of the answers, on a real RocketMQ.

4.9.4 and 5.5.0 must agree wherever the claims say so; where they don't, a test of each says what was seen.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.embedded.small_scenario import RunScenario, held
from tests.embedded.users_programs import RunOwn

pytestmark = [pytest.mark.embedded, pytest.mark.extended]
VERSIONS = pytest.mark.parametrize("version", ["4.9.4", pytest.param("5.5.0", marks=pytest.mark.nightly)])

PULLS = """\
name: raw-pulls
title: how a broker answers pulls of nothing, at the end, beyond it, and from the beginning
topics: {orders: {queues: 2}}
groups: g
steps:
  - pull: {as: empty, group: g, topic: orders, queue: 0, offset: 0, with: '*'}
  - pull: {as: empty-5, group: g, topic: orders, queue: 0, offset: 5, with: '*'}
  - send: {topic: orders, tag: tagA, count: 80, per_queue: 40}
  - pull: {as: first, group: g, topic: orders, queue: 0, offset: 0, with: '*', max: 64}
  - pull: {as: two, group: g, topic: orders, queue: 1, offset: 38, with: tagA}
  - pull: {as: end, group: g, topic: orders, queue: 0, offset: 40, with: '*'}
  - pull: {as: beyond, group: g, topic: orders, queue: 0, offset: 100, with: '*'}
  - pull: {as: other-tag, group: g, topic: orders, queue: 0, offset: 0, with: tagB}
  - pull: {as: nobody, group: g, topic: orders, queue: 0, offset: 0}
  - pull: {as: held, group: g, topic: orders, queue: 0, offset: 40, with: '*', suspend: 2s}
  - pull: {as: nowhere, group: g, topic: orders, queue: 99, offset: 0, with: '*'}
anomaly:
  - pull: {of: empty, code: PULL_NOT_FOUND, remark: NO_MESSAGE_IN_QUEUE, next_offset: 0, claim: F01}
  - pull: {of: empty-5, code: PULL_OFFSET_MOVED, next_offset: 0, claim: F01}
  - pull: {of: first, code: FOUND, remark: FOUND, messages: 32, next_offset: 32, claim: F06}
  - pull: {of: two, keys: [orders-78, orders-80], min_offset: 0, max_offset: 40}
  - pull: {of: end, code: PULL_NOT_FOUND, remark: OFFSET_OVERFLOW_ONE, next_offset: 40, claim: F03}
  - pull: {of: beyond, code: 21, remark: OFFSET_OVERFLOW_BADLY, next_offset: 40, claim: F04}
  - pull: {of: other-tag, code: PULL_RETRY_IMMEDIATELY, remark: NO_MATCHED_MESSAGE, claim: F07}
  - pull: {of: nobody, code: SUBSCRIPTION_NOT_EXIST, messages: 0}
  - pull: {of: held, code: PULL_NOT_FOUND, took_at_least: 100ms, took_at_most: 8s}
  - pull: {of: nowhere, code: NOWHERE, claim: F09}
healthy:
  - pull: {of: beyond, next_offset: 0}
"""


TOOLS = """\
name: tools
title: what mqadmin prints, and where one ends that goes on
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, subscribe: {orders: '*'}}
steps:
  - start: a
  - settle: {ownership: g}
  - send: {topic: orders, count: 3}
  - settle: {offsets: g, topic: orders, lag: 0}
  - stop: a
  - reset-offset: {group: g, topic: orders, queue: 0, to: 2}
  - mqadmin: {as: progress, command: consumerProgress -g <g>}
  - mqadmin: {as: goes-on, command: clusterList -i 1, within: 3s, goes_on: true}
  - mqadmin: {as: state, command: brokerStatus -b <broker-a>}
anomaly:
  - mqadmin: {of: state, has: '^brokerVersionDesc +: V'}
  - mqadmin: {of: progress, has: ['^orders +broker-a +0 +3 +2 +1 ', 'Diff Total: 1']}
healthy:
  - mqadmin: {of: progress, lacks: '^orders'}
"""


@VERSIONS
def test_mqadmin_prints_the_scenarios_names(run_scenario: RunScenario, version: str) -> None:
    run = run_scenario(TOOLS, version)
    assert run["outcome"] == "reproduced", run
    events = map(json.loads, (Path(run["run_dir"]) / "events.jsonl").read_text().splitlines())
    ran = [event["data"] for event in events if event["kind"] == "mqadmin-ran"]
    assert [(item["name"], item["exit_code"]) for item in ran] == [
        ("progress", 0),
        ("goes-on", None),
        ("state", 0),
    ]


@VERSIONS
def test_a_broker_answers_raw_pulls_as_the_claims_say(run_scenario: RunScenario, version: str) -> None:
    nowhere = "SYSTEM_ERROR" if version == "4.9.4" else "INVALID_PARAMETER"
    run = run_scenario(PULLS.replace("NOWHERE", nowhere), version)
    assert held(run) == [True] * 10, run
    assert run["outcome"] == "reproduced"


def test_a_pull_check_fails_where_the_broker_answers_otherwise(run_scenario: RunScenario) -> None:
    wrong = (
        PULLS.replace("of: first, code: FOUND", "of: first, code: PULL_NOT_FOUND")
        .replace("of: end, code: PULL_NOT_FOUND, remark: OFFSET_OVERFLOW_ONE", "of: end, remark: FOUND")
        .replace("keys: [orders-78, orders-80]", "keys: [orders-80, orders-78]")
        .replace("took_at_least: 100ms, took_at_most: 8s", "took_at_least: 60s")
        .replace("NOWHERE", "1")
    )
    run = run_scenario(wrong)
    assert [number for number, holds in enumerate(held(run)) if not holds] == [2, 3, 4, 8]


HEARTBEATS = """\
name: hand-made-heartbeats
title: only a higher subVersion overwrites the stored tag, and nobody is told of it
topics: {orders: {queues: 4}}
groups: g
steps:
  - heartbeat: {client: h1, group: g, subscribe: {orders: {expression: tagA, version: 100}}}
  - heartbeat: {client: h2, group: g, subscribe: {orders: {expression: tagA, version: 100}}}
  - observe: both
  - heartbeat: {client: h1, group: g, subscribe: {orders: {expression: tagB, version: 100}}}
  - heartbeat: {client: h1, group: g, subscribe: {orders: {expression: tagB, version: 99}}}
  - observe: not-newer
  - heartbeat:
      {client: h1, group: g, consume_from: last-offset, subscribe: {orders: {expression: tagB, version: 101}}}
  - observe: newer
  - pull: {as: too-new, group: g, topic: orders, queue: 0, offset: 0, sub_version: 102}
  - pull: {as: stored, group: g, topic: orders, queue: 0, offset: 0, sub_version: 101}
  - heartbeat: {close: h1}
  - pull: {as: after, group: g, topic: orders, queue: 0, offset: 0}
anomaly:
  - subscription: {group: g, topic: orders, expression: tagA, clients: 2, at: both}
  - subscription: {group: g, topic: orders, expression: tagA, at: not-newer, claim: A03}
  - subscription: {group: g, topic: orders, expression: tagB, clients: 2, at: newer, claim: A03}
  - notified: {client: h2, since: both, at: newer, count: 0, claim: A14}
  - notified: {client: h2, group: g, since: newer, count: 1}
  - pull: {of: too-new, code: SUBSCRIPTION_NOT_LATEST, claim: A19}
  - pull: {of: stored, code: PULL_NOT_FOUND}
  - log: {node: broker-a, matches: "The broker's subscription is not latest, group: g tagB", count: 1}
healthy:
  - subscription: {group: g, topic: orders, expression: tagB, at: not-newer}
"""


def test_hand_made_heartbeats_overwrite_by_version_alone(run_scenario: RunScenario) -> None:
    run = run_scenario(HEARTBEATS)
    assert held(run) == [True] * 8, run


MIXED = """\
name: hand-made-member
title: a hand-made member gets its share of the queues, and pulls nothing
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
steps:
  - start: a
  - settle: {ownership: g, within: 40s}
  - heartbeat: {client: z, group: g, subscribe: {orders: {expression: tagA, version: 1}}}
  - settle: {ownership: g, within: 40s}
  - observe: shared
  - send: {topic: orders, tag: tagA, count: 8, per_queue: 2}
  - wait: {duration: 6500ms, because: "whether more will come is known after 6 s"}
  - observe: sent
  - heartbeat: {close: z}
  - settle: {ownership: g, within: 40s}
  - settle: {offsets: g, topic: orders, within: 60s}
anomaly:
  - ownership: {of: a, topic: orders, queues: [0, 1], at: shared}
  - ownership: {group: g, topic: orders, at: shared}
  - delivered: {to: a, count: 4, at: sent}
  - delivered: {to: a, count: 8}
  - log: {consumer: a, matches: "rebalanced result changed", at_least: 2}
healthy:
  - ownership: {of: a, topic: orders, count: 4, at: shared}
"""


def test_a_hand_made_member_is_left_its_share(run_scenario: RunScenario) -> None:
    run = run_scenario(MIXED)
    assert held(run) == [True] * 5, run


CONFIGURED = """\
name: broker-configured
title: a broker is told at run time to hold pulls, and does so
cluster: {broker: {longPollingEnable: false}}
topics: {orders: {queues: 1}}
groups: g
steps:
  - pull: {as: short, group: g, topic: orders, queue: 0, offset: 0, with: '*', suspend: 6s}
  - broker-config: {set: {longPollingEnable: true}, broker: broker-a}
  - pull: {as: long, group: g, topic: orders, queue: 0, offset: 0, with: '*', suspend: 6s}
anomaly:
  - pull: {of: short, code: PULL_NOT_FOUND, took_at_most: 4s, claim: F17}
  - pull: {of: long, code: PULL_NOT_FOUND, took_at_least: 5500ms, claim: F16}
healthy:
  - pull: {of: long, code: PULL_NOT_FOUND, took_at_most: 4s}
"""


def test_a_setting_is_changed_at_run_time(run_scenario: RunScenario) -> None:
    run = run_scenario(CONFIGURED)
    assert held(run) == [True] * 2, run


@pytest.mark.parametrize(
    ("setting", "code", "trouble", "reason"),
    [
        ("longPolingEnable: true", 2, "usage", "there is no such setting; is longPollingEnable meant?"),
        (
            "shortPollingTimeMills: soon",
            3,
            "precondition",
            "broker-a did not take shortPollingTimeMills=soon",
        ),
    ],
)
def test_a_setting_that_a_broker_does_not_take_is_no_result(
    run_own: RunOwn, tmp_path: Path, setting: str, code: int, trouble: str, reason: str
) -> None:
    text = CONFIGURED.replace("set: {longPollingEnable: true}", f"set: {{{setting}}}")
    ended, run = run_own(tmp_path, text)
    assert (ended, run["trouble"]) == (code, trouble)
    assert reason in run["reason"]


DECLARED = """\
name: declared-groups
title: a group that is declared is there, and one that is only named isn't
cluster: {broker: {autoCreateSubscriptionGroup: false}}
topics: {orders: {queues: 1}}
groups: GROUPS
steps:
  - pull: {as: pull, group: g, topic: orders, queue: 0, offset: 0, with: '*'}
anomaly:
  - pull: {of: pull, code: SUBSCRIPTION_GROUP_NOT_EXIST}
healthy:
  - pull: {of: pull, code: PULL_NOT_FOUND}
"""


@pytest.mark.parametrize(("groups", "outcome"), [("{g: {}}", "not-reproduced"), ("[g]", "reproduced")])
def test_a_declared_group_is_there_where_brokers_create_none(
    run_scenario: RunScenario, groups: str, outcome: str
) -> None:
    assert run_scenario(DECLARED.replace("GROUPS", groups))["outcome"] == outcome
