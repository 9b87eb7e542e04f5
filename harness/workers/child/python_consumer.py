"""One PushConsumer of rocketmq-client-python in the `python` worker, with a listener that reports every message.

Rests on rocketmq.client of rocketmq-client-python 2.0.0, and on DefaultMQPushConsumer and
ConsumeMessageConcurrentlyService of the C++ client 1.x. The concurrent service takes everything that one pull has
found as one batch, and the C API calls its listener for one message after the other, until one fails. What fails
then is the batch: all of it comes again, also what succeeded before.
"""

import traceback
from collections.abc import Mapping
from typing import Any

from rocketchaos.harness.workers.child.listener import Abandoned, Described, Listener
from rocketchaos.harness.workers.child.name_server import NameServer
from rocketchaos.harness.workers.child.python_client import (
    checked,
    client_id,
    instance_name,
    offset_msg_id,
    sign,
)
from rocketchaos.harness.workers.child.python_library import NativeClient
from rocketchaos.harness.workers.protocol import CommandFailed, EventPipe

_PLAIN: Mapping[str, Any] = {
    "api": "push",
    "consume_from": "first-offset",
    "strategy": {"name": "average", "queues": [], "rooms": []},
    "retry_delay_level": 0,
}
"""What is fixed. It begins with the last offset, by CreatePushConsumer; but to a group without an offset of a
queue whose first message is still there brokers answer 0, which is the first (ConsumerManageProcessor)."""


class PushConsumer:
    """A push consumer: made, but not started.

    Raises:
        CommandFailed: it can't be as it is wanted.
    """

    def __init__(
        self,
        client: NativeClient,
        events: EventPipe,
        *,
        name: str,
        group: str,
        nameserver: str,
        client_ip: str,
        instance: str,
        subscribe: Mapping[str, Any],
        settings: Mapping[str, Any],
        model: str = "clustering",
        listener: str = "concurrent",
        behaviour: Mapping[str, Any] | None = None,
        access: Mapping[str, Any] | None = None,
        **fixed: Any,
    ) -> None:
        for what, value in fixed.items():
            if what not in _PLAIN or value != _PLAIN[what]:
                raise CommandFailed(f"rocketmq-client-python has no `{what}` that could be {value}")
        self._client = client
        self._instance = instance_name(client_ip, instance)
        self._name_server = NameServer(nameserver)
        self._listener = Listener(name, events, **(behaviour or {}))
        module = client.module
        self._statuses = module.ConsumeStatus
        models = module.MessageModel
        self._consumer = module.PushConsumer(
            group,
            orderly=listener == "orderly",
            message_model=models.BROADCASTING if model == "broadcasting" else models.CLUSTERING,
        )
        self._consumer.set_name_server_address(nameserver)
        self._consumer.set_instance_name(self._instance)
        sign(self._consumer, access)
        for setting, value in _settings(settings).items():
            getattr(self._consumer, setting)(value)
        for topic, expression in subscribe.items():
            if not isinstance(expression, str):
                raise CommandFailed("rocketmq-client-python subscribes by tags alone, not by SQL")
            self._consumer.subscribe(topic, self._consume, expression)

    @property
    def client_id(self) -> str:
        """The id under which brokers know it."""
        return client_id(self._instance)

    def versions(self) -> Mapping[str, int]:
        """Not there."""
        return {}

    def start(self) -> None:
        """Start it: it sends a heartbeat, and has its queues, before this returns.

        Raises:
            CommandFailed: the C++ client refuses.
        """
        checked(self._client, self._consumer.start)

    def stop(self) -> None:
        """Shut it down gracefully: offsets persisted, unregistered from the brokers.

        The C++ client waits for its listener; one that blocks fails then, without a report, and what it held comes
        again as a retry.
        """
        self._listener.abandon()
        checked(self._client, self._consumer.shutdown)

    def release(self) -> None:
        """Let its listener block no more."""
        self._listener.release()

    def subscribe(self, topic: str, expression: str | Mapping[str, str]) -> None:
        """Not there: `subscribe` of a running client changes a table that it never reads again."""
        raise CommandFailed(
            f"a running consumer of rocketmq-client-python can't subscribe to {topic} with {expression}"
        )

    def unsubscribe(self, topic: str) -> None:
        """Not there."""
        raise CommandFailed(f"rocketmq-client-python can't unsubscribe from {topic}")

    def assignment(self) -> list[Described]:
        """Not there; a broker can ask it (code 307)."""
        raise CommandFailed("rocketmq-client-python doesn't tell its queues itself")

    def pull_counts(self, topic: str) -> Mapping[str, int]:
        """Not there."""
        raise CommandFailed(f"rocketmq-client-python counts no pulls of {topic}")

    def _consume(self, message: Any) -> Any:
        """What the listener answers; called by threads of the C++ client. It raises for `by: exception` alone."""
        status = self._consume_one(message)
        return status if status == self._statuses.CONSUME_SUCCESS else self._failing()

    def _failing(self) -> Any:
        """A failure as its behaviour has it. The package raises an exception, and an error for None, into C++."""
        if self._listener.by == "exception":
            raise RuntimeError("the listener's own, by its behaviour")
        return None if self._listener.by == "nothing" else self._statuses.RECONSUME_LATER

    def _consume_one(self, message: Any) -> Any:
        try:
            seen, succeeds = self._listener.receive([self._described(message)])
            status = self._statuses.CONSUME_SUCCESS if succeeds else self._statuses.RECONSUME_LATER
            self._listener.report(seen, status.name)
            return status
        except Abandoned:
            return self._statuses.RECONSUME_LATER
        except BaseException as error:  # into C++ it would go as a line on standard error
            traceback.print_exc()
            self._listener.report_error(error)
            return self._statuses.RECONSUME_LATER

    def _described(self, message: Any) -> Described:
        """A ReceivedMessage in JSON's types; its topic is the original one (resetRetryTopic)."""
        address = self._client.store_host(message)
        keys = (message.keys or b"").decode().split()
        return {
            "broker": self._name_server.broker_at(address),
            "topic": message.topic,
            "tag": (message.tags or b"").decode() or None,
            "key": keys[0] if keys else None,
            "keys": keys[1:],
            "msg_id": message.id,
            "offset_msg_id": offset_msg_id(address, message.commit_log_offset),
            "queue_id": message.queue_id,
            "offset": message.queue_offset,
            "reconsume_times": message.reconsume_times,
        }


_SETTERS = {
    "consumeThreadMin": "set_thread_count",
    "consumeThreadMax": "set_thread_count",
}
"""Properties of DefaultMQPushConsumer, and what the package has for them."""


def _settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    for setting in settings:
        if setting not in _SETTERS:
            raise CommandFailed(f"rocketmq-client-python has no setting `{setting}`")
    return {_SETTERS[setting]: value for setting, value in settings.items()}
