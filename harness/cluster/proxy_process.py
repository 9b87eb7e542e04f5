"""The proxy of 5.x in a JVM process of this host: beside its broker, or alone."""

from __future__ import annotations

from typing import Any, ClassVar

from harness.cluster import readiness
from harness.cluster.base import Proxy
from harness.cluster.server_process import ServerProcess

STARTED = "proxy startup successfully"
"""What `ProxyStartup` says last, the broker in its process included."""


class ProxyProcess(ServerProcess):
    """A JVM with a proxy; in mode LOCAL it is the broker too, which has its role."""

    says: ClassVar[str] = STARTED

    def __init__(self, *arguments: Any, proxy: Proxy, **named: Any) -> None:
        """As `ServerProcess`; `proxy` is how clients reach it."""
        super().__init__(*arguments, **named)
        self.proxy = proxy

    @property
    def reason_may_pass(self) -> bool:
        """Whether it ended as the proxy of a container may: before a broker made the topic that it needs."""
        return super().reason_may_pass or (
            self.proxy.mode == "cluster" and "create system broadcast topic" in self.printed()
        )

    def why_not_up(self) -> str | None:
        """It says so; and it speaks gRPC with whoever connects."""
        return super().why_not_up() or readiness.why_no_grpc(self.proxy.grpc_endpoint)
