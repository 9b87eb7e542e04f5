"""RocketMQ in containers: what it shows to the outside, and what steps do to it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import tenacity

from rocketchaos.harness.cluster import readiness
from rocketchaos.harness.cluster.container_cluster import ContainersCluster
from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.images import Images
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.reaper.reaper import Reaper, new_owner
from rocketchaos.harness.reaper.reaper_process import OWNER_LABEL, owned_things
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from tests.embedded.command import ROOT, rocketchaos, started
from tests.embedded.test_nodes import NODES

pytestmark = pytest.mark.containers

# The installed one, if there is one; otherwise by name.
PLUGIN = [] if entry_points(group="pytest11", name="rocketchaos") else ["-p", "rocketchaos_pytest"]


def cluster_of(
    reaper: Reaper, engine: Engine, folder: Path, version: str, delayed: Sequence[str] = (), **needs: Any
) -> ContainersCluster:
    owner = new_owner()
    reaper.watch(owner)
    return ContainersCluster(
        version,
        COMPRESSED,
        folder,
        owner=owner,
        engine=engine,
        images=Images(engine, print),
        needs=ClusterNeeds(**needs),
        delayed=delayed,
    )


def things_of(engine: Engine, owner: str) -> list[str]:
    """The names of this owner's containers and networks."""
    wanted = {"label": f"{OWNER_LABEL}={owner}"}
    # Each is asked by itself once it is listed, and may be gone by then.
    containers = engine.client.containers.list(all=True, filters=wanted, ignore_removed=True)
    found = (*containers, *engine.client.networks.list(filters=wanted))
    return [str(item.name) for item in found]  # type: ignore[attr-defined]


def test_addresses_stay_and_nothing_is_published(engine: Engine, reaper: Reaper, tmp_path: Path) -> None:
    cluster = cluster_of(reaper, engine, tmp_path / "cluster", "4.9.4", slaves=("broker-a",))
    cluster.start()
    try:
        before = {node.name: node.address for node in cluster.nodes}
        assert list(before) == ["nameserver", "broker-a", "broker-a-slave"]
        for node in cluster.nodes:
            assert node.address.startswith("198.1")
            container = engine.client.containers.get(str(node.container))
            assert container.attrs["HostConfig"]["PortBindings"] in (None, {})
            assert not any(container.attrs["NetworkSettings"]["Ports"].values())
        cluster.kill_node("broker-a")
        assert cluster.deaths() == []
        assert readiness.why_not_ready(cluster.nameserver, before["broker-a"], before["broker-a"]) is not None
        cluster.restart_node("broker-a")
        assert readiness.why_not_ready(cluster.nameserver, before["broker-a"], before["broker-a"]) is None
        assert {node.name: node.address for node in cluster.nodes} == before
        # Somebody else's doing is a death.
        victim = engine.client.containers.get(str(cluster.nodes[1].container))
        victim.kill("SIGKILL")
        victim.wait()
        (death,) = cluster.deaths()
        assert death.node == "broker-a"
        assert death.reason.startswith("signal SIGKILL; last line of its log: ")
    finally:
        cluster.stop()
    assert things_of(engine, cluster.owner) == []
    cluster.stop()


def test_5_x_has_its_proxy(engine: Engine, reaper: Reaper, tmp_path: Path) -> None:
    cluster = cluster_of(reaper, engine, tmp_path / "cluster", "5.5.0")
    cluster.start()
    try:
        assert [node.role for node in cluster.nodes] == ["nameserver", "broker", "proxy"]
        assert set(cluster.images.values()) == {Images(engine, print).rocketmq("5.5.0").id}
    finally:
        cluster.stop()
    assert things_of(engine, cluster.owner) == []


def test_a_setting_that_brokers_don_t_know_is_refused_and_nothing_is_left(
    engine: Engine, reaper: Reaper, tmp_path: Path
) -> None:
    cluster = cluster_of(reaper, engine, tmp_path / "cluster", "4.9.4", broker={"maxMesageSize": "100000"})
    with pytest.raises(UsageProblem, match="is maxMessageSize meant"):
        cluster.start()
    assert things_of(engine, cluster.owner) == []


