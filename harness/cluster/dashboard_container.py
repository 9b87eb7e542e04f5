"""The dashboard as a container: up once it answers what it is there for."""

from rocketchaos.harness.clients.dashboard import why_not_ready
from rocketchaos.harness.cluster.server_container import ServerContainer
from rocketchaos.harness.containers.launch import published_ports


class DashboardContainer(ServerContainer):
    """RocketMQ's dashboard; its page is published on loopback."""

    @property
    def url(self) -> str | None:
        """Where its page is, `http://127.0.0.1:port`; None before it is published."""
        if self._container is None:
            return None
        published = next(iter(published_ports(self._container).values()), None)
        return None if published is None else f"http://{published}"

    def why_not_up(self) -> str | None:
        return "its page isn't published" if self.url is None else why_not_ready(self.url)
