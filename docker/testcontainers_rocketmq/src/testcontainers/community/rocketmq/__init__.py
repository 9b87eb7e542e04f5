"""RocketMQ for tests: a name server, a broker and, on request, a proxy in one container."""

from __future__ import annotations

import itertools
import json
import random
import re
import socket
import struct
from collections.abc import Mapping
from textwrap import dedent
from typing import Any

from docker.errors import APIError
from testcontainers.core.container import DockerContainer
from testcontainers.core.waiting_utils import WaitStrategy, WaitStrategyTarget
from typing_extensions import Self  # noqa: UP035 - testcontainers runs on Python 3.10, too

__all__ = ["RocketMQContainer"]

CLUSTER = "DefaultCluster"
NAMESRV_PORT = 9876
_GET_ROUTEINFO_BY_TOPIC = 105
_SUCCESS, _TOPIC_NOT_EXIST = 0, 17
_BROKER_PORTS = range(20_000, 26_000)
_PROXY_PORTS = range(26_100, 32_000)
"""Apart from each other, because a broker also listens on the ports below and above its own."""
_PORT_ATTEMPTS = 10
_ANSWER_LIMIT_S = 5.0
_HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_EMPTY_SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


class RocketMQContainer(DockerContainer):
    """
    RocketMQ container: a name server and a broker; with :code:`proxy=True` (RocketMQ 5) the gRPC proxy, too.

    Clients learn the broker's address from the name server. So the broker registers the address and the port by
    which it is reached from outside; inside the container it listens on the same port.

    Example:

        .. doctest::

            >>> from testcontainers.community.rocketmq import RocketMQContainer

            >>> with RocketMQContainer("apache/rocketmq:5.3.3") as rocketmq:
            ...     namesrv = rocketmq.get_namesrv_address()

    Args:
        image: Any image that keeps the contract of apache/rocketmq, 4.9 or 5.
        proxy: Whether the broker's process also has the proxy, for gRPC clients.
        broker_config: Further lines of broker.conf, by RocketMQ's names.
        advertised_host: The address at which clients reach the broker, default the engine's host. Clients in other
            containers need the address of this container on their network.
        startup_timeout: The timeout for the registration of the broker, in seconds.
    """

    def __init__(
        self,
        image: str = "apache/rocketmq:5.3.3",
        *,
        proxy: bool = False,
        broker_config: Mapping[str, str] | None = None,
        advertised_host: str | None = None,
        startup_timeout: int = 120,
        **kwargs: Any,
    ) -> None:
        super().__init__(image, **kwargs)
        self.proxy = proxy
        self.broker_port = 0
        self.proxy_port = 0
        self._broker_config = dict(broker_config or {})
        self._advertised_host = advertised_host
        self._startup_timeout = startup_timeout
        self.with_exposed_ports(NAMESRV_PORT)

    def start(self) -> Self:
        """
        Start it, and return once the name server knows the route to the broker, and the proxy answers.

        Raises:
            TimeoutError: It isn't ready in time; the message has the last state.
            RuntimeError: A server has ended; the message has its last lines.
        """
        script = "/tmp/tc-start.sh"
        self.with_command(["sh", "-c", f"while [ ! -f {script} ]; do sleep 0.1; done; exec sh {script}"])
        self._start_on_free_ports()
        host = self._advertised_host or self.get_container_host_ip()
        address = socket.gethostbyname(host)
        self.copy_into_container(self._broker_conf(address).encode(), "/tmp/broker.conf")
        self.copy_into_container(self._proxy_json().encode(), "/tmp/rmq-proxy.json")
        self.copy_into_container(self._start_script().encode(), script)
        ready = _RocketMQWaitStrategy(
            f"{address}:{self.broker_port}", self.proxy_port if self.proxy else None
        )
        ready.with_startup_timeout(self._startup_timeout).with_poll_interval(0.2).wait_until_ready(self)
        return self

    def get_namesrv_address(self) -> str:
        """What clients take as the name server's address: :code:`host:port`."""
        return f"{self.get_container_host_ip()}:{self.get_exposed_port(NAMESRV_PORT)}"

    def get_broker_address(self) -> str:
        """Where the broker is, as it is registered: :code:`ip:port`."""
        host = self._advertised_host or self.get_container_host_ip()
        return f"{socket.gethostbyname(host)}:{self.broker_port}"

    def get_proxy_endpoint(self) -> str:
        """
        The proxy's gRPC endpoint for clients of RocketMQ 5: :code:`host:port`.

        Raises:
            ValueError: The container was made without :code:`proxy=True`.
        """
        if not self.proxy:
            raise ValueError("this container has no proxy: RocketMQContainer(proxy=True)")
        return f"{self.get_container_host_ip()}:{self.get_exposed_port(self.proxy_port)}"

    def _start_on_free_ports(self) -> None:
        """A broker registers the port on which it listens: inside and outside it must be the same one."""
        always = dict(self.ports)
        for attempt in itertools.count(1):
            self.broker_port = random.choice(_BROKER_PORTS)
            self.proxy_port = random.choice(_PROXY_PORTS)
            self.ports = dict(always)
            self.with_bind_ports(self.broker_port, self.broker_port)
            if self.proxy:
                self.with_bind_ports(self.proxy_port, self.proxy_port)
            try:
                super().start()
            except APIError as error:
                if not _port_is_taken(error) or attempt == _PORT_ATTEMPTS:
                    raise
                if self._container:
                    self._container.remove(force=True, v=True)
            else:
                return

    def _broker_conf(self, address: str) -> str:
        settings = {
            "brokerClusterName": CLUSTER,
            "brokerName": "broker-a",
            "brokerId": "0",
            "namesrvAddr": f"127.0.0.1:{NAMESRV_PORT}",
            "brokerIP1": address,
            "listenPort": str(self.broker_port),
            "autoCreateTopicEnable": "true",
            "autoCreateSubscriptionGroup": "true",
            # A machine whose disk is rather full would be refused.
            "diskMaxUsedSpaceRatio": "98",
            "mappedFileSizeCommitLog": str(64 * 1024 * 1024),
            **self._broker_config,
        }
        return "".join(f"{name}={value}\n" for name, value in settings.items())

    def _proxy_json(self) -> str:
        return json.dumps({"rocketMQClusterName": CLUSTER, "grpcServerPort": self.proxy_port})

    def _start_script(self) -> str:
        server = (
            "mqproxy -pm local -bc /tmp/broker.conf -pc /tmp/rmq-proxy.json"
            if self.proxy
            else "mqbroker -c /tmp/broker.conf"
        )
        # The images' own heaps have up to 8 GiB; what with_env("JAVA_OPT_EXT", …) says wins.
        return dedent(
            f"""\
            JAVA_OPT_EXT="-Xms64m -Xmx128m -Xmn32m" sh mqnamesrv &
            export JAVA_OPT_EXT="${{JAVA_OPT_EXT:--Xms256m -Xmx512m -Xmn128m}}"
            exec sh {server} -n 127.0.0.1:{NAMESRV_PORT}
            """
        )


