"""A diagnosis of real masters and slaves."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocketchaos.harness.cluster.embedded import EmbeddedCluster
from rocketchaos.harness.cluster.server_settings import Site
from rocketchaos.harness.diagnose.collect import Scope
from rocketchaos.harness.diagnose.diagnosis import Diagnosis, Report
from rocketchaos.harness.diagnose.gate import Gate
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED

pytestmark = [pytest.mark.embedded, pytest.mark.nightly]

SLAVE = "broker-a-slave"
MESSAGE = {
    "producerGroup": "p", "topic": "orders", "defaultTopic": "TBW102", "defaultTopicQueueNums": "4",
    "queueId": "0", "sysFlag": "0", "bornTimestamp": "0", "flag": "0", "properties": "", "reconsumeTimes": "0",
    "unitMode": "false",
}  # fmt: skip


class _Misled(EmbeddedCluster):
    """Its slave looks for its master where nobody is."""

    def _configure(self, name: str, role: str, site: Site, nameserver: str, slave_of: str | None) -> str:
        file = super()._configure(name, role, site, nameserver, slave_of)
        if slave_of is not None:
            with (self.folder / name / file).open("a", encoding="utf-8") as text:
                text.write("haMasterAddress=127.0.0.1:1\n")
        return file


@contextmanager
def running(kind: type[EmbeddedCluster], version: str, folder: Path) -> Iterator[EmbeddedCluster]:
    """A master with a slave, and with one message."""
    needs = ClusterNeeds(slaves=("broker-a",))
    cluster = kind(version, COMPRESSED, folder / "cluster", owner="test", needs=needs)
    cluster.start()
    try:
        (master,) = [node.address for node in cluster.nodes if node.name == "broker-a"]
        assert remoting.ask(master, 10, MESSAGE, b"content", limit_s=10).code == 0
        yield cluster
    finally:
        cluster.stop()


def diagnosed(
    cluster: EmbeddedCluster, watch_s: float = 0.0, on_look: Callable[[Report], None] = lambda _report: None
) -> Report:
    async def look() -> Report:
        async with Gate() as gate:
            scope = Scope((cluster.nameserver,), ())
            return await Diagnosis(gate, scope, watch_s=watch_s, on_look=on_look).run()

    return asyncio.run(look())


@pytest.mark.parametrize("version", ["4.9.4", "5.5.0"])
def test_a_slave_that_copies_nothing_is_found(version: str, tmp_path: Path) -> None:
    with running(_Misled, version, tmp_path) as cluster:
        report = diagnosed(cluster)
    assert [item.check.code for item in report.findings] == ["RC0810"]
    assert not report.undetermined


@pytest.mark.parametrize("version", ["4.9.4", "5.5.0"])
def test_a_slave_that_keeps_up_is_fine_and_one_that_leaves_is_missed(version: str, tmp_path: Path) -> None:
    with running(EmbeddedCluster, version, tmp_path) as cluster:
        report = diagnosed(cluster)
        assert not report.findings
        assert not report.undetermined

        def stop_it(report: Report) -> None:
            if len(report.looks) == 1:
                os.kill(cluster.host_pid(SLAVE), signal.SIGKILL)

        report = diagnosed(cluster, 45.0, stop_it)
    assert [item.check.code for item in report.findings] == ["RC0809"]
