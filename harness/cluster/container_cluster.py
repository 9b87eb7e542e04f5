"""RocketMQ as containers on a network of their own, from images of any origin that keep the official contract."""

import contextlib
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from docker.errors import NotFound

from rocketchaos.harness.cluster import ports, server_settings
from rocketchaos.harness.cluster.base import Proxy
from rocketchaos.harness.cluster.dashboard_container import DashboardContainer
from rocketchaos.harness.cluster.delay_line import DelayLine
from rocketchaos.harness.cluster.proxy_container import ProxyContainer
from rocketchaos.harness.cluster.server import Server
from rocketchaos.harness.cluster.server_cluster import ServerCluster
from rocketchaos.harness.cluster.server_container import ServerContainer
from rocketchaos.harness.cluster.server_settings import LOGBACK_FILES, PROXY_FILE, Site
from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.delay_support import choose_mechanism
from rocketchaos.harness.containers.images import Image, Images
from rocketchaos.harness.containers.labels import labels_of
from rocketchaos.harness.containers.launch import (
    MANY_PREFIX,
    PREFIX,
    ContainerPlan,
    Subnet,
    make_network,
    on_loopback,
)
from rocketchaos.harness.containers.netem import Netem
from rocketchaos.harness.containers.network_place import NetworkPlace
from rocketchaos.harness.containers.sidecar import Sidecars
from rocketchaos.harness.containers.toxiproxy import Toxiproxy
from rocketchaos.harness.language.cluster_needs import (
    DASHBOARD_DEFAULT,
    NAMESERVER,
    PROXY,
    SLAVE_SUFFIX,
    USUAL,
    ClusterNeeds,
)
from rocketchaos.harness.rocketmq import versions
from rocketchaos.harness.rocketmq.timing_profiles import TimingProfile
from rocketchaos.harness.workers.addresses import Addresses
from rocketchaos.harness.workers.container_place import ContainerPlace
from rocketchaos.harness.workers.in_containers import InContainers
from rocketchaos.harness.workers.program import WorkerHome

FOLDER = PurePosixPath("/rocketchaos")
"""Where a server's container has the folder that its host has for it: configuration and log."""
_STORE = PurePosixPath("/home/rocketmq/rocketchaos")
"""For what a server stores: in the container itself, which its user may write whoever runs the harness."""
_NAMESERVER_PORT = 9876
_BROKER_PORT = 10911
_PROXY_PORT = 8081
_PROXY_REMOTING_PORT = 8080
_DASHBOARD_PORT = 8080

_DASHBOARDS = {4: "1.0.0", 5: "2.1.0"}
"""The dashboard that understands a broker, by the broker's major version; no dashboard understands both."""


