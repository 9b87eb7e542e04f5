"""The proxy of 5.x, wherever it runs: in a process of this host or in a container, alone or with its broker."""

from __future__ import annotations

from typing import Any, ClassVar

from rocketchaos.harness.cluster import readiness
from rocketchaos.harness.cluster.base import Proxy
from rocketchaos.harness.cluster.server import Server


class ProxyServer(Server):
    """What is added to a server that is a proxy; to be named before the class that says where it runs."""

    says: ClassVar[str] = "proxy startup successfully"
    """What `ProxyStartup` says last, the broker in its process included."""

    def __init__(self, *arguments: Any, proxy: Proxy, **named: Any) -> None:
        """As the server that it is; `proxy` is how clients reach it."""
        super().__init__(*arguments, **named)
        self.proxy = proxy

    def why_not_up(self) -> str | None:
        """Its log says that it is ready; and it accepts gRPC connections."""
        return super().why_not_up() or readiness.why_no_grpc(self.proxy.grpc_endpoint)
