"""The settings that all consumers of RocketMQ get before their start.

Rests on DefaultMQPushConsumer, DefaultLitePullConsumer and DefaultMQPullConsumer as they are from RocketMQ 4.9.3
to 5.5.0.
"""

from collections.abc import Mapping
from typing import Any

import jpype

from rocketchaos.harness.workers.child.access import hook_of
from rocketchaos.harness.workers.child.java_strategies import strategy_of
from rocketchaos.harness.workers.child.java_trace import traced
from rocketchaos.harness.workers.child.jvm import new_client, set_property

_FROM_WHERE = "org.apache.rocketmq.common.consumer.ConsumeFromWhere"
_SELECTOR = "org.apache.rocketmq.client.consumer.MessageSelector"
_MODELS = (
    # 5.1.0 moved it.
    "org.apache.rocketmq.common.protocol.heartbeat.MessageModel",
    "org.apache.rocketmq.remoting.protocol.heartbeat.MessageModel",
)
_FROM = {
    "first-offset": "CONSUME_FROM_FIRST_OFFSET",
    "last-offset": "CONSUME_FROM_LAST_OFFSET",
    "timestamp": "CONSUME_FROM_TIMESTAMP",
}


class Configured:
    """A consumer object of RocketMQ, with its settings; it keeps what RocketMQ calls back from being collected.

    Raises:
        CommandFailed: there is no such setting, or no such strategy.
        jpype.JException: RocketMQ refuses the group's name or an expression.
    """

    def __init__(
        self,
        java_class: str,
        *,
        group: str,
        nameserver: str,
        client_ip: str,
        instance: str,
        subscribe: Mapping[str, Any],
        settings: Mapping[str, Any],
        model: str,
        consume_from: str | None,
        strategy: Mapping[str, Any],
        filter_class: str | None = None,
        namespace: str | None = None,
        access: Mapping[str, Any] | None = None,
    ) -> None:
        self.strategy = strategy_of(**strategy)
        pushes = java_class.endswith("PushConsumer")
        trace, settings = traced(settings) if pushes else ((), settings)
        hook = None if access is None else hook_of(access)
        if pushes and (trace or hook is not None):  # 4.9.x has no constructor with the hook alone
            self.java = new_client(java_class, group, hook, self.strategy.java, *trace)
        else:
            self.java = new_client(java_class, group, *([] if hook is None else [hook]))
        self.java.setNamesrvAddr(nameserver)
        self.java.setClientIP(client_ip)
        self.java.setInstanceName(instance)
        if namespace is not None:
            self.java.setNamespace(namespace)
        if consume_from is not None:
            self.java.setConsumeFromWhere(getattr(jpype.JClass(_FROM_WHERE), _FROM[consume_from]))
        self.java.setMessageModel(getattr(_first_class(_MODELS), model.upper()))
        self.java.setAllocateMessageQueueStrategy(self.strategy.java)
        for setting, value in settings.items():
            set_property(self.java, setting, value)
        for topic, expression in subscribe.items():
            if filter_class is None:
                self.subscribe(topic, expression)
            else:
                self.java.subscribe(topic, filter_class, f"class {filter_class.rpartition('.')[2]} {{}}")

    def subscribe(self, topic: str, expression: str | Mapping[str, str]) -> None:
        """Subscribe by a tag expression, or by SQL92, `{"sql": "a = 1"}`; a running client tells the brokers."""
        if isinstance(expression, str):
            self.java.subscribe(topic, expression)
        else:
            self.java.subscribe(topic, selector(expression))


def selector(expression: Mapping[str, str]) -> Any:
    """The MessageSelector of SQL92, `{"sql": "a = 1"}`."""
    return jpype.JClass(_SELECTOR).bySql(expression["sql"])


def _first_class(names: tuple[str, ...]) -> Any:
    for name in names[:-1]:
        try:
            return jpype.JClass(name)
        except TypeError:
            continue
    return jpype.JClass(names[-1])
