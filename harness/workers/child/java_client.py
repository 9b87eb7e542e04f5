"""The common part of the clients of the `java` worker, for all of RocketMQ's classes.

Rests on ClientConfig, DefaultMQPushConsumer and DefaultLitePullConsumer as they are from RocketMQ 4.9.3 to 5.5.0.
"""

from collections.abc import Mapping
from typing import Any

from rocketchaos.harness.rocketmq.running_info import running_info
from rocketchaos.harness.workers.child.java_consumer_settings import Configured
from rocketchaos.harness.workers.child.jvm import private_field
from rocketchaos.harness.workers.child.listener import Listener
from rocketchaos.harness.workers.protocol import EventPipe


class JavaClient:
    """One client of RocketMQ's: made, but not started."""

    def __init__(self, java: Any) -> None:
        self._java = java

    @property
    def client_id(self) -> str:
        """The id under which brokers know it: `ip@instance`, with suffixes where a version adds any."""
        return str(self._java.buildMQClientId())

    def start(self) -> None:
        """Start it; a producer fetches no routes yet.

        Raises:
            jpype.JException: RocketMQ refuses, with MQClientException.
        """
        self._java.start()


class JavaConsumer(JavaClient):
    """A consumer with subscriptions, and a listener that reports every message.

    Raises:
        CommandFailed: there is no such setting.
        jpype.JException: RocketMQ refuses the group's name or an expression.
    """

    def __init__(
        self,
        java_class: str,
        name: str,
        events: EventPipe,
        behaviour: Mapping[str, Any],
        settings: Mapping[str, Any],
    ) -> None:
        self._configured = Configured(java_class, **settings)
        super().__init__(self._configured.java)
        self._listener = Listener(name, events, **behaviour)

    def versions(self) -> Mapping[str, int]:
        """The subVersions of its subscriptions by topic, where its class shows them; before its start."""
        return {}

    def subscribe(self, topic: str, expression: str | Mapping[str, str]) -> None:
        """Subscribe while it runs; a heartbeat reaches the brokers before this returns."""
        self._configured.subscribe(topic, expression)

    def unsubscribe(self, topic: str) -> None:
        """Take a topic out of its own table; the brokers learn of it by its next heartbeat."""
        self._java.unsubscribe(topic)

    def running_info(self) -> Mapping[str, Any]:
        """What it answers to 307; no broker is asked, which might ask another client of the same id."""
        name = str(self._java.getClass().getSimpleName())
        implementation = private_field(self._java, f"{name[:1].lower()}{name[1:]}Impl")
        return running_info(bytes(implementation.consumerRunningInfo().encode()))

    def release(self) -> None:
        """Let its listener block no more."""
        self._listener.release()