@pytest.mark.timeout(400)
def test_steps_do_to_containers_what_they_do_to_processes(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "nodes.scenario.yaml").write_text(NODES)
    done = rocketchaos(
        "run", "nodes.scenario.yaml", "--on", "containers", "--json", cwd=tmp_path, limit_s=380
    )
    (run,) = done.document["runs"]
    assert (done.code, run["outcome"]) == (0, "reproduced"), run


def test_pytest_runs_scenarios_on_containers(engine: Engine, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGIN, "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path),
         "--on", "containers", "--runs-dir", str(tmp_path / "runs"),
         str(ROOT / "scenarios" / "tags" / "same-group-different-tags.scenario.yaml")],
        cwd=ROOT, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert "1 passed" in done.stdout, done.stdout
    (record,) = (tmp_path / "runs").rglob("2*/run.json")
    cluster = json.loads(record.read_text())["cluster"]
    assert cluster["kind"] == "containers"
    assert cluster["images"]


def test_a_cluster_that_is_up_serves_commands_and_comes_down(engine: Engine, tmp_path: Path) -> None:
    up = rocketchaos("up", "--on", "containers", "--json", cwd=tmp_path)
    assert up.code == 0, up.err
    try:
        done = rocketchaos(
            "reproduce", "same-group-different-tags", "--on", "containers", "--json", cwd=tmp_path
        )
        (run,) = done.document["runs"]
        record = json.loads((Path(run["run_dir"]) / "run.json").read_text())
        assert (run["outcome"], record["cluster"]["shared"]) == ("reproduced", True)
        assert record["cluster"]["nodes"][0]["address"] == up.document["nameserver"]
    finally:
        down = rocketchaos("down", up.document["id"], cwd=tmp_path)
    assert "is down" in down.out
    assert not any(
        up.document["id"] in str(item.name)
        for item in engine.client.containers.list(all=True, ignore_removed=True)
    )


@pytest.mark.timeout(900)
@pytest.mark.nightly
@pytest.mark.parametrize(("ended", "killed"), [(2, 2), pytest.param(15, 5, marks=pytest.mark.slow)])
def test_runs_of_which_some_are_killed_leave_nothing(
    engine: Engine, tmp_path: Path, ended: int, killed: int
) -> None:
    """The killed ones die at moments that are spread over the shortest of the others."""
    command = ("reproduce", "same-group-different-tags", "--on", "containers", "--json")
    pids, took_s = [], []
    for _ in range(ended):
        began = time.monotonic()
        run = started(*command, cwd=tmp_path)
        pids.append(run.pid)
        out, err = run.communicate(timeout=120)
        took_s.append(time.monotonic() - began)
        assert run.returncode == 0, out + err
    for part in range(1, killed + 1):
        run = started(*command, cwd=tmp_path)
        pids.append(run.pid)
        # Time itself is chosen here: each is at another place of its run.
        with pytest.raises(subprocess.TimeoutExpired):
            run.communicate(timeout=min(took_s) * part / (killed + 1))
        run.send_signal(signal.SIGKILL)
        run.communicate()
    left = tenacity.Retrying(
        retry=tenacity.retry_if_result(bool),
        wait=tenacity.wait_fixed(0.2),
        stop=tenacity.stop_after_delay(5),
        retry_error_callback=lambda state: state.outcome and state.outcome.result(),
    )(lambda: things_of_processes(engine, pids))
    assert left == []


def things_of_processes(engine: Engine, pids: Collection[int]) -> list[str]:
    """The names of all containers and networks that these harnesses own: an owner begins with its process."""
    of_them = {str(pid) for pid in pids}
    things = owned_things(engine.client, lambda owner: owner.partition("-")[0] in of_them)
    return [thing.name for thing in things]
