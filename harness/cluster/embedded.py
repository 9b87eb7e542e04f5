"""RocketMQ as JVM processes on this host, from the jars of any version. No Docker, no root."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import tenacity

from harness.cluster import artifacts, ports, readiness, server_settings, versions
from harness.cluster.base import Node, NodeDeath
from harness.cluster.java_home import Java, find_java
from harness.cluster.server_process import ServerProcess
from harness.errors import EnvironmentNotReady, UsageProblem
from harness.timing import TimingProfile

NAMESERVER = "nameserver"
"""The name of the name server's node; brokers can't have it."""

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
    """A name server and brokers, one JVM process each; also `Killable` and `Configurable`."""

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
            brokers: the brokers' names.
            nameserver_port: the name server's port; None chooses a free one.
            progress: told in a few words what takes time.

        Raises:
            UsageProblem: no such version, brokers without or with the same names, or a setting that the
                harness itself decides.
        """
        versions.parse(version)
        if not brokers or NAMESERVER in brokers or len(set(brokers)) != len(brokers):
            raise UsageProblem(
                f"these can't be a cluster's brokers: {', '.join(brokers) or 'none'}",
                f"Give at least one, each its own name, none of them {NAMESERVER!r}.",
            )
        server_settings.check_broker_configuration(broker_configuration or {})
        self.version = version
        self.timing = timing
        self.folder = folder.absolute()
        self.owner = owner
        self.broker_configuration = dict(broker_configuration or {})
        self.start_attempts = 0
        self._brokers = tuple(brokers)
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

    def kill_node(self, name: str) -> None:
        """SIGKILL a server and wait until it is gone; it is no death that `deaths` reports.

        Raises:
            KeyError: there is no such node.
        """
        {server.name: server for server in self._servers}[name].kill()

    def _start_once(self, java: Java, jars: Sequence[Path]) -> None:
        chosen = ports.choose(len(self._brokers), self._nameserver_port)
        shutil.rmtree(self.folder, ignore_errors=True)
        self._servers = [self._server(NAMESERVER, "nameserver", chosen.nameserver)]
        self._servers += [
            self._server(name, "broker", port)
            for name, port in zip(self._brokers, chosen.brokers, strict=True)
        ]
        configurations: list[Mapping[str, str]] = [self.timing.broker, self.broker_configuration]
        try:
            files = [self._write_files(server, configurations) for server in self._servers]
            self._require_disk()
        except OSError as error:
            raise EnvironmentNotReady(
                f"the cluster's files can't be written: {error.strerror}: {self.folder}",
                "Free some disk space, or set ROCKETCHAOS_CACHE to a folder elsewhere.",
            ) from error
        for server, file in zip(self._servers, files, strict=True):
            arguments = server_settings.jvm_arguments(server.folder, server.log)
            class_path = ":".join(map(str, jars))
            server.start(
                [java.executable, *arguments, "-cp", class_path, _MAIN_CLASS[server.role], "-c", file],
                self.owner,
            )
        self._await_ready()
        for server in self._servers[1:]:
            readiness.check_settings(server.name, server.log, self.broker_configuration)

    def _server(self, name: str, role: str, port: int) -> ServerProcess:
        return ServerProcess(name, role, f"{server_settings.LOOPBACK}:{port}", self.folder / name)

    def _write_files(self, server: ServerProcess, configurations: Sequence[Mapping[str, str]]) -> Path:
        """The server's configuration and log configuration; returns the former."""
        server_settings.write_logback(server.folder)
        port = int(server.address.rpartition(":")[2])
        if server.role == "nameserver":
            file, text = "namesrv.properties", server_settings.nameserver_file(port, server.folder)
        else:
            file = "broker.conf"
            text = server_settings.broker_file(
                server.name, port, self.nameserver, server.folder, configurations
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

    def _await_ready(self) -> None:
        registrations = [
            (server, readiness.Registration(self.nameserver, server.address)) for server in self._servers[1:]
        ]
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_result(bool),
            wait=tenacity.wait_fixed(_LOOK_EVERY_S),
            stop=tenacity.stop_after_delay(_READY_LIMIT_S),
        )
        try:
            retrying(self._what_is_missing, registrations)
        except tenacity.RetryError as error:
            missing: tuple[ServerProcess, str] = error.last_attempt.result()
            raise _start_failure(
                missing[0], f"not ready within {_READY_LIMIT_S:.0f} s: {missing[1]}"
            ) from None

    def _what_is_missing(
        self, registrations: Sequence[tuple[ServerProcess, readiness.Registration]]
    ) -> tuple[ServerProcess, str] | None:
        """The first server that isn't ready, and why; None when all are.

        Raises:
            _PortTakenError, EnvironmentNotReady: a server ended.
        """
        for server in self._servers:
            if server.exit_reason() is not None:
                if server.port_taken:
                    raise _PortTakenError
                raise _start_failure(server, f"ended with {server.exit_reason()}")
        for server in self._servers:
            if not server.booted:
                return server, "it hasn't said that it is up"
        for server, registration in registrations:
            if reason := registration.why_not_ready():
                return server, reason
        return None


def _start_failure(server: ServerProcess, what: str) -> EnvironmentNotReady:
    lines = [line[:300] for line in server.last_lines(15)]
    end = "\n    ".join(["The end of its output:", *lines]) if lines else "It printed nothing."
    return EnvironmentNotReady(
        f"{server.name} could not be started: {what}", f"{end}\n  Its log: {server.log}"
    )
