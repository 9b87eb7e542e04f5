"""The common part of clusters that start their own servers: the order of starts, and the limit until all are
ready."""

import functools
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rocketchaos.harness.cluster import access_control, readiness, server_settings
from rocketchaos.harness.cluster.base import Node, NodeDeath, Proxy
from rocketchaos.harness.cluster.proxy_server import ProxyServer
from rocketchaos.harness.cluster.server import Server
from rocketchaos.harness.cluster.server_settings import Site
from rocketchaos.harness.core.errors import EnvironmentNotReady, NodeEnded, UsageProblem
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.language.cluster_needs import NAMESERVER, USUAL, ClusterNeeds
from rocketchaos.harness.language.server_lines import as_rocketmq_reads
from rocketchaos.harness.rocketmq import versions
from rocketchaos.harness.rocketmq.name_server_settings import CONTROLLER_SETTINGS
from rocketchaos.harness.rocketmq.timing_profiles import TimingProfile
from rocketchaos.harness.rocketmq.version_range import contains

_START_ATTEMPTS = 5
_READY_LIMIT_S = 90.0
"""A hundred times what an idle machine takes."""
_LOOK_EVERY_S = 0.03


class _PortTakenError(Exception):
    """Another program took a port between the choice and the start."""


class ServerCluster(ABC):
    """Name servers, brokers and what else belongs to them; it has every one of the node capabilities."""

    kind: str

    def __init__(
        self,
        version: str,
        timing: TimingProfile,
        folder: Path,
        *,
        owner: str,
        needs: ClusterNeeds = USUAL,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """Describes a cluster; nothing is started or written.

        Args:
            version: a RocketMQ release of 4.9.x or 5.x.
            timing: the profile whose settings the brokers get.
            folder: for configuration and logs, a folder in it for each node.
            owner: the token by which a reaper finds what was started (`harness.reaper.reaper`).
            needs: its brokers, slaves, name servers and proxy, and their settings.
            progress: called with a few words before anything that takes time.

        Raises:
            UsageProblem: there is no such version, or it has no proxy or controller, which is needed.
        """
        if not versions.has_proxy(version) and needs.proxy is not None:
            raise UsageProblem(f"RocketMQ {version} has no proxy", "Versions from 5.0.0 on do.")
        if needs.controller and not contains(versions.CONTROLLER_SINCE, version):
            raise UsageProblem(f"RocketMQ {version} has no controller", "Versions from 5.0.0 on do.")
        self.version = version
        self.timing = timing
        self.folder = folder.absolute()
        self.owner = owner
        self.start_attempts = 0
        self._needs = needs
        self._progress = progress or (lambda _text: None)
        self._servers: Sequence[Server] = ()
        self._controller: str | None = None
        """`host:port` of the controller, from `_lay_out` on; None if there is none."""

    @abstractmethod
    def _prepare(self) -> None:
        """Make sure that everything servers need exists, before the first attempt to start them."""

    @abstractmethod
    def _lay_out(self) -> Sequence[Server]:
        """Choose addresses and write all files: the name servers, masters, slaves, then others.

        Raises:
            EnvironmentNotReady: there is no address, or a file can't be written.
        """

    def _port_taken(self) -> None:  # noqa: B027 - most clusters have ports of their own
        """Called before the next attempt, where another program took a port."""

    def start(self) -> None:
        """Start all servers, those that don't need each other at the same time; return when clients can work.

        Raises:
            EnvironmentNotReady: something is missing, or a server can't start; then the message has the end of
                what it printed.
            UsageProblem: a server did not take a setting, which RocketMQ itself ignores in silence.
        """
        self._prepare()
        self._progress(f"starting RocketMQ {self.version}")
        for _ in range(_START_ATTEMPTS):
            self.start_attempts += 1
            try:
                self._start_once()
                return
            except _PortTakenError:
                self.stop()
                self._port_taken()
            except BaseException:
                self.stop()
                raise
        raise EnvironmentNotReady(
            f"{_START_ATTEMPTS} times in a row another program took a port that had just been free",
            "Try again when less is starting on this machine.",
        )

    def stop(self) -> None:
        """Kill every server and wait until they are gone; stores are thrown away, so nothing is flushed."""
        _at_once(lambda server: server.remove(), self._servers)

    @property
    def nameserver(self) -> str:
        """`host:port` of the name server, several with `;` between them, known from `start` on."""
        return ";".join(server.address for server in self._of_role("nameserver"))

    @property
    def nodes(self) -> Sequence[Node]:
        """All nodes, the name servers first; none before `start`."""
        return [server.node for server in self._servers]

    def deaths(self) -> Sequence[NodeDeath]:
        """Servers that ended though nothing here asked them to."""
        return [death for server in self._servers if (death := server.death()) is not None]

    @property
    def dashboard(self) -> str | None:
        """The address of the dashboard's page; None if there is none."""
        return None

    @property
    def proxy(self) -> Proxy | None:
        """The proxy of 5.x; None if there is none, and before `start`."""
        return next((server.proxy for server in self._servers if isinstance(server, ProxyServer)), None)

    @property
    def images(self) -> Mapping[str, str]:
        """The ids of the container images that it runs, by name."""
        return {}

    @property
    def broker_configuration(self) -> dict[str, str]:
        """Lines of broker.conf with which the brokers start, all of them or one."""
        own = self._needs.own_lines.values()
        return {**self._needs.broker_configuration, **dict(line for lines in own for line in lines.items())}

    def kill_node(self, name: str) -> None:
        """SIGKILL a server and wait until it is gone; it is no death that `deaths` reports.

        Raises:
            KeyError: there is no such node.
        """
        self._named(name).kill()

    def stop_node(self, name: str) -> None:
        """Shut a server down in good order; see `Stoppable`."""
        self._named(name).terminate()

    def pause_node(self, name: str) -> None:
        """Let a server stand still; see `Pausable`."""
        self._named(name).pause()

    def resume_node(self, name: str) -> None:
        """Let a server go on; see `Pausable`."""
        self._named(name).resume()

    def restart_node(self, name: str) -> None:
        """Start a server again, which is shut down before where it runs; see `Restartable`."""
        server = self._named(name)
        server.terminate()
        server.start()
        waits = server.role == "broker" and self._controller is None
        # Brokers must come back to a new name server by themselves: how long that takes is RocketMQ's doing.
        others = [item for item in self._of_role("broker") if _answers(item) and server in self._asked(item)]
        try:
            if server.role == "nameserver":
                self._await_ready([server], [], others)
            else:
                self._await_ready([server], [server] if waits else [], [])
        except _PortTakenError:
            raise _start_failure(server, "another program took its port meanwhile") from None

    def excuse_end(self, name: str) -> None:
        """A server's end is no death; see `Restartable`."""
        self._named(name).excuse_end()

    def _named(self, name: str) -> Server:
        return {server.name: server for server in self._servers}[name]

    def _of_role(self, role: str) -> list[Server]:
        return [server for server in self._servers if server.role == role]

    def _asked(self, broker: Server) -> list[Server]:
        """The name servers with which a broker, or the master of a slave, registers."""
        return [self._named(name) for name in self._needs.name_servers_of(broker.slave_of or broker.name)]

    def _awaited_by(self, broker: Server) -> list[Server]:
        """The name servers that must register it: not a dead or paused one, if another one answers."""
        asked = self._asked(broker)
        return [server for server in asked if _answers(server)] or asked

    def _addresses_for(self, broker: str, addresses: Mapping[str, str]) -> str:
        """Its `namesrvAddr`, by the addresses of all name servers."""
        return ";".join(addresses[name] for name in self._needs.name_servers_of(broker))

    def _start_once(self) -> None:
        try:
            self._servers = self._lay_out()
        except OSError as error:
            raise EnvironmentNotReady(
                f"the cluster's files can't be written: {error.strerror}: {self.folder}",
                "Free some disk space, or set ROCKETCHAOS_CACHE to a folder elsewhere.",
            ) from error
        first = self._needs.name_servers + len(self._needs.brokers)
        # A slave learns who its master is when it registers, so masters must have done so before; and whatever
        # else there is looks for brokers when it starts.
        for servers in (self._servers[:first], self._servers[first:]):
            if servers:
                _at_once(lambda server: server.start(), servers)
                self._await_ready(servers, [item for item in servers if item.role == "broker"], [])
        # A run tells of every attempt: none is hidden.
        self.start_attempts += sum(server.restarts for server in self._servers)
        for broker in self._of_role("broker"):
            lines = self._needs.lines_of(broker.slave_of or broker.name)
            if broker.slave_of is not None:
                own = server_settings.SLAVE_SETTINGS
                lines = {name: value for name, value in lines.items() if name not in own}
            readiness.check_settings(broker.name, broker.log, lines, "brokerIP1")
        lines = as_rocketmq_reads(self._needs.namesrv)
        if self._controller is not None:
            of_it = {name: lines.pop(name) for name in CONTROLLER_SETTINGS if name in lines}
            readiness.check_controller_settings(self._controller, of_it)
        for server in self._of_role("nameserver"):
            readiness.check_settings(server.name, server.log, lines, "kvConfigPath")

    def _configure(self, name: str, role: str, site: Site, nameserver: str, slave_of: str | None) -> str:
        """Write the configuration of a name server or broker to its folder; the file's name."""
        folder = self.folder / name
        server_settings.write_logback(folder)
        if role == "nameserver":
            lines = as_rocketmq_reads(self._needs.namesrv)
            if self._controller is not None and name == NAMESERVER:
                own = server_settings.controller_settings(self._controller, site.folder)
                lines = {**self.timing.controller, **lines, **own}
            file, text = "namesrv.properties", server_settings.nameserver_file(site, lines)
        else:
            file = server_settings.BROKER_FILE
            configurations = [self.timing.broker, self._needs.lines_of(slave_of or name)]
            if self._controller is not None:
                configurations.insert(1, self.timing.controller)
                configurations.append(server_settings.controlled_settings(self._controller))
            elif slave_of is not None:
                configurations.append(server_settings.SLAVE_SETTINGS)
            if self._needs.accounts:
                configurations.append(access_control.broker_lines(self.version))
                access_control.write_accounts(folder, self._needs.accounts)
            text = server_settings.broker_file(slave_of or name, site, nameserver, configurations)
        (folder / file).write_text(text, encoding="ascii")
        return file

    def _await_ready(
        self, servers: Sequence[Server], to_register: Sequence[Server], registering: Sequence[Server]
    ) -> None:
        """Wait until these servers are up.

        For brokers, also wait until they are registered: `to_register` are reminded of it, `registering` are not.
        With a controller nobody is: a broker registers once it has its role. `to_register` must be in sync, too.
        """
        looks: list[Look] = []
        if self._controller is not None:
            looks += [
                (server, functools.partial(readiness.why_not_in_sync, self._controller, *_known_as(server)))
                for server in to_register
            ]
            to_register, registering = [], [*to_register, *registering]
        looks += [
            (server, readiness.Registration(known.address, server.registered, server.address).why_not_ready)
            for server in to_register
            for known in self._awaited_by(server)
        ]
        looks += [
            (
                server,
                functools.partial(readiness.why_not_ready, known.address, server.registered, server.address),
            )
            for server in registering
            for known in self._awaited_by(server)
        ]
        missing = look_until(
            lambda: _what_is_missing(servers, looks), operator.not_, _READY_LIMIT_S, _LOOK_EVERY_S
        )
        if missing is not None:
            raise _start_failure(missing[0], f"not ready within {_READY_LIMIT_S:.0f} s: {missing[1]}")


Look = tuple[Server, Callable[[], str | None]]
"""A broker, and a look at why it isn't ready; None if it is."""


def _known_as(broker: Server) -> tuple[str, str]:
    """The broker's name, which a slave has too, and the address under which it is registered."""
    return broker.slave_of or broker.name, broker.registered


def _answers(server: Server) -> bool:
    return server.exit_reason() is None and not server.paused


def _at_once(do: Callable[[Server], None], servers: Sequence[Server]) -> None:
    """Do it to all of them in parallel; raise the first failure when all are done."""
    if servers:
        with ThreadPoolExecutor(len(servers), thread_name_prefix="server") as pool:
            for done in [pool.submit(do, server) for server in servers]:
                done.result()


def _what_is_missing(servers: Sequence[Server], looks: Sequence[Look]) -> tuple[Server, str] | None:
    """The first server that isn't ready, and why; None when all are.

    Raises:
        _PortTakenError, NodeEnded: a server ended.
    """
    for server in servers:
        if server.exit_reason() is not None:
            if server.port_taken:
                raise _PortTakenError
            if server.tries_again():
                continue
            how = server.exit_reason() or "an unknown reason"
            failure = _start_failure(server, f"ended with {how}")
            raise NodeEnded(failure.message, failure.hint, how)
    for server, why_not in [*((server, server.why_not_up) for server in servers), *looks]:
        if reason := why_not():
            return server, reason
    return None


def _start_failure(server: Server, what: str) -> EnvironmentNotReady:
    lines = [line[:300] for line in server.last_lines(15)]
    end = "\n    ".join(["The end of its output:", *lines]) if lines else "It printed nothing."
    return EnvironmentNotReady(
        f"{server.name} could not be started: {what}", f"{end}\n  Its log: {server.log}"
    )
