"""What of the servers' logs is a run's, and what they say there of the server itself."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rocketchaos.harness.cluster.base import Node
from rocketchaos.harness.engine.record import NodeLogs

ORDINARY = b"2026-11-22 22:33:27.616 INFO NettyServerScheduler_1 - Port: 30426\n"
OUT_OF_DIRECT_MEMORY = (
    b"2026-11-22 22:33:28.141 ERROR PullMessageThread_14 - Pop message error, orders@g@2\n"
    b"Caused by: java.lang.OutOfMemoryError: Cannot reserve 4259840 bytes of direct buffer memory\n"
)
"""As a broker 5.5.0 wrote it whose direct memory was limited to 256 MB."""


def a_cluster(folder: Path) -> Any:
    logs = {name: folder / f"{name}.log" for name in ("nameserver", "broker-a")}
    for log in logs.values():
        log.write_bytes(ORDINARY)
    nodes = [Node(name, name.split("-")[0], "127.0.0.1:1", None, log) for name, log in logs.items()]
    return SimpleNamespace(nodes=nodes)


def append(cluster: Any, node: str, text: bytes) -> None:
    log = next(item.log for item in cluster.nodes if item.name == node)
    with log.open("ab") as file:
        file.write(text)


def test_a_server_that_ran_out_of_memory_meanwhile(tmp_path: Path) -> None:
    cluster = a_cluster(tmp_path)
    logs = NodeLogs(cluster)
    append(cluster, "broker-a", ORDINARY)
    assert logs.out_of_memory() is None
    append(cluster, "broker-a", OUT_OF_DIRECT_MEMORY)
    found = logs.out_of_memory()
    assert found is not None
    assert found[0] == "broker-a"
    assert found[1].startswith("Caused by: java.lang.OutOfMemoryError: Cannot reserve 4259840 bytes")


def test_what_it_said_before_the_run_is_no_matter_of_the_run(tmp_path: Path) -> None:
    cluster = a_cluster(tmp_path)
    append(cluster, "broker-a", OUT_OF_DIRECT_MEMORY)
    logs = NodeLogs(cluster)
    append(cluster, "broker-a", ORDINARY)
    assert logs.out_of_memory() is None
    (tmp_path / "run").mkdir()
    logs.collect(tmp_path / "run")
    assert (tmp_path / "run" / "broker-a.log").read_bytes() == ORDINARY


def test_a_log_that_is_gone_says_nothing(tmp_path: Path) -> None:
    cluster = a_cluster(tmp_path)
    logs = NodeLogs(cluster)
    for node in cluster.nodes:
        node.log.unlink()
    assert logs.out_of_memory() is None
