"""The message trace of RocketMQ's clients, which those before 5.3 take in their constructors alone.

Rests on the constructors of DefaultMQPushConsumer and DefaultMQProducer as they are from RocketMQ 4.9.0 to 5.5.0.
"""

from collections.abc import Mapping
from typing import Any

import jpype

_ENABLED = "enableMsgTrace"
_TOPIC = "customizedTraceTopic"


def traced(settings: Mapping[str, Any]) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """The last arguments of a constructor with the trace, and the settings that have setters.

    There are no such arguments where `settings` don't say it.
    """
    if not settings.keys() & {_ENABLED, _TOPIC}:
        return (), settings
    java_text = jpype.JClass("java.lang.String")
    topic = settings.get(_TOPIC)
    arguments = (
        jpype.JBoolean(settings.get(_ENABLED, False)),
        jpype.JObject(None, java_text) if topic is None else java_text(topic),
    )
    return arguments, {name: value for name, value in settings.items() if name not in (_ENABLED, _TOPIC)}
