"""RocketMQ as JVM processes on this host, from the jars of any version. No Docker, no root."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import tenacity

from harness.cluster import artifacts, ports, readiness, server_settings, versions
from harness.cluster.base import Node, NodeDeath
from harness.cluster.java_home import Java, find_java
from harness.cluster.server_process import ServerProcess
from harness.cluster_needs import NAMESERVER, topology_problem
from harness.errors import EnvironmentNotReady, UsageProblem
from harness.timing import TimingProfile

_MAIN_CLASS = {
    "nameserver": "org.apache.rocketmq.namesrv.NamesrvStartup",
    "broker": "org.apache.rocketmq.broker.BrokerStartup",
}
_START_ATTEMPTS = 5
_READY_LIMIT_S = 90.0
"""A hundred times what an idle machine takes."""
_LOOK_EVERY_S = 0.03
_LEAST_FREE_BYTES = 200 * 1024 * 1024


class _PortTakenError(Exception):
    """Another program took a port between the choice and the start."""


class EmbeddedCluster:
    """A name server and brokers, one JVM process each; it has every one of the `CAPABILITIES`."""

    kind = "embedded"

    def __init__(
        self,
        version: str,
        timing: TimingProfile,
        folder: Path,
        *,
        owner: str,
        broker_configuration: dict[str, str] | None = None,
        brokers: Sequence[str] = ("broker-a",),
        slaves: Sequence[str] = (),
        nameserver_port: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """Describes a cluster; nothing is started or written.

        Args:
            version: a RocketMQ release of 4.9.x or 5.x.
            timing: the profile whose settings the brokers get.
            folder: for configuration, stores and logs, a folder in it for each node.
            owner: the token by which a guardian finds the processes (`harness.guardian`).
            broker_configuration: lines of broker.conf that win over all others.
            brokers: the names of the brokers, each a master.
            slaves: the brokers that get a slave besides, `<broker>-slave`, which copies the master's log.
            nameserver_port: the name server's port; None chooses a free one.
            progress: told in a few words what takes time.

        Raises:
            UsageProblem: no such version, brokers without or with the same names, or a setting that the
                harness itself decides.
        """
        versions.parse(version)
        check_topology(brokers, slaves)
        server_settings.check_broker_configuration(broker_configuration or {})
        self.version = version
        self.timing = timing
        self.folder = folder.absolute()
        self.owner = owner
        self.start_attempts = 0
        self._broker_configuration = dict(broker_configuration or {})
        self._brokers = tuple(brokers)
        self._slaves = tuple(slaves)
        self._nameserver_port = nameserver_port
        self._progress = progress or (lambda _text: None)
        self._servers: list[ServerProcess] = []

    def start(self) -> None:
        """Start name server and brokers at the same time; return when the brokers are registered and answer.

        Raises:
            EnvironmentNotReady: no Java, no jars, a full disk, a port that is taken, or a server that can't
                start; then the message has the end of what it printed.
            UsageProblem: the brokers did not take a setting, which RocketMQ itself ignores in silence.
        """
        java = find_java()
        jars = artifacts.classpath(self.version, "server", self._progress)
        if self._nameserver_port is not None:
            ports.require_free(self._nameserver_port)
        self._progress(f"starting RocketMQ {self.version}")
        for _ in range(_START_ATTEMPTS):
            self.start_attempts += 1
            try:
                self._start_once(java, jars)
                return
            except _PortTakenError:
                self.stop()
                if self._nameserver_port is not None:
                    ports.require_free(self._nameserver_port)
            except BaseException:
                self.stop()
                raise
        raise EnvironmentNotReady(
            f"{_START_ATTEMPTS} times in a row another program took a port that had just been free",
            "Try again when less is starting on this machine.",
        )

    def stop(self) -> None:
        """Kill every server and wait until they are gone; stores are thrown away, so nothing is flushed."""
        for server in self._servers:
            server.kill()

    @property
    def nameserver(self) -> str:
        """`127.0.0.1:port` of the name server, known from `start` on."""
        return self._servers[0].address

    @property
    def nodes(self) -> Sequence[Node]:
        """All nodes, the name server first; none before `start`."""
        return [server.node for server in self._servers]

    def deaths(self) -> Sequence[NodeDeath]:
        """Servers that ended though neither `stop` nor `kill_node` asked them to."""
        return [death for server in self._servers if (death := server.death()) is not None]

    @property
    def broker_configuration(self) -> dict[str, str]:
        """Lines of broker.conf with which the brokers start."""
        return dict(self._broker_configuration)

    def kill_node(self, name: str) -> None:
        """SIGKILL a server and wait until it is gone; it is no death that `deaths` reports.

        Raises:
            KeyError: there is no such node.
        """
        self._named(name).kill()

    def pause_node(self, name: str) -> None:
        """SIGSTOP a server; see `Pausable`."""
        self._named(name).pause()

    def resume_node(self, name: str) -> None:
        """SIGCONT a server; see `Pausable`."""
        self._named(name).resume()

    def restart_node(self, name: str) -> None:
        """Start a server again, which is shut down before where it runs; see `Restartable`."""
        server = self._named(name)
        server.terminate()
        server.start_again()
        # Brokers must come back to a new name server by themselves: how long that takes is RocketMQ's doing.
        others = [one for one in self._servers[1:] if one.exit_reason() is None and not one.paused]
        try:
            if server.role == "nameserver":
                self._await_ready([server], [], others)
            else:
                self._await_ready([server], [server], [])
        except _PortTakenError:
            raise _start_failure(server, "another program took its port meanwhile") from None

    def _named(self, name: str) -> ServerProcess:
        return {server.name: server for server in self._servers}[name]

    def _start_once(self, java: Java, jars: Sequence[Path]) -> None:
        chosen = ports.choose(len(self._brokers) + len(self._slaves), self._nameserver_port)
        shutil.rmtree(self.folder, ignore_errors=True)
        masters = dict(zip(self._brokers, chosen.brokers, strict=False))
        self._servers = [self._server(NAMESERVER, "nameserver", chosen.nameserver)]
        self._servers += [self._server(name, "broker", port) for name, port in masters.items()]
        self._servers += [
            self._server(f"{name}{server_settings.SLAVE_SUFFIX}", "broker", port, slave_of=name)
            for name, port in zip(self._slaves, chosen.brokers[len(masters) :], strict=True)
        ]
        try:
            files = [self._write_files(server) for server in self._servers]
            self._require_disk()
        except OSError as error:
            raise EnvironmentNotReady(
                f"the cluster's files can't be written: {error.strerror}: {self.folder}",
                "Free some disk space, or set ROCKETCHAOS_CACHE to a folder elsewhere.",
            ) from error
        commands = dict(zip(self._servers, files, strict=True))
        first = len(self._servers) - len(self._slaves)
        # A slave is told who its master is when it registers, so masters must have done so before.
        for servers in (self._servers[:first], self._servers[first:]):
            self._launch(java, jars, {server: commands[server] for server in servers})
        for server in self._servers[1:]:
            readiness.check_settings(server.name, server.log, self._broker_configuration)

    def _launch(self, java: Java, jars: Sequence[Path], files: Mapping[ServerProcess, Path]) -> None:
        """Start these servers, each with its configuration file, and wait until they are ready."""
        for server, file in files.items():
            arguments = server_settings.jvm_arguments(server.folder, server.log)
            class_path = ":".join(map(str, jars))
            server.start(
                [java.executable, *arguments, "-cp", class_path, _MAIN_CLASS[server.role], "-c", file],
                self.owner,
            )
        if files:
            brokers = [server for server in files if server.role == "broker"]
            self._await_ready(list(files), brokers, [])

    def _server(self, name: str, role: str, port: int, slave_of: str | None = None) -> ServerProcess:
        return ServerProcess(name, role, f"{server_settings.LOOPBACK}:{port}", self.folder / name, slave_of)

    def _write_files(self, server: ServerProcess) -> Path:
        """The server's configuration and log configuration; returns the former."""
        server_settings.write_logback(server.folder)
        port = int(server.address.rpartition(":")[2])
        if server.role == "nameserver":
            file, text = "namesrv.properties", server_settings.nameserver_file(port, server.folder)
        else:
            file = "broker.conf"
            configurations = [self.timing.broker, self._broker_configuration]
            if server.slave_of is not None:
                configurations.append(server_settings.SLAVE_SETTINGS)
            text = server_settings.broker_file(
                server.slave_of or server.name, port, self.nameserver, server.folder, configurations
            )
        (server.folder / file).write_text(text, encoding="ascii")
        return server.folder / file

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

    def _await_ready(
        self,
        servers: Sequence[ServerProcess],
        to_register: Sequence[ServerProcess],
        registering: Sequence[ServerProcess],
    ) -> None:
        """Wait until these servers are up.

        Besides, until brokers are registered: `to_register` are reminded of it, `registering` are not.
        """
        looks: list[Look] = [
            (server, readiness.Registration(self.nameserver, server.address).why_not_ready)
            for server in to_register
        ]
        looks += [
            (server, functools.partial(readiness.why_not_ready, self.nameserver, server.address))
            for server in registering
        ]
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_result(bool),
            wait=tenacity.wait_fixed(_LOOK_EVERY_S),
            stop=tenacity.stop_after_delay(_READY_LIMIT_S),
        )
        try:
            retrying(_what_is_missing, servers, looks)
        except tenacity.RetryError as error:
            missing: tuple[ServerProcess, str] = error.last_attempt.result()
            raise _start_failure(
                missing[0], f"not ready within {_READY_LIMIT_S:.0f} s: {missing[1]}"
            ) from None


