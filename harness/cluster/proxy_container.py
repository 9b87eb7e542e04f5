"""The proxy of 5.x as a container."""

from __future__ import annotations

from typing import Any, ClassVar

from harness.cluster import readiness
from harness.cluster.base import Proxy
from harness.cluster.proxy_process import STARTED
from harness.cluster.server_container import ServerContainer


class ProxyContainer(ServerContainer):
    """A proxy in mode CLUSTER, started once the brokers are registered."""

    says: ClassVar[str] = STARTED

    def __init__(self, *arguments: Any, proxy: Proxy, **named: Any) -> None:
        """As `ServerContainer`; `proxy` is how clients reach it."""
        super().__init__(*arguments, **named)
        self.proxy = proxy

    def why_not_up(self) -> str | None:
        """It says so; and it speaks gRPC with whoever connects."""
        return super().why_not_up() or readiness.why_no_grpc(self.proxy.grpc_endpoint)

    @property
    def reason_may_pass(self) -> bool:
        """Yes: first of all it has a broker create a topic, and ends where the broker doesn't answer in time.

        A busy machine brings that about (`HeartbeatSyncer`, `ProxyStartup`, exit code 1; 5.5.0).
        """
        return True
