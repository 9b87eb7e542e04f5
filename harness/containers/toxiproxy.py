"""Toxiproxy in front of a server: it has the address that clients use, and can let them wait for answers."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import requests
import tenacity
from docker.errors import NotFound
from docker.models.containers import Container

from rocketchaos.harness.containers.container_engine import Engine, refusals
from rocketchaos.harness.containers.launch import ContainerPlan, Subnet, on_loopback, published_ports, start
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.rocketmq import reach

API_PORT = 8474
_READY_LIMIT_S = 20.0
_ANSWER_LIMIT_S = 5.0
_TOXIC = "rocketchaos"


class Toxiproxy:
    """One container that forwards some ports of its address to the same ports of another address."""

    def __init__(
        self,
        engine: Engine,
        image: str,
        name: str,
        labels: Mapping[str, str],
        *,
        subnet: Subnet,
        address: str,
        behind: str,
        ports: Sequence[int],
    ) -> None:
        """
        Args:
            engine: where it runs.
            image: Toxiproxy 2.x, whose entry point is its server.
            name: of the container.
            labels: of the container.
            subnet: its network.
            address: its own, which clients use.
            behind: the address to which it forwards.
            ports: those that it forwards.
        """
        self.address = address
        self._engine, self._ports, self._behind = engine, tuple(ports), behind
        self._plan = ContainerPlan(
            image=image,
            name=name,
            labels=labels,
            command=["-host=0.0.0.0"],
            subnet=subnet,
            address=address,
            published=on_loopback([API_PORT, *ports] if engine.in_vm else []),
        )
        self._container: Container | None = None
        self._api = f"http://{address}:{API_PORT}"

    mechanism = "Toxiproxy"

    def start(self) -> None:
        """Start it, and have it forward.

        Raises:
            EnvironmentNotReady: it can't be started, or doesn't answer in time.
        """
        self._container = start(self._engine, self._plan)
        if self._plan.published:
            self._container.reload()
            published = published_ports(self._container)
            self._api = f"http://{published[API_PORT]}"
            reach.publish(self.address, published)
        self._await_answer()
        for port in self._ports:
            self._ask(
                "POST",
                "/proxies",
                {"name": str(port), "listen": f"0.0.0.0:{port}", "upstream": f"{self._behind}:{port}"},
            )

    def set(self, delay_ms: int, jitter_ms: int) -> None:
        """Whatever comes from behind waits so long, give or take the jitter, before it is handed on."""
        for port in self._ports:
            self._ask(
                "POST",
                f"/proxies/{port}/toxics",
                {
                    "name": _TOXIC,
                    "type": "latency",
                    "stream": "downstream",
                    "attributes": {"latency": delay_ms, "jitter": jitter_ms},
                },
            )

    def clear(self) -> None:
        """Nothing waits any more. Idempotent."""
        for port in self._ports:
            self._ask("DELETE", f"/proxies/{port}/toxics/{_TOXIC}", accepted=(requests.codes.not_found,))

    def remove(self) -> None:
        """Remove it. Idempotent."""
        if self._container is not None:
            with refusals(f"{self._plan.name} can't be removed"), contextlib.suppress(NotFound):
                self._container.remove(force=True, v=True)
            self._container = None
            reach.withdraw(self.address)

    def _await_answer(self) -> None:
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(requests.ConnectionError),
            wait=tenacity.wait_fixed(0.05),
            stop=tenacity.stop_after_delay(_READY_LIMIT_S),
        )
        try:
            retrying(requests.get, f"{self._api}/version", timeout=_ANSWER_LIMIT_S)
        except tenacity.RetryError as error:
            assert self._container is not None
            printed = self._container.logs(tail=5).decode(errors="replace").strip()
            raise EnvironmentNotReady(
                f"Toxiproxy doesn't answer at {self._api} within {_READY_LIMIT_S:g} s: {printed}",
                "Its image must start Toxiproxy's server, version 2.x.",
            ) from error

    def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, accepted: Sequence[int] = ()
    ) -> None:
        try:
            answer = requests.request(method, self._api + path, json=body, timeout=_ANSWER_LIMIT_S)
        except requests.RequestException as error:
            raise EnvironmentNotReady(
                f"Toxiproxy doesn't answer: {error}", "See its container's log."
            ) from error
        if not answer.ok and answer.status_code not in accepted:
            raise EnvironmentNotReady(
                f"Toxiproxy refused {method} {path}: {answer.status_code} {answer.text.strip()[:300]}",
                "See its container's log.",
            )
