from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from rocketchaos.harness.cluster import running
from rocketchaos.harness.cluster.base import Configurable, Killable, Node
from rocketchaos.harness.cluster.embedded import EmbeddedCluster
from rocketchaos.harness.cluster.leftovers import clean
from rocketchaos.harness.cluster.running import AttachedCluster, RunningCluster, keep, take_down
from rocketchaos.harness.core import paths
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.reaper.reaper import OWNER_VARIABLE, new_owner
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKETCHAOS_CACHE", str(tmp_path))


@pytest.fixture
def servers() -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    kill_all(started)


def dead_owner() -> str:
    """A token whose harness has ended."""
    script = "from rocketchaos.harness.reaper.reaper import new_owner; print(new_owner())"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


def start(servers: list[subprocess.Popen[bytes]], owner: str) -> subprocess.Popen[bytes]:
    servers.append(subprocess.Popen(["sleep", "60"], env=dict(os.environ, **{OWNER_VARIABLE: owner})))
    return servers[-1]


def kill_all(servers: list[subprocess.Popen[bytes]]) -> None:
    for server in servers:
        server.kill()
        server.wait()


def kept(
    servers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch, owner: str = ""
) -> RunningCluster:
    """The record of a cluster whose servers are `sleep`s."""
    owner = owner or new_owner()
    folder = paths.scratch_folder(owner) / "cluster"
    folder.mkdir()
    cluster = EmbeddedCluster("4.9.4", COMPRESSED, folder, owner=owner, needs=ClusterNeeds(broker={"x": 1}))
    nodes = [
        Node(name, role, f"127.0.0.1:{port}", start(servers, owner).pid, folder / name / "server.log")
        for name, role, port in (("nameserver", "nameserver", 9), ("broker-a", "broker", 11))
    ]
    monkeypatch.setattr(EmbeddedCluster, "nodes", property(lambda _self: nodes))
    return keep(cluster)