Look = tuple[ServerProcess, Callable[[], str | None]]
"""A broker, and a look at why it isn't ready; None where it is."""


def _what_is_missing(
    servers: Sequence[ServerProcess], looks: Sequence[Look]
) -> tuple[ServerProcess, str] | None:
    """The first server that isn't ready, and why; None when all are.

    Raises:
        _PortTakenError, EnvironmentNotReady: a server ended.
    """
    for server in servers:
        if server.exit_reason() is not None:
            if server.port_taken:
                raise _PortTakenError
            raise _start_failure(server, f"ended with {server.exit_reason()}")
    for server in servers:
        if not server.booted:
            return server, "it hasn't said that it is up"
    for server, why_not_ready in looks:
        if reason := why_not_ready():
            return server, reason
    return None


def check_topology(brokers: Sequence[str], slaves: Sequence[str]) -> None:
    """Make sure that these can be a cluster's brokers and slaves.

    Raises:
        UsageProblem: no broker, names that aren't each node's own, or slaves of what is no broker.
    """
    problem = topology_problem(brokers, slaves)
    if problem is not None:
        raise UsageProblem(f"these can't be a cluster's brokers: {problem}", "Give each its own name.")


def _start_failure(server: ServerProcess, what: str) -> EnvironmentNotReady:
    lines = [line[:300] for line in server.last_lines(15)]
    end = "\n    ".join(["The end of its output:", *lines]) if lines else "It printed nothing."
    return EnvironmentNotReady(
        f"{server.name} could not be started: {what}", f"{end}\n  Its log: {server.log}"
    )
