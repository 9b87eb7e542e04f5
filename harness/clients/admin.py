"""The admin client: rocketmq-tools of the broker's own version, and raw remoting commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rocketchaos.harness.clients.access import keys_of
from rocketchaos.harness.language.topic import attributes_of
from rocketchaos.harness.rocketmq.properties import Value
from rocketchaos.harness.workers.worker import Worker

ANSWER_LIMIT_S = 15.0
START_LIMIT_S = 30.0


class Admin:
    """Typed calls of the admin worker; see `harness.workers.protocol` for the answers.

    Every call raises `WorkerFailed` with RocketMQ's response code where the server refused it.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def connect(self, nameserver: str, instance: str, access: Mapping[str, Any] | None = None) -> None:
        """Start the client against a cluster; it signs its requests by `access` (`access_of`)."""
        self._worker.wait_ready(START_LIMIT_S)
        given = {} if access is None else {"access": access}
        self._call("connect", nameserver=nameserver, instance=instance, **given)

    def cluster(self) -> list[dict[str, Any]]:
        """The brokers (masters): `name`, `address`."""
        brokers: list[dict[str, Any]] = self._call("cluster")["brokers"]
        return brokers

    def create_topic(self, topic: str, settings: Mapping[str, Value], broker_addresses: list[str]) -> None:
        """Create a topic on each of these brokers, or change it; `settings` are its TopicConfig."""
        attributes = attributes_of(settings)
        own = {name: value for name, value in settings.items() if name not in attributes}
        self._call(
            "create-topic",
            topic=topic,
            settings=own,
            attributes=attributes,
            broker_addresses=broker_addresses,
        )

    def route(self, topic: str) -> Mapping[str, Any]:
        """What the name server knows of a topic."""
        return self._call("route", topic=topic)

    def connection(self, group: str, broker_address: str) -> Mapping[str, Any]:
        """A broker's connections and subscriptions of a group (203)."""
        return self._call("connection", group=group, broker_address=broker_address)

    def running_info(
        self, group: str, client_id: str, broker_address: str, timeout_ms: int
    ) -> Mapping[str, Any]:
        """A consumer's own report of its subscriptions and queues (307)."""
        return self._call(
            "running-info",
            group=group,
            client_id=client_id,
            broker_address=broker_address,
            timeout_ms=timeout_ms,
        )

    def consumer_status(self, group: str, broker_address: str) -> Mapping[str, Any]:
        """Whether RocketMQ's tools find the members' subscriptions `alike`, and whose: `members`."""
        return self._call("consumer-status", group=group, broker_address=broker_address)

    def offsets(self, group: str, topic: str) -> Mapping[str, Any]:
        """Where a topic's queues end, and what the group has stored."""
        return self._call("offsets", group=group, topic=topic)

    def tracks(self, topic: str, offset_msg_id: str) -> Mapping[str, Any]:
        """What RocketMQ's tools say became of a message (messageTrackDetail)."""
        return self._call("tracks", topic=topic, offset_msg_id=offset_msg_id)

    def find_message(self, topic: str, msg_id: str) -> Mapping[str, Any] | None:
        """Where the message with this unique id lies: `broker, queue_id, queue_offset, offset_msg_id`; or None."""
        found: Mapping[str, Any] | None = self._call("find-message", topic=topic, msg_id=msg_id)["message"]
        return found

    def raw(
        self, address: str, code: int, fields: Mapping[str, str], body: str | None, timeout_ms: int
    ) -> Mapping[str, Any]:
        """Any remoting request, and its answer: `code`, `remark`, `fields`, `body` or `body_base64`."""
        return self._call(
            "raw", address=address, code=code, fields=dict(fields), body=body, timeout_ms=timeout_ms
        )

    def mqadmin(self, arguments: Sequence[str], limit_s: float, account: str | None) -> Mapping[str, Any]:
        """One command of `mqadmin`, signed as this account, or unsigned.

        Returns:
            `{exit_code, output, seconds}`; the exit code is None if it was killed after the limit.
        """
        access = {} if account is None else {"access": keys_of(account)}
        return self._worker.request(
            "mqadmin", ANSWER_LIMIT_S + limit_s, arguments=list(arguments), limit_s=limit_s, **access
        )

    def _call(self, do: str, **arguments: Any) -> dict[str, Any]:
        return self._worker.request(do, ANSWER_LIMIT_S, **arguments)

    def release(self) -> None:
        """End its process."""
        self._worker.release()
