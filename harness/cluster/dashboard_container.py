"""The dashboard as a container: up once it answers what it is there for."""

from __future__ import annotations

import requests

from harness.cluster.server_container import ServerContainer

_LIMIT_S = 10


class DashboardContainer(ServerContainer):
    """RocketMQ's dashboard; its page is published on loopback."""

    @property
    def url(self) -> str | None:
        """Where its page is, `http://127.0.0.1:port`; None before it is started."""
        if self._container is None:
            return None
        (published,) = self._container.attrs["NetworkSettings"]["Ports"].values()
        return f"http://{published[0]['HostIp']}:{published[0]['HostPort']}"

    def why_not_up(self) -> str | None:
        try:
            answer = requests.get(f"{self.url}/cluster/list.query", timeout=_LIMIT_S)
            answer.raise_for_status()
            status = answer.json()["status"]
        except (requests.RequestException, ValueError, KeyError, TypeError) as error:
            return f"it doesn't answer ({type(error).__name__})"
        return None if status == 0 else f"it answers with status {status}"
