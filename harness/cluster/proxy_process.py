"""The proxy of 5.x in a JVM process of this host: with its broker, or alone."""

from rocketchaos.harness.cluster.proxy_server import ProxyServer
from rocketchaos.harness.cluster.server_process import ServerProcess


class ProxyProcess(ProxyServer, ServerProcess):
    """A JVM with a proxy; in mode LOCAL it is the broker too, which has its role."""

    @property
    def reason_may_pass(self) -> bool:
        """Whether it ended as the proxy of a container may: before a broker made the topic that it needs."""
        return super().reason_may_pass or (
            self.proxy.mode == "cluster" and "create system broadcast topic" in self.printed()
        )
