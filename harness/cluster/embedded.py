"""RocketMQ as JVM processes on this host, from the jars of any version. No Docker, no root."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.cluster import artifacts, ports, server_settings, versions
from harness.cluster.java_home import Java, find_java
from harness.cluster.server_cluster import ServerCluster
from harness.cluster.server_process import ServerProcess
from harness.cluster.server_settings import LOOPBACK, SLAVE_SUFFIX, Site
from harness.cluster_needs import NAMESERVER
from harness.errors import EnvironmentNotReady
from harness.timing import TimingProfile

_MAIN_CLASS = {
    "nameserver": "org.apache.rocketmq.namesrv.NamesrvStartup",
    "broker": "org.apache.rocketmq.broker.BrokerStartup",
}
_LEAST_FREE_BYTES = 200 * 1024 * 1024


class EmbeddedCluster(ServerCluster):
    """A name server and brokers, one JVM process each, on loopback."""

    kind = "embedded"

    def __init__(
        self,
        version: str,
        timing: TimingProfile,
        folder: Path,
        *,
        owner: str,
        broker_configuration: Mapping[str, str] | None = None,
        brokers: Sequence[str] = ("broker-a",),
        slaves: Sequence[str] = (),
        nameserver_port: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """As `ServerCluster`; `nameserver_port` is the name server's port, None chooses a free one."""
        super().__init__(
            version,
            timing,
            folder,
            owner=owner,
            broker_configuration=broker_configuration,
            brokers=brokers,
            slaves=slaves,
            progress=progress,
        )
        self._nameserver_port = nameserver_port
        self._java: Java | None = None
        self._jars: Sequence[Path] = ()

    def _prepare(self) -> None:
        self._java = find_java()
        self._jars = artifacts.classpath(self.version, "server", self._progress)
        self._port_taken()

    def _port_taken(self) -> None:
        if self._nameserver_port is not None:
            ports.require_free(self._nameserver_port)

    def _lay_out(self) -> Sequence[ServerProcess]:
        chosen = ports.choose(len(self._brokers) + len(self._slaves), self._nameserver_port)
        shutil.rmtree(self.folder, ignore_errors=True)
        nameserver = f"{LOOPBACK}:{chosen.nameserver}"
        nodes: list[tuple[str, str | None]] = [(name, None) for name in self._brokers]
        nodes += [(f"{name}{SLAVE_SUFFIX}", name) for name in self._slaves]
        servers = [self._server(NAMESERVER, "nameserver", chosen.nameserver, nameserver, None)]
        servers += [
            self._server(name, "broker", port, nameserver, master)
            for (name, master), port in zip(nodes, chosen.brokers, strict=True)
        ]
        self._require_disk()
        return servers

    def _server(
        self, name: str, role: str, port: int, nameserver: str, slave_of: str | None
    ) -> ServerProcess:
        """A server whose files are written."""
        folder = self.folder / name
        site = Site(LOOPBACK, port, folder)
        file = self._configure(name, role, site, nameserver, slave_of)
        (folder / "tmp").mkdir(exist_ok=True)
        assert self._java is not None
        return ServerProcess(
            name,
            role,
            site.address,
            folder,
            slave_of,
            command=[
                self._java.executable,
                *server_settings.jvm_arguments(folder, folder / "server.log"),
                "-cp",
                ":".join(map(str, self._jars)),
                _MAIN_CLASS[role],
                "-c",
                folder / file,
            ],
            owner=self.owner,
        )

    def _require_disk(self) -> None:
        """Brokers refuse messages on a disk that is too full; say so before they do."""
        disk = shutil.disk_usage(self.folder)
        is_4 = versions.parse(self.version)[0] == 4
        limit = server_settings.DISK_WARNING_RATIO_4 if is_4 else server_settings.DISK_WARNING_RATIO_5
        if disk.used / max(disk.used + disk.free, 1) > limit or disk.free < _LEAST_FREE_BYTES:
            raise EnvironmentNotReady(
                f"the disk is too full for a broker of RocketMQ {self.version}, which refuses messages above "
                f"{limit:.0%}: {disk.free >> 20} MiB are free: {self.folder}",
                "Free some disk space, or set ROCKETCHAOS_CACHE to a folder elsewhere.",
            )
