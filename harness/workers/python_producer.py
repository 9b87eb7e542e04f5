"""One Producer of rocketmq-client-python inside the `python` worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.workers.protocol import CommandFailed
from harness.workers.python_client import checked, client_id, instance_name
from harness.workers.python_library import NativeClient


class Producer:
    """A producer: made, not started."""

    def __init__(
        self, client: NativeClient, *, group: str, nameserver: str, client_ip: str, instance: str
    ) -> None:
        self._client = client
        self._instance = instance_name(client_ip, instance)
        self._producer = client.module.Producer(group)
        self._producer.set_name_server_address(nameserver)
        client.module.dll.SetProducerInstanceName(self._producer._handle, self._instance.encode())

    @property
    def client_id(self) -> str:
        """The id under which brokers know it."""
        return client_id(self._instance)

    def start(self) -> None:
        """Start it."""
        checked(self._client, self._producer.start)

    def stop(self) -> None:
        """Shut it down gracefully."""
        checked(self._client, self._producer.shutdown)

    def route(self, topic: str) -> Mapping[str, Any]:
        """Not there."""
        raise CommandFailed(f"rocketmq-client-python doesn't tell what it knows of the route of {topic}")

    def send(self, *arguments: Any) -> Mapping[str, Any]:
        """Send one message."""
        raise CommandFailed(f"not yet {len(arguments)}")
