"""The shipped scenarios on a real RocketMQ, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import psutil
import pytest

from rocketchaos.harness.clients.resident_tools import ResidentTools
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.cluster.running import RunningCluster, running
from rocketchaos.harness.plan.feasibility import why_not
from rocketchaos.harness.plan.selection import load_all, select
from rocketchaos.harness.reaper.reaper import find_owned
from tests import waiting
from tests.embedded.command import ROOT, rocketchaos

pytestmark = pytest.mark.embedded
LIMIT_S = 10.0
KEYS = {
    "scenario", "outcome", "expected", "checks", "run_dir", "seconds", "rocketmq", "client", "timing", "seed",
    "attempts",
}  # fmt: skip


@pytest.mark.shipped
@pytest.mark.timeout(720)
@pytest.mark.parametrize(
    ("version", "marks"),
    [("4.9.4", "not minutes"), ("5.5.0", "(clients or tags or subscription) and not slow and not faults")],
)
def test_every_shipped_scenario_ends_as_expected(tmp_path: Path, version: str, marks: str) -> None:
    """Side by side as cores and load allow: on 4.9.4 all but those of minutes, on 5.5.0 what may differ most."""
    ended = rocketchaos(
        "run", ROOT / "scenarios", "--rocketmq", version, "--json", "--junit", "junit.xml",
        "-m", marks, cwd=tmp_path, limit_s=700,
    )  # fmt: skip
    runs = ended.document["runs"]
    expected = {
        item.name: item.expected_in(None, version)
        for item in select(load_all([ROOT / "scenarios"]), "", marks)
        if why_not(item, version, ClusterKind.EMBEDDED) is None
    }
    # Of a race nothing is expected, but that nothing breaks.
    seen = {run["scenario"]: run["outcome"] for run in runs}
    assert seen == {name: kind or seen.get(name) for name, kind in expected.items()}, outcomes_text(runs)
    assert "error" not in {seen[name] for name, kind in expected.items() if kind is None}, outcomes_text(runs)
    assert ended.code == 0, outcomes_text(runs)
    for run in runs:
        assert set(run) >= KEYS
        assert (run["rocketmq"], run["attempts"]) == (version, 1)
        assert {check["passed"] for check in run["checks"] if check["section"] == "also"} <= {True}
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert len(list(suite.iter("testcase"))) == len(expected)
    assert not list(suite.iter("failure"))


@pytest.mark.nightly
def test_the_classic_experiment_with_rocketmq_s_own_timers(tmp_path: Path) -> None:
    ended = rocketchaos(
        "run", ROOT / "scenarios" / "tags", "-k", "same-group", "--timing", "faithful", "--json",
        cwd=tmp_path, limit_s=280,
    )  # fmt: skip
    runs = ended.document["runs"]
    assert ended.code == 0, outcomes_text(runs)
    assert {run["timing"] for run in runs} == {"faithful"}
    assert len(runs) == 3


def outcomes_text(runs: list[dict[str, Any]]) -> str:
    """What a failing test should show; text, for pytest shortens everything else."""
    unexpected = [
        (
            run["scenario"],
            run["outcome"],
            run["reason"],
            [item for item in run["checks"] if item["passed"] is not True],
        )
        for run in runs
        if run["as_expected"] is False
    ]
    return json.dumps(unexpected, indent=1)


def ready_spares(cluster: RunningCluster) -> set[int]:
    """The ids of its two spare workers, once they are ready."""

    def ready() -> list[Path]:
        return list(cluster.spares.glob("*.ready"))

    waiting.until(lambda: len(ready()) == 2)
    return {int(file.name.split(".")[2]) for file in ready()}


def test_a_cluster_that_is_up_serves_many_commands_and_a_run_can_be_checked_and_reproduced(
    tmp_path: Path,
) -> None:
    up = rocketchaos("up", "--json", cwd=tmp_path)
    assert up.code == 0
    [kept] = [each for each in running() if each.id == up.document["id"]]
    tools = ResidentTools(kept.tools_socket)
    waiting.until(lambda: tools.answers)
    spares = ready_spares(kept)
    try:
        first = rocketchaos("reproduce", "same-group-different-tags", "--seed", "7", "--json", cwd=tmp_path)
        (run,) = first.document["runs"]
        assert (run["outcome"], run["seed"]) == ("reproduced", 7)
        folder = Path(run["run_dir"])
        lines = (folder / "events.jsonl").read_text().splitlines()
        starts = [event["data"] for event in map(json.loads, lines) if event["kind"] == "consumer-starting"]
        assert {each["pid"] for each in starts} == spares
        assert (folder / "logs" / "shared-1" / "rocketmq_client.log").stat().st_size
        assert not spares & ready_spares(kept), "each serves one command"
        record = json.loads((folder / "run.json").read_text())
        assert record["cluster"]["shared"] is True
        assert record["cluster"]["nodes"][0]["address"] == up.document["nameserver"]
        before = {
            name: (folder / name).read_text() for name in ("outcome.json", "checks.json", "messages.jsonl")
        }
        for name in before:
            (folder / name).unlink()
        checked = rocketchaos("check", folder, "--json", cwd=tmp_path)
        assert checked.code == 0
        assert {name: (folder / name).read_text() for name in before} == before
        [left] = [
            each
            for each in psutil.process_iter(["cmdline"])
            if str(kept.tools_socket) in (each.info["cmdline"] or ())
        ]
        left.kill()
        left.wait(LIMIT_S)
        assert not tools.answers
        again = rocketchaos("reproduce", folder, "--json", cwd=tmp_path)
        assert (again.document["runs"][0]["outcome"], again.document["runs"][0]["seed"]) == ("reproduced", 7)
    finally:
        down = rocketchaos("down", up.document["id"], cwd=tmp_path)
    assert down.code == 0
    assert "is down" in down.out
    assert not kept.tools_socket.exists()
    assert not kept.spares.exists()
    assert find_owned(kept.owner.__eq__) == []


@pytest.mark.extended
@pytest.mark.usefixtures("on_shared_cluster")
def test_repeats_give_a_distribution_with_intervals(tmp_path: Path) -> None:
    ended = rocketchaos(
        "reproduce", "same-group-different-tags", "--repeat", "4", "--parallel", "2", "--json", cwd=tmp_path
    )
    assert ended.code == 0
    (repeats,) = ended.document["summary"]["repeats"]
    assert repeats["runs"] == 4
    (outcome,) = repeats["outcomes"]
    assert (outcome["outcome"], outcome["count"], outcome["interval_95"][1]) == ("reproduced", 4, 1.0)
    assert sum(holder["count"] for holder in repeats["holders"]) == 4
    assert len({run["run_dir"] for run in ended.document["runs"]}) == 4


@pytest.mark.usefixtures("on_shared_cluster")
def test_an_unexpected_outcome_ends_with_1_and_the_line_that_reproduces_it(tmp_path: Path) -> None:
    scenario = ROOT / "tests" / "golden" / "scenarios" / "different-tags-but-both-take-it.scenario.yaml"
    ended = rocketchaos("reproduce", scenario, cwd=tmp_path)
    assert ended.code == 1
    assert "NOT REPRODUCED" in ended.out
    assert "rocketchaos reproduce " in ended.out


@pytest.mark.extended
@pytest.mark.usefixtures("on_shared_cluster")
def test_a_condition_that_is_not_reached_is_inconclusive_and_says_what_was_seen(tmp_path: Path) -> None:
    text = (ROOT / "scenarios" / "tags" / "same-group-different-tags.scenario.yaml").read_text()
    # The subscription of a topic that only one member takes never settles.
    text = text.replace("b: {group: g, subscribe: {orders: tagB}}", "b: {group: g, subscribe: {bills: tagB}}")
    text = text.replace("topics:\n", "topics:\n  bills: {queues: 4}\n").replace(
        "settle: {subscription: g, topic: orders, within: 60s}",
        "settle: {subscription: g, topic: orders, within: 2s}",
    )
    (tmp_path / "s.yaml").write_text(text)
    ended = rocketchaos("reproduce", "s.yaml", "--json", cwd=tmp_path)
    (run,) = ended.document["runs"]
    assert ended.code == 3, run
    assert (run["outcome"], run["trouble"]) == ("inconclusive", "precondition")
    assert "last seen: " in run["reason"]
