"""The dashboard as a container: up once it answers what it is there for."""

from __future__ import annotations

from harness.clients.dashboard import why_not_ready
from harness.cluster.server_container import ServerContainer


class DashboardContainer(ServerContainer):
    """RocketMQ's dashboard; its page is published on loopback."""

    @property
    def url(self) -> str | None:
        """Where its page is, `http://127.0.0.1:port`; None before it is published."""
        if self._container is None:
            return None
        # An image may expose other ports besides, as for both versions; those are not published.
        ports = self._container.attrs["NetworkSettings"]["Ports"].values()
        published = next((found[0] for found in ports if found), None)
        return None if published is None else f"http://{published['HostIp']}:{published['HostPort']}"

    def why_not_up(self) -> str | None:
        return "its page isn't published" if self.url is None else why_not_ready(self.url)