class ContainersCluster(ServerCluster):
    """A name server, brokers, for 5.x the proxy, and a dashboard on request: a container each.

    Every one has a fixed address on the cluster's own network, which this host reaches, and which it keeps when
    it is started again. Nothing but the dashboard's page is published, on loopback. An engine in a VM has them
    publish their ports too, for this host alone (`harness.rocketmq.reach`).
    """

    kind = "containers"

    def __init__(
        self,
        version: str,
        timing: TimingProfile,
        folder: Path,
        *,
        owner: str,
        engine: Engine,
        images: Images,
        needs: ClusterNeeds = USUAL,
        delayed: Sequence[str] = (),
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """As `ServerCluster`, and:

        Args:
            engine: where the containers run.
            images: which images are chosen.
            delayed: brokers whose answers can be delayed.
        """
        super().__init__(version, timing, folder, owner=owner, needs=needs, progress=progress)
        self.engine = engine
        self._subnet: Subnet | None = None
        self._images = images
        self._dashboard_version = needs.dashboard
        if needs.dashboard == DASHBOARD_DEFAULT:
            self._dashboard_version = _DASHBOARDS[versions.parse(version)[0]]
        self._image: Image | None = None
        self._dashboard_image: Image | None = None
        self._by_name = needs.advertise == "hostname"
        self._delayed = tuple(delayed)
        self._toxiproxy_image: Image | None = None
        self._toxiproxies: dict[str, Toxiproxy] = {}
        self._sidecars = Sidecars(engine, lambda: images.worker().name, owner, self._id)
        self._worker_image: Image | None = None
        self._homes: list[InContainers] = []
        self._places: list[ContainerPlace] = []
        self._lock = threading.RLock()

    @property
    def subnet(self) -> Subnet | None:
        """Its network, while it is up."""
        return self._subnet

    @property
    def dashboard_version(self) -> str | None:
        """The version of the dashboard; None if none was asked for."""
        return self._dashboard_version

    @property
    def images(self) -> Mapping[str, str]:
        """The ids of the images that it runs, by name."""
        images = (self._image, self._dashboard_image, self._toxiproxy_image, self._worker_image)
        users = self._places[0].images if self._places else {}
        return {image.name: image.id for image in images if image is not None} | users

    @property
    def dashboard(self) -> str | None:
        """The address of the dashboard's page, on loopback; None if there is none."""
        for server in self._servers:
            if isinstance(server, DashboardContainer):
                return server.url
        return None

    @property
    def hosts_file(self) -> Path | None:
        """The addresses of the names that brokers advertise, as in `/etc/hosts`; None: they advertise none."""
        return self.folder / "hosts" if self._by_name else None

    @property
    def sidecars(self) -> Sidecars:
        """What changes the networks of its containers, and of the workers on its network."""
        return self._sidecars

    def delay_line(self, broker: str) -> DelayLine:
        """What delays this broker's answers; see `Delayable`."""
        if broker in self._toxiproxies:
            return self._toxiproxies[broker]
        if broker not in self._delayed:
            raise KeyError(broker)
        return Netem(self._sidecars, lambda: self._place(broker))

    def _place(self, name: str) -> NetworkPlace:
        node = self._named(name).node
        assert node.container is not None
        return self._sidecars.place(name, node.container, node.address)

    @property
    def only_inside(self) -> bool:
        """Its engine is in a VM; see `Networked`."""
        return self.engine.in_vm

    def worker_home(self) -> WorkerHome:
        """Where workers live in containers of their own, on the network of the servers.

        Raises:
            EnvironmentNotReady: there is no image for them.
        """
        with self._lock:
            if not self._homes:
                place = self.place()
                self._worker_image = self._images.worker()
                self._homes.append(
                    InContainers(
                        self.engine,
                        self._worker_image.name,
                        place.subnet,
                        owner=self.owner,
                        run=self._id,
                        addresses=place.addresses,
                    )
                )
            return self._homes[0]

    def place(self) -> ContainerPlace:
        """The network of the servers, for containers of other images."""
        with self._lock:
            if not self._places:
                assert self._subnet is not None
                self._places.append(
                    ContainerPlace(self.engine, self._subnet, Addresses(self._subnet), self.owner, self._id)
                )
            return self._places[0]

    def stop(self) -> None:
        """Remove every container, and the network."""
        self._sidecars.close()
        super().stop()
        while self._toxiproxies:
            self._toxiproxies.popitem()[1].remove()
        if self._subnet is not None:
            with contextlib.suppress(NotFound):
                self._subnet.network.remove()
            self._subnet = None

    def _prepare(self) -> None:
        self._image = self._images.rocketmq(self.version)
        if self._dashboard_version is not None:
            self._dashboard_image = self._images.dashboard(self._dashboard_version)
        if self._delayed and choose_mechanism(self.engine, self._images, self.owner, self._id) == "toxiproxy":
            self._toxiproxy_image = self._images.toxiproxy()

    def _lay_out(self) -> Sequence[Server]:
        shutil.rmtree(self.folder, ignore_errors=True)
        prefix = MANY_PREFIX if self.only_inside else PREFIX
        self._subnet = make_network(
            self.engine, self._container_name("network"), self._labels("network"), prefix
        )
        addresses = map(self._subnet.address, range(2, 2 + self._most_nodes))
        nameserver = Site(next(addresses), _NAMESERVER_PORT, _STORE)
        servers: list[Server] = [self._server(NAMESERVER, "nameserver", nameserver, nameserver.address, None)]
        masters: list[tuple[str, str | None]] = [(name, None) for name in self._needs.brokers]
        for name, master in (*masters, *((f"{name}{SLAVE_SUFFIX}", name) for name in self._needs.slaves)):
            site = Site(next(addresses), _BROKER_PORT, _STORE, self._advertised_host(name, addresses))
            if self._toxiproxy_image is not None and name in self._delayed:
                self._put_before(name, site, self._toxiproxy_image)
            servers.append(self._server(name, "broker", site, nameserver.address, master))
        if versions.has_proxy(self.version):
            servers.append(self._proxy(Site(next(addresses), _PROXY_PORT, _STORE), nameserver.address))
        if self.hosts_file is not None:
            lines = [
                f"{server.address.partition(':')[0]} {server.registered.partition(':')[0]}"
                for server in servers
            ]
            self.hosts_file.write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
        if self._dashboard_image is not None:
            servers.append(self._dashboard(self._dashboard_image, next(addresses), nameserver.address))
        return servers

    @property
    def _most_nodes(self) -> int:
        return 3 + len(self._needs.brokers) + len(self._needs.slaves) + len(self._delayed)

    def _advertised_host(self, broker: str, addresses: Iterator[str]) -> str | None:
        """What clients use instead of the broker's address."""
        if self._by_name:
            return self._container_name(broker)
        if self._toxiproxy_image is None or broker not in self._delayed:
            return None
        return next(addresses)

    def _server(
        self, name: str, role: str, site: Site, nameserver: str, slave_of: str | None
    ) -> ServerContainer:
        """A name server or broker whose files are written."""
        file = self._configure(name, role, site, nameserver, slave_of)
        script = "mqnamesrv" if role == "nameserver" else "mqbroker"
        plan = self._plan(name, role, site, ["sh", script, "-c", str(FOLDER / file)])
        # A name only containers resolve; a proxy's address is the one by which everybody gets there.
        address = site.address if self._by_name else site.advertised
        return ServerContainer(
            name,
            role,
            address,
            self.folder / name,
            slave_of,
            site.advertised,
            engine=self.engine,
            plan=plan,
        )

    def _put_before(self, broker: str, site: Site, image: Image) -> None:
        """Toxiproxy at the address that the broker advertises; traffic to its slave does not go through it."""
        assert self._subnet is not None
        assert site.advertised_host is not None
        self._toxiproxies[broker] = Toxiproxy(
            self.engine,
            image.name,
            self._container_name(f"{broker}-toxiproxy"),
            self._labels("toxiproxy"),
            subnet=self._subnet,
            address=site.advertised_host,
            behind=site.host,
            ports=ports.broker_ports(site.port)[:2],
        )
        self._toxiproxies[broker].start()

    def _proxy(self, site: Site, nameserver: str) -> ProxyContainer:
        """The proxy of 5.x, in mode CLUSTER: a server of its own, for gRPC clients."""
        folder = self.folder / PROXY
        server_settings.write_logback(folder)
        proxy = Proxy("cluster", site.address, f"{site.host}:{_PROXY_REMOTING_PORT}")
        (folder / PROXY_FILE).write_text(
            server_settings.proxy_file(proxy, nameserver, self.timing.proxy), encoding="utf-8"
        )
        command = ["sh", "mqproxy", "-n", nameserver, "-pc", str(FOLDER / PROXY_FILE)]
        plan = self._plan(PROXY, "proxy", site, command, further_ports=[_PROXY_REMOTING_PORT])
        return ProxyContainer(
            PROXY, "proxy", site.address, folder, engine=self.engine, plan=plan, proxy=proxy
        )

    def _dashboard(self, image: Image, address: str, nameserver: str) -> DashboardContainer:
        folder = self.folder / "dashboard"
        folder.mkdir(parents=True)
        # 1.0.0 takes the name server from a system property, 2.x from a variable.
        java = f"-Xmx256m -XX:TieredStopAtLevel=1 -Dserver.port={_DASHBOARD_PORT}"
        environment = {
            "JAVA_OPTS": f"{java} -Drocketmq.namesrv.addr={nameserver}",
            "ROCKETMQ_CONFIG_NAMESRVADDRS_0": nameserver,
        }
        plan = ContainerPlan(
            image.name,
            self._container_name("dashboard"),
            self._labels("dashboard"),
            environment=environment,
            subnet=self._subnet,
            address=address,
            published=on_loopback([_DASHBOARD_PORT]),
        )
        return DashboardContainer(
            "dashboard", "dashboard", f"{address}:{_DASHBOARD_PORT}", folder, engine=self.engine, plan=plan
        )

    def _plan(
        self,
        name: str,
        role: str,
        site: Site,
        command: Sequence[str],
        further_ports: Sequence[int] = (),
    ) -> ContainerPlan:
        assert self._image is not None
        folder = self.folder / name
        # The image's user is another than this one: it writes its log there, and the broker its broker.conf.
        folder.chmod(0o777)
        for file in folder.iterdir():
            if file.is_file():
                file.chmod(0o666)
        home = PurePosixPath(self._image.rocketmq_home)
        program = {"nameserver": "namesrv"}.get(role, role)
        logback = {
            folder / "conf" / written.format(program): (str(home / "conf" / written.format(program)), "ro,z")
            for written in LOGBACK_FILES
        }
        return ContainerPlan(
            self._image.name,
            self._container_name(name),
            self._labels(role),
            command=command,
            environment={
                "JAVA_OPT_EXT": " ".join(
                    server_settings.portable_jvm_arguments(FOLDER / "server.log", tls=self._needs.tls)
                )
            },
            mounts={folder: (str(FOLDER), "rw,z"), **logback},
            subnet=self._subnet,
            address=site.host,
            published=on_loopback([site.port, *further_ports] if self.only_inside else []),
        )

    def _container_name(self, node: str) -> str:
        return f"rocketchaos-{self._id}-{re.sub(r'[^a-zA-Z0-9_.-]', '_', node)}"

    def _labels(self, role: str) -> dict[str, str]:
        return labels_of(self.owner, role, self._id)

    @property
    def _id(self) -> str:
        """The part that all its containers' names have."""
        return self.owner[-6:]
