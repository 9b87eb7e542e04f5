"""The proxy of 5.x, wherever it runs: in a process of this host or in a container, alone or with its broker."""

from typing import Any, ClassVar

from rocketchaos.harness.cluster import readiness
from rocketchaos.harness.cluster.base import Proxy
from rocketchaos.harness.cluster.server import Server


class ProxyServer(Server):
    """The additions that make a server a proxy. Name this class before the one that says where it runs."""

    says: ClassVar[str] = "proxy startup successfully"
    """The last line of `ProxyStartup`'s start, after the broker in its process."""

    def __init__(self, *arguments: Any, proxy: Proxy, **named: Any) -> None:
        """As the server that it is; `proxy` is how clients reach it."""
        super().__init__(*arguments, **named)
        self.proxy = proxy

    def why_not_up(self) -> str | None:
        """Its log says that it is ready; and it accepts gRPC connections."""
        return super().why_not_up() or readiness.why_no_grpc(self.proxy.grpc_endpoint)
