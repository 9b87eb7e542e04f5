"""An archive run makes class-data archives, servers and workers start with them, and broken ones hurt nobody."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rocketchaos.harness.cluster.embedded import EmbeddedCluster
from rocketchaos.harness.core import paths
from rocketchaos.harness.engine.archive_run import make_archives
from rocketchaos.harness.jars.class_archive import SWITCH
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from rocketchaos.harness.workers.processes import Processes
from rocketchaos.harness.workers.worker import Worker

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

VERSION = "4.9.4"
START_LIMIT_S = 60.0
ARCHIVED = "source: shared objects file (top)"
"""What a JVM says of a class from such an archive; of one from the archive of Java's own it says no `(top)`."""
MANY = 50
"""RocketMQ's own classes alone, of which each program loads more at its start."""
PROGRAMS = ("nameserver", "broker", "tools", "client")


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache in which an archive run has just been, but for the jars of the user's."""
    cache = tmp_path_factory.mktemp("archives-cache")
    (cache / "maven").symlink_to(paths.maven_folder())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(paths.CACHE_VARIABLE, str(cache))
        patch.delenv(SWITCH, raising=False)
        # However busy this machine is.
        patch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
        with Processes(COMPRESSED, lambda _text: None) as processes:
            processes.fetch(VERSION)
            make_archives(processes, VERSION)
        yield paths.archives_folder()


def loaded_by(pid: int, folder: Path) -> str:
    return (folder / f"{pid}.log").read_text(encoding="utf-8", errors="replace")


@pytest.fixture
def tell_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every JVM that is started writes to PID.log there which class it loads from where."""
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"-Xlog:class+load:file={tmp_path}/%p.log:none:filecount=0")
    return tmp_path


def from_archive(text: str) -> int:
    return sum(1 for line in text.splitlines() if "org.apache.rocketmq" in line and ARCHIVED in line)


def start(folder: Path) -> EmbeddedCluster:
    cluster = EmbeddedCluster(VERSION, COMPRESSED, folder / "cluster", owner="tests")
    cluster.start()
    return cluster


def start_worker(processes: Processes, kind: str, folder: Path) -> Worker:
    worker = processes.spawn(kind, VERSION, kind, folder, lambda _event: None, lambda *_death: None)
    worker.wait_ready(START_LIMIT_S)
    return worker


def request(worker: Worker) -> None:
    """Let its client start; it looks for a name server later."""
    if worker.kind == "admin":
        worker.request("connect", START_LIMIT_S, nameserver="127.0.0.1:1", instance="i")
    else:
        who = {"nameserver": "127.0.0.1:1", "client_ip": "p", "instance": "i"}
        worker.request("start-producer", START_LIMIT_S, name="p", group="p", **who)


def test_an_archive_run_leaves_one_for_each_program_and_nothing_else(archives: Path) -> None:
    assert sorted(file.name.partition("-")[0] for file in archives.glob("*.jsa")) == sorted(PROGRAMS)
    assert [file.read_text() for file in archives.glob("*.failed")] == []
    assert list(archives.glob("*.part")) == []
    assert list(paths.scratch_root().iterdir()) == []


def test_servers_start_with_theirs(archives: Path, tell_classes: Path) -> None:
    cluster = start(tell_classes)
    try:
        for node in cluster.nodes:
            assert node.pid is not None
            assert from_archive(loaded_by(node.pid, tell_classes)) > MANY, node.name
    finally:
        cluster.stop()


@pytest.mark.parametrize("kind", ["java", "shared-java", "admin"])
def test_workers_start_with_theirs(archives: Path, tell_classes: Path, kind: str) -> None:
    with Processes(COMPRESSED, lambda _text: None) as processes:
        worker = start_worker(processes, kind, tell_classes / "workers")
        request(worker)
        pid = worker.pid
        worker.kill()
    assert from_archive(loaded_by(pid, tell_classes)) > MANY


def cut_off(file: Path) -> None:
    os.truncate(file, file.stat().st_size * 2 // 3)


def overwrite(file: Path) -> None:
    size = file.stat().st_size
    with file.open("r+b") as content:
        content.seek(size // 3)
        content.write(os.urandom(size // 3))


def overwrite_the_head(file: Path) -> None:
    with file.open("r+b") as content:
        content.write(b"not an archive at all, for as long as the header of one is" * 10)


@pytest.mark.parametrize(
    "spoil",
    [cut_off, *(pytest.param(each, marks=pytest.mark.nightly) for each in (overwrite, overwrite_the_head))],
)
def test_broken_ones_hurt_nobody_and_nothing_is_said_of_them(
    archives: Path, tell_classes: Path, spoil: Callable[[Path], None]
) -> None:
    whole = {file: file.read_bytes() for file in archives.glob("*.jsa")}
    for file in whole:
        file.chmod(0o600)
        spoil(file)
    try:
        cluster = start(tell_classes)
        try:
            pids = {node.name: node.pid for node in cluster.nodes}
            printed = "".join(server.printed() for server in cluster._servers)
        finally:
            cluster.stop()
        with Processes(COMPRESSED, lambda _text: None) as processes:
            worker = start_worker(processes, "java", tell_classes / "workers")
            request(worker)
            pids["java"] = worker.pid
            worker.kill()
        assert "cds" not in printed
        assert "shared" not in printed
        for name, pid in pids.items():
            assert pid is not None
            assert from_archive(loaded_by(pid, tell_classes)) == 0, name
    finally:
        for file, content in whole.items():
            file.write_bytes(content)


def test_where_the_class_path_is_longer_than_that_of_the_archive_it_is_used_all_the_same(
    archives: Path, tell_classes: Path
) -> None:
    """As that of brokers that answer pulls with flow control: the hook is behind the jars."""
    needs = ClusterNeeds(flow_control=True)
    cluster = EmbeddedCluster(VERSION, COMPRESSED, tell_classes / "cluster", owner="tests", needs=needs)
    cluster.start()
    try:
        broker = next(node for node in cluster.nodes if node.is_master)
        assert broker.pid is not None
        assert from_archive(loaded_by(broker.pid, tell_classes)) > MANY
    finally:
        cluster.stop()
