"""RocketMQ as JVM processes on this host, from the jars of any version. No Docker, no root."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rocketchaos.harness.cluster import access_control, hooks, ports, server_settings
from rocketchaos.harness.cluster.base import Proxy
from rocketchaos.harness.cluster.proxy_process import ProxyProcess
from rocketchaos.harness.cluster.server_cluster import ServerCluster
from rocketchaos.harness.cluster.server_process import ServerProcess
from rocketchaos.harness.cluster.server_settings import LOOPBACK, PROXY_FILE, Site
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.jars import artifacts
from rocketchaos.harness.jars.class_archive import ClassArchive
from rocketchaos.harness.jars.java_home import Java, find_java
from rocketchaos.harness.language.cluster_needs import PROXY, SLAVE_SUFFIX, USUAL, ClusterNeeds, ProxyMode
from rocketchaos.harness.rocketmq import versions
from rocketchaos.harness.rocketmq.timing_profiles import TimingProfile

_MAIN_CLASS = {
    "nameserver": "org.apache.rocketmq.namesrv.NamesrvStartup",
    "broker": "org.apache.rocketmq.broker.BrokerStartup",
    "proxy": "org.apache.rocketmq.proxy.ProxyStartup",
}
_LEAST_FREE_BYTES = 200 * 1024 * 1024


class EmbeddedCluster(ServerCluster):
    """Name servers, brokers, and a proxy on request, one JVM process each, on loopback.

    A proxy in mode LOCAL is in the JVM of the one broker. RocketMQ has its proxies listen on every address.
    """

    kind = "embedded"

    def __init__(
        self,
        version: str,
        timing: TimingProfile,
        folder: Path,
        *,
        owner: str,
        needs: ClusterNeeds = USUAL,
        nameserver_port: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """As `ServerCluster`, and:

        Args:
            nameserver_port: the first name server's port; None chooses a free one.
        """
        super().__init__(version, timing, folder, owner=owner, needs=needs, progress=progress)
        self._nameserver_port = nameserver_port
        self._java: Java | None = None
        self._jars: Sequence[Path] = ()
        self._hooks: Sequence[Path] = ()
        self._upgraded: dict[str, tuple[Sequence[Path], Sequence[Path]]] = {}
        """The jars and hooks of each broker that has another version by now."""

    @property
    def proxy_mode(self) -> ProxyMode | None:
        """How its proxy runs; None if there is none."""
        return self._needs.proxy

    @property
    def flow_control(self) -> bool:
        """Whether its brokers answer pulls with FLOW_CONTROL."""
        return self._needs.flow_control

    @property
    def access_key_file(self) -> Path | None:
        """The harness's own access key; None without access control."""
        return (
            self.folder / self._needs.brokers[0] / access_control.KEY_FILE if self._needs.accounts else None
        )

    @property
    def registers_with(self) -> Mapping[str, Sequence[str]]:
        """The brokers that register with some of its name servers alone."""
        return self._needs.registers_with

    @property
    def controller(self) -> str | None:
        """Where its controller answers; None if there is none."""
        return self._controller

    def _prepare(self) -> None:
        self._java = find_java()
        role: artifacts.Role = "server" if self._needs.proxy is None else "all-servers"
        self._jars = artifacts.classpath(self.version, role, self._progress)
        self._hooks = self._hooks_of(self.version, self._jars)
        self._port_taken()

    def _hooks_of(self, version: str, jars: Sequence[Path]) -> Sequence[Path]:
        """Classes of ours that brokers of this version load."""
        if not self._needs.flow_control:
            return ()
        assert self._java is not None
        return [hooks.hook_classes(hooks.FLOW_CONTROL, version, self._java, jars, self._progress)]

    def _port_taken(self) -> None:
        if self._nameserver_port is not None:
            ports.require_free(self._nameserver_port)

    def _lay_out(self) -> Sequence[ServerProcess]:
        chosen = ports.choose(
            len(self._needs.brokers) + len(self._needs.slaves),
            self._nameserver_port,
            with_proxy=self._needs.proxy is not None,
            name_servers=self._needs.name_servers,
            with_controller=self._needs.controller,
        )
        self._controller = None if chosen.controller is None else f"{LOOPBACK}:{chosen.controller}"
        shutil.rmtree(self.folder, ignore_errors=True)
        ports_of = dict(zip(self._needs.name_server_nodes, chosen.name_servers, strict=True))
        addresses = {name: f"{LOOPBACK}:{port}" for name, port in ports_of.items()}
        everyone = ";".join(addresses.values())
        nodes: list[tuple[str, str | None]] = [(name, None) for name in self._needs.brokers]
        nodes += [(f"{name}{SLAVE_SUFFIX}", name) for name in self._needs.slaves]
        proxy = None
        if chosen.proxy is not None and self._needs.proxy is not None:
            grpc, remoting = (f"{LOOPBACK}:{port}" for port in chosen.proxy)
            proxy = Proxy(self._needs.proxy, grpc, remoting)
        inside = proxy if self._needs.proxy == "local" else None
        servers = [
            self._server(name, "nameserver", port, addresses[name], None) for name, port in ports_of.items()
        ]
        for (name, master), port in zip(nodes, chosen.brokers, strict=True):
            asked = self._addresses_for(master or name, addresses)
            servers.append(self._server(name, "broker", port, asked, master, inside))
        if proxy is not None and inside is None:
            servers.append(self._lone_proxy(proxy, everyone))
        self._require_disk()
        return servers

    def _server(
        self,
        name: str,
        role: str,
        port: int,
        nameserver: str,
        slave_of: str | None,
        inside: Proxy | None = None,
    ) -> ServerProcess:
        """A server whose files are written; `inside` is the proxy that shares its JVM."""
        folder = self.folder / name
        site = Site(LOOPBACK, port, folder)
        file = folder / self._configure(name, role, site, nameserver, slave_of)
        if inside is not None:
            broker = ["-bc", str(file)]
            return self._proxy_process(name, role, site.address, folder, inside, nameserver, broker)
        command = self._command(folder, role, ["-c", str(file)])
        return ServerProcess(name, role, site.address, folder, slave_of, command=command, owner=self.owner)

    def host_pid(self, name: str) -> int:
        """A server's process id; see `OnThisHost`."""
        server = self._named(name)
        if server.pid is None or server.exit_reason() is not None:
            raise EnvironmentNotReady(f"{name} has died", f"Its log: {server.log}")
        return server.pid

    def store(self, name: str) -> Path:
        """Where a broker stores everything; see `Losing`."""
        return self._named(name).folder / server_settings.STORE

    def fill_disk(self, broker: str) -> None:
        """Restart a broker so that it takes every disk for full; see `Fillable`."""
        self._restart_with(broker, [server_settings.disk_warning(0.0)])

    def free_disk(self, broker: str) -> None:
        """Restart it as it was at first; see `Fillable`."""
        self._restart_with(broker, [])

    def upgrade_node(self, broker: str, version: str) -> None:
        """Restart a broker with another version; see `Upgradable`."""
        assert self._java is not None
        jars = artifacts.classpath(version, "server", self._progress)
        self._upgraded[broker] = (jars, self._hooks_of(version, jars))
        self._restart_with(broker, [])

    def _restart_with(self, broker: str, options: Sequence[str]) -> None:
        """Restart a broker with these additional arguments of the JVM."""
        server = self._named(broker)
        assert isinstance(server, ServerProcess)
        file = server.folder / server_settings.BROKER_FILE
        server.command = self._command(server.folder, server.role, ["-c", str(file)], options)
        self.restart_node(broker)

    def _lone_proxy(self, proxy: Proxy, nameserver: str) -> ProxyProcess:
        """A proxy in a JVM of its own, whose files are written."""
        folder = self.folder / PROXY
        server_settings.write_logback(folder)
        return self._proxy_process(PROXY, "proxy", proxy.grpc_endpoint, folder, proxy, nameserver, [])

    def _proxy_process(
        self,
        name: str,
        role: str,
        address: str,
        folder: Path,
        proxy: Proxy,
        nameserver: str,
        arguments: Sequence[str],
    ) -> ProxyProcess:
        checks = access_control.proxy_lines() if self._needs.accounts else {}
        file = folder / PROXY_FILE
        # With accounts it has the harness's own key.
        file.touch(mode=0o600)
        file.write_text(
            server_settings.proxy_file(proxy, nameserver, {**self.timing.proxy, **checks}), encoding="utf-8"
        )
        modes = ["-pm", proxy.mode, "-pc", str(folder / PROXY_FILE), *arguments]
        command = self._command(folder, "proxy", modes)
        return ProxyProcess(name, role, address, folder, command=command, owner=self.owner, proxy=proxy)

    def _command(
        self, folder: Path, program: str, arguments: Sequence[str], options: Sequence[str] = ()
    ) -> Sequence[str | Path]:
        """The command line of a program of RocketMQ; `options` win over other arguments of the JVM."""
        (folder / "tmp").mkdir(exist_ok=True)
        assert self._java is not None
        jars, own = self._upgraded.get(folder.name, (self._jars, self._hooks))
        return [
            self._java.executable,
            *server_settings.jvm_arguments(folder, folder / "server.log", tls=self._needs.tls),
            *self._archive_options(ClassArchive(program, self._java, jars)),
            *options,
            "-cp",
            ":".join(map(str, (*jars, *own))),
            _MAIN_CLASS[program],
            *arguments,
        ]

    def _archive_options(self, archive: ClassArchive) -> Sequence[str]:
        """The JVM options for a server's class-data archive."""
        return archive.options()

    def _require_disk(self) -> None:
        """Brokers refuse messages on a disk that is too full; raise an error before they do."""
        disk = shutil.disk_usage(self.folder)
        is_4 = versions.parse(self.version)[0] == 4
        limit = server_settings.DISK_WARNING_RATIO_4 if is_4 else server_settings.DISK_WARNING_RATIO_5
        if disk.used / max(disk.used + disk.free, 1) > limit or disk.free < _LEAST_FREE_BYTES:
            raise EnvironmentNotReady(
                f"the disk is too full for a broker of RocketMQ {self.version}, which refuses messages above "
                f"{limit:.0%}: {disk.free >> 20} MiB are free: {self.folder}",
                "Free some disk space, or set ROCKETCHAOS_CACHE to a folder elsewhere.",
            )