def test_a_kept_cluster_is_found_as_it_was_recorded(
    servers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = kept(servers, monkeypatch)
    assert running.running() == [record]
    assert (record.version, record.timing, record.nameserver) == ("4.9.4", "compressed", "127.0.0.1:9")
    assert record.broker_configuration == {"x": "1"}
    assert [node.pid for node in record.nodes] == [server.pid for server in servers]


def test_taking_down_kills_the_servers_and_removes_folder_and_record(
    servers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    bystander = start(servers, new_owner())
    record = kept(servers, monkeypatch)
    take_down(record)
    assert [server.poll() is None for server in servers] == [True, False, False]
    assert bystander.poll() is None
    assert not Path(record.folder).exists()
    assert running.running() == []
    take_down(record)


def test_a_pid_that_was_given_to_another_process_is_not_killed(
    servers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = kept(servers, monkeypatch)
    other = start(servers, new_owner())
    stale = replace(record.nodes[0], pid=other.pid, created_s=psutil.Process(other.pid).create_time() - 60)
    take_down(replace(record, nodes=[stale, record.nodes[1]]))
    assert other.poll() is None


def test_the_record_of_a_dead_cluster_is_removed_with_its_folder(
    servers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = kept(servers, monkeypatch)
    kill_all(servers)
    assert running.running() == []
    assert not Path(record.folder).exists()
    assert list(paths.state_folder().iterdir()) == []


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"schema_version": 99}', '{"schema_version": 1, "nodes": []}']
)
def test_a_record_that_cannot_be_read_is_left_alone(content: str) -> None:
    file = paths.state_folder() / "abcdef.json"
    file.write_text(content)
    assert running.running() == []
    assert file.read_text() == content


def test_clean_ends_what_dead_harnesses_left_and_nothing_else(
    servers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = kept(servers, monkeypatch, owner=dead_owner())
    orphan_owner, living_owner = dead_owner(), new_owner()
    orphan, living = start(servers, orphan_owner), start(servers, living_owner)
    left, needed = paths.scratch_folder(orphan_owner), paths.scratch_folder(living_owner)
    # As a cluster that is kept up, and recorded, under another cache.
    elsewhere = start(servers, dead_owner())
    foreign = paths.scratch_root() / "not a token"
    foreign.mkdir()
    cleaned = clean()
    assert cleaned.processes == [f"sleep (pid {orphan.pid})"]
    assert cleaned.folders == [left]
    assert not left.exists()
    orphan.wait(5)
    assert elsewhere.poll() is None
    assert living.poll() is None
    assert needed.exists()
    assert foreign.exists()
    assert running.running() == [record]
    assert Path(record.folder).exists()


def test_clean_tells_which_records_were_dead(
    servers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = kept(servers, monkeypatch)
    kill_all(servers)
    assert clean().clusters == [record.id]


def test_clean_spares_what_a_harness_holds_whose_processes_cannot_be_seen_from_here() -> None:
    folder = paths.scratch_folder(dead_owner())
    # As by a harness in another container, or on another machine, that shares this cache.
    holder = os.open(folder, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_SH)
    assert clean().folders == []
    assert folder.exists()
    os.close(holder)
    assert clean().folders == [folder]


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (FileNotFoundError(2, "No such file or directory"), "no container engine runs here"),
        (PermissionError(13, "Permission denied"), "permission denied"),
    ],
)
def test_an_engine_that_cannot_be_asked_is_one_line_and_the_evidence_stays(
    monkeypatch: pytest.MonkeyPatch, refusal: OSError, said: str
) -> None:
    without, with_containers = paths.scratch_folder(dead_owner()), paths.scratch_folder(dead_owner())
    (with_containers / "engines").write_text("unix:///nowhere.sock")

    def refuse(_base_url: str) -> None:
        raise refusal

    monkeypatch.setattr("rocketchaos.harness.containers.container_engine.engine_client", refuse)
    cleaned = clean()
    assert cleaned.folders == [without]
    assert with_containers.exists()
    (line,) = cleaned.left
    assert line.startswith("containers may be left at unix:///nowhere.sock: ")
    assert said in line


def test_a_dead_cluster_whose_engine_is_away_is_kept_on_record_and_hinders_nobody(
    servers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = kept(servers, monkeypatch)
    (paths.scratch_root() / record.owner / "engines").write_text("unix:///nowhere.sock")
    kill_all(servers)
    assert running.running() == []
    cleaned = clean()
    assert cleaned.clusters == []
    assert [line.startswith(f"cluster {record.id}: ") for line in cleaned.left] == [True]
    assert Path(record.folder).exists()
    (paths.scratch_root() / record.owner / "engines").unlink()
    assert clean().clusters == [record.id]


def test_clean_without_an_engine_asks_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = paths.scratch_folder(dead_owner())
    monkeypatch.setattr(
        "rocketchaos.harness.containers.container_engine.connect", lambda _base_url: pytest.fail("asked")
    )
    cleaned = clean()
    assert cleaned.folders == [folder]
    assert cleaned.left == []


def test_an_attached_cluster_can_be_neither_killed_nor_configured(
    servers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    attached = AttachedCluster(kept(servers, monkeypatch))
    assert not isinstance(attached, Killable)
    assert not isinstance(attached, Configurable)
    attached.stop()
    assert all(server.poll() is None for server in servers)


def test_an_attached_cluster_whose_server_is_gone_is_refused_with_the_way_out(
    servers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = kept(servers, monkeypatch)
    attached = AttachedCluster(record)
    assert attached.deaths() == []
    servers[1].kill()
    servers[1].wait()
    (death,) = attached.deaths()
    assert (death.node, f"of the cluster {record.id} that was up already" in death.reason) == (
        "broker-a",
        True,
    )
    with pytest.raises(EnvironmentNotReady, match="broker-a is gone") as raised:
        attached.start()
    assert f"rocketchaos down {record.id}" in raised.value.hint


def test_an_attached_cluster_that_does_not_answer_is_refused(
    servers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EnvironmentNotReady, match="the name server doesn't answer"):
        AttachedCluster(kept(servers, monkeypatch)).start()


def test_the_record_is_json_with_its_version(
    servers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = kept(servers, monkeypatch)
    content = json.loads((paths.state_folder() / f"{record.id}.json").read_text())
    assert content["schema_version"] == 2
    assert content["owner"] == record.owner
    assert [file.name for file in paths.state_folder().iterdir()] == [f"{record.id}.json"]
