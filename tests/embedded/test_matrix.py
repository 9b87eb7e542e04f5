"""Every client on every version, as a user runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.embedded.command import ROOT, rocketchaos
from tests.embedded.test_scenarios import outcomes_text

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

TAGS = ROOT / "scenarios" / "tags"
MIXED = """\
name: mixed-versions
title: "A Java client of 4.9.4 beside one of the brokers' version"
topics:
  orders: {queues: 4}
consumers:
  a: {group: g, client: java@4.9.4, subscribe: {orders: tagA}}
  b: {group: g, subscribe: {orders: tagB}}
steps:
  - start: [a, b]
  - settle: {ownership: g, within: 60s}
  - settle: {subscription: g, topic: orders, within: 60s}
  - bind: {holder: {member-of: g, whose-subscription-is-stored-for: orders}}
  - send: {topic: orders, tag: $holder.tag, count: 8, per_queue: 2}
  - settle: {offsets: g, topic: orders, lag: 0, within: 60s}
anomaly:
  - delivered: {to: $holder, count: 4}
  - delivered: {to: $others, count: 0}
healthy:
  - delivered: {to: g, count: 8}
"""


@pytest.mark.nightly
def test_every_client_on_two_versions_on_one_cluster_each(tmp_path: Path) -> None:
    ended = rocketchaos(
        "run", TAGS, "-k", "same-group-different-tags and not other", "--matrix", "clients=java,python,grpc",
        "rocketmq=4.9.4,5.5.0", "--json", cwd=tmp_path, limit_s=280,
    )  # fmt: skip
    runs = {(run["cell"]["client"], run["cell"]["rocketmq"]): run for run in ended.document["runs"]}
    assert set(runs) == {
        (client, version)
        for client in ("java", "python", "grpc")
        for version in ("4.9.4", "5.5.0")
        if (client, version) != ("grpc", "4.9.4")
    }
    (left_out,) = ended.document["left_out"]
    assert "can't have grpc" in left_out
    assert ended.code == 0, outcomes_text(ended.document["runs"])
    for (client, _), run in runs.items():
        assert run["as_expected"] is (None if client == "grpc" else True), outcomes_text([run])
        classes = {name: count for name, count in run["messages"].items() if count}
        if client != "grpc":
            dropped = {"java": "filtered-by-client", "python": "filtered-by-broker"}[client]
            assert classes == {"delivered": 4, dropped: 4}, classes
    assert len(ended.document["matrix"]) == 6


@pytest.mark.nightly
def test_members_of_one_group_in_different_versions(tmp_path: Path) -> None:
    (tmp_path / "mixed.scenario.yaml").write_text(MIXED)
    ended = rocketchaos(
        "reproduce",
        "mixed.scenario.yaml",
        "--matrix",
        "rocketmq=4.9.4,5.5.0",
        "--json",
        cwd=tmp_path,
        limit_s=200,
    )
    assert [run["outcome"] for run in ended.document["runs"]] == ["reproduced"] * 2, outcomes_text(
        ended.document["runs"]
    )
    assert ended.code == 0


@pytest.mark.nightly
def test_the_oldest_version_runs_beside_one_that_there_is_not(tmp_path: Path) -> None:
    """4.9.0: its netty reads java.nio by reflection, and its client knows fewer settings."""
    ended = rocketchaos(
        "run", TAGS, "-k", "same-group-different-tags and not other", "--matrix", "rocketmq=4.9.0,4.9.99",
        "--json", cwd=tmp_path, limit_s=200,
    )  # fmt: skip
    assert [(run["rocketmq"], run["outcome"]) for run in ended.document["runs"]] == [
        ("4.9.0", "reproduced")
    ], outcomes_text(ended.document["runs"])
    (left_out,) = ended.document["left_out"]
    assert left_out.startswith("there is no RocketMQ 4.9.99 in ")
    assert "The nearest versions: " in left_out
    assert ended.code == ended.document["summary"]["exit_code"] == 2


@pytest.mark.usefixtures("on_shared_cluster")
def test_a_client_that_can_t_be_had_costs_its_own_cell_alone(tmp_path: Path) -> None:
    wrong = tmp_path / "librocketmq.so"
    wrong.write_bytes(b"this is no library")
    ended = rocketchaos(
        "run", TAGS, "-k", "same-group-same-tags", "--matrix", "clients=java,python", "--json", cwd=tmp_path,
        limit_s=200, ROCKETCHAOS_LIBROCKETMQ=str(wrong),
    )  # fmt: skip
    outcomes = {run["client"]: run for run in ended.document["runs"]}
    assert outcomes["java"]["outcome"] == "not-reproduced", outcomes_text(ended.document["runs"])
    assert (outcomes["python"]["outcome"], outcomes["python"]["trouble"]) == ("error", "environment")
    assert str(wrong) in outcomes["python"]["reason"]
    assert ended.code == 4