class _RocketMQWaitStrategy(WaitStrategy):
    """Waits until the name server has a route to the broker at this address, and the proxy, if any, answers."""

    def __init__(self, broker: str, proxy_port: int | None) -> None:
        super().__init__()
        self._broker = broker
        self._proxy_port = proxy_port

    def wait_until_ready(self, container: WaitStrategyTarget) -> None:
        # With no time at all, nothing is ever asked: that is not ready either.
        missing = "the name server wasn't asked"

        def ready_or_ended() -> bool:
            nonlocal missing
            missing = self._missing(container)
            container.reload()
            return not missing or container.status != "running"

        in_time = self._poll(ready_or_ended)
        if missing and in_time:
            raise RuntimeError(f"RocketMQ ended while it started: {_last_lines(container)}")
        if missing:
            raise TimeoutError(
                f"RocketMQ isn't ready within {self._startup_timeout:g} s: {missing}. "
                f"Last lines: {_last_lines(container)}"
            )

    def _missing(self, container: WaitStrategyTarget) -> str:
        host = container.get_container_host_ip()
        try:
            brokers = _brokers(host, int(container.get_exposed_port(NAMESRV_PORT)))
        except (OSError, ValueError) as error:
            return f"the name server doesn't answer: {error}"
        if self._broker not in brokers:
            return f"broker {self._broker} isn't registered, only {brokers}"
        if self._proxy_port is None:
            return ""
        try:
            _greet_proxy(host, int(container.get_exposed_port(self._proxy_port)))
        except OSError as error:
            return f"the proxy doesn't answer: {error}"
        return ""


def _greet_proxy(host: str, port: int) -> None:
    """Begin HTTP/2, and wait for the server's settings: the engine accepts connections for a port by itself.

    Raises:
        OSError: nobody answers.
    """
    with socket.create_connection((host, port), timeout=_ANSWER_LIMIT_S) as connection:
        connection.sendall(_HTTP2_PREFACE + _EMPTY_SETTINGS)
        if not connection.recv(1):
            raise ConnectionError("the connection was closed")


def _brokers(host: str, port: int) -> list[str]:
    """The addresses in the route of the topic that every broker creates under the name of its cluster.

    It speaks RocketMQ's remoting protocol, `RemotingCommand`, so that no client is needed: a length, the header's
    length, the header as JSON, the body as JSON.

    Raises:
        OSError, ValueError: there is no answer, or it is not valid.
    """
    request = {
        "code": _GET_ROUTEINFO_BY_TOPIC,
        "language": "OTHER",
        "version": 0,
        "opaque": 1,
        "flag": 0,
        "extFields": {"topic": CLUSTER},
    }
    header = json.dumps(request).encode()
    with socket.create_connection((host, port), timeout=_ANSWER_LIMIT_S) as connection:
        connection.sendall(struct.pack(">ii", 4 + len(header), len(header)) + header)
        with connection.makefile("rb") as answer:
            (length,) = struct.unpack(">i", _exactly(answer, 4))
            frame = _exactly(answer, length)
    # The highest byte is the encoding of the header: 0 is JSON.
    (header_length,) = struct.unpack(">i", frame[:4])
    header_length &= 0xFFFFFF
    head = json.loads(frame[4 : 4 + header_length])
    if head["code"] == _TOPIC_NOT_EXIST:
        return []
    if head["code"] != _SUCCESS:
        raise ValueError(f"code {head['code']}: {head.get('remark')}")
    return _addresses(frame[4 + header_length :].decode())


def _addresses(body: str) -> list[str]:
    """Of `TopicRouteData`, whose numbers as keys have no quotes: `{"brokerAddrs":{0:"127.0.0.1:10911"}}`."""
    tables = re.findall(r'"brokerAddrs":\{([^}]*)\}', body)
    return [address for table in tables for address in re.findall(r':\s*"([^"]+)"', table)]


def _exactly(stream: Any, count: int) -> bytes:
    data: bytes = stream.read(count)
    if len(data) < count:
        raise ValueError("the connection was closed")
    return data


def _last_lines(container: WaitStrategyTarget) -> str:
    out, err = container.get_logs()
    return " | ".join((out + err).decode(errors="replace").splitlines()[-5:])


def _port_is_taken(error: APIError) -> bool:
    text = str(error.explanation or error).lower()
    return "port is already allocated" in text or "address already in use" in text
