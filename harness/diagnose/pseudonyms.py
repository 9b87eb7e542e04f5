"""One pseudonym for each address, client id, group, topic, broker and cluster, the same wherever it stands.

They sort as what they stand for does, because the allocation of queues goes by that. Of an answer only what
is known by its key is kept: everything else is left out, because it may be anything. Tags and expressions stay:
without them no finding can be understood.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rocketchaos.harness.diagnose.collect import Scope
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.model import (
    DEAD_LETTERS,
    DELAYED,
    HALF,
    HEARTBEATS,
    RETRY,
    REVIVE,
    TIMED,
    is_of_rocketmq,
)
from rocketchaos.harness.rocketmq.allocation import LOGICAL
from rocketchaos.harness.rocketmq.fastjson import loads

_OWN_TOPIC = re.compile(f"({re.escape(RETRY)}|{re.escape(DEAD_LETTERS)})(.*)", re.DOTALL)
_ID = re.compile(r"(?P<host>[^@]*)@(?P<rest>.*)", re.DOTALL)
_NUMBERS = re.compile(r"\d+(#\d+)?|DEFAULT|\d+#DEFAULT|\d+@\d+@[0-9a-z]+")
"""What may stay of a client id behind the host: a pid, and an instance's time; a gRPC client is known by it."""
_TOPICS = {HEARTBEATS, DELAYED, HALF, TIMED}
"""RocketMQ's own."""
_SCOPES = {"__global__", "global__"}
"""RocketMQ's own scope of static topics (MixAll.METADATA_SCOPE_GLOBAL, 5.x), and its part of a broker's name."""
_IPV4 = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")

_TABLES = {
    "brokerAddrTable": "broker", "clusterAddrTable": "cluster", "subscriptionTable": "topic",
    "subscriptionGroupTable": "group", "offsetTable": "offset key", "mqTable": "queue", "mqPopTable": "queue",
    "statusTable": "topic", "topicQueueMappingByBroker": "broker",
}  # fmt: skip
"""Mappings whose keys are names, and of what."""
_VALUES = {
    "topic": "topic", "brokerName": "broker", "clientId": "client", "clientAddr": "address", "cluster": "cluster",
    "groupName": "group", "consumerGroup": "group", "producerGroup": "group", "brokerAddrs": "address",
    "clusterAddrTable": "broker", "brokerIP1": "host", "brokerClusterName": "cluster", "namesrvAddr": "addresses",
    "orderTopicConf": "order", "missing": "topic", "PROP_NAMESERVER_ADDR": "addresses",
    "scope": "scope",
}  # fmt: skip
"""Keys whose values are names, and of what."""
_KEPT = {
    "language", "consumeType", "messageModel", "consumeFromWhere", "subString", "expressionType", "tagsSet",
    "PROP_CONSUME_TYPE", "PROP_CONSUMEORDERLY", "PROP_CLIENT_VERSION", "allocateMessageQueueStrategy",
    "PROP_CONSUMER_START_TIMESTAMP", "clientRebalance", "consumeTimeout", "postSubscriptionWhenPull",
    "maxReconsumeTimes", "pullThresholdForQueue", "useHeartbeatV2", "consumeThreadMin", "consumeThreadMax",
    "consumeMessageBatchMaxSize", "pullInterval", "consumeTimestamp", "commitLogDiskRatio", "bootTimestamp",
    "runtime", "brokerVersionDesc", "consumeQueueDiskRatio", "mode", "messageType",
}  # fmt: skip
"""Keys whose text is nobody's name, and is looked at."""
_WORDS = {"true", "false", "EXPONENTIAL", "CUSTOMIZED"}
"""Values that are nobody's name, whatever their key is. A retry policy has a `type` (5.x)."""


@dataclass(slots=True)
class Pseudonyms:
    """By what they stand for."""

    names: dict[str, dict[str, str]] = field(default_factory=dict)
    """By kind, then by name."""
    _seen: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, scope: Scope, exchanges: Sequence[Exchange]) -> Pseudonyms:
        """For all that is in these exchanges."""
        new = cls()
        new.scope(scope)
        for exchange in exchanges:
            new.exchange(exchange)
        for kind, names in new._seen.items():
            width = len(str(len(names)))
            by_order = sorted(names, key=lambda name: f"{name}@" if kind == "host" else name)
            new.names[kind] = {name: f"{kind}-{index:0{width}}" for index, name in enumerate(by_order, 1)}
        return new

    def scope(self, scope: Scope) -> Scope:
        """The same scope, in pseudonyms."""
        return replace(
            scope,
            name_servers=tuple(self._name("address", name_server) for name_server in scope.name_servers),
            groups=None
            if scope.groups is None
            else tuple(self._name("group", group) for group in scope.groups),
            topics=tuple(self._name("topic", topic) for topic in scope.topics),
            proxies=tuple(self._name("address", proxy) for proxy in scope.proxies),
            pseudonyms=True,
        )

    def exchange(self, item: Exchange) -> Exchange:
        """The same question and answer, in pseudonyms."""
        fields = {
            key: self._name(_VALUES[key], value) if key in _VALUES else value
            for key, value in item.fields.items()
        }
        return replace(
            item,
            address=self._name("address", item.address),
            fields=fields,
            remark=self._text(item.remark.splitlines()[0] if item.remark else ""),
            answer_fields={key: value for key, value in item.answer_fields.items() if value.isdigit()},
            body=self._body(item.body),
            error=self._text(item.error),
        )

    def _body(self, body: str) -> str:
        if not body:
            return ""
        try:
            document = loads(body.encode())
        except ValueError:  # the settings of a broker, as a properties file
            lines = (line.partition("=") for line in body.splitlines())
            return "\n".join(f"{key}={self._setting(key, value)}" for key, equals, value in lines if equals)
        return json.dumps(self._value("", document), ensure_ascii=False)

    def _setting(self, key: str, value: str) -> str:
        if key in _VALUES:
            return self._name(_VALUES[key], value)
        return value if re.fullmatch(r"[\w .:-]*", value) else ""

    def _value(self, key: str, value: Any) -> Any:
        if isinstance(value, dict):
            kind = _TABLES.get(key)
            return {
                self._name(kind, name) if kind else name: self._value(
                    key if key == "brokerAddrs" else name, item
                )
                for name, item in value.items()
            }
        if isinstance(value, list) and not key:  # offsets and tags of messages
            return value
        if isinstance(value, list):
            return [self._value(key, item) for item in value]
        if isinstance(value, str):
            if key in _VALUES:
                return self._name(_VALUES[key], value)
            return value if key in _KEPT or value.lstrip("-").isdigit() or value in _WORDS else ""
        return value

    def _name(self, kind: str, name: str) -> str:
        """The pseudonym of a name, or of one that is made of several."""
        if kind == "topic" and (own := _OWN_TOPIC.fullmatch(name)):
            return own[1] + self._name("group", own[2])
        if kind == "topic" and name.startswith(REVIVE):
            return REVIVE + self._name("cluster", name.removeprefix(REVIVE))
        if kind == "broker" and name.startswith(LOGICAL):
            return LOGICAL + self._name("scope", name.removeprefix(LOGICAL))
        if kind == "scope" and name in _SCOPES:
            return name
        if kind == "offset key":
            if name.startswith("{"):
                return self._name("queue", name)
            topic, at, group = name.partition("@")
            # Of members that broadcast: `topic@group@broadcast` (BroadcastOffsetManager, 5.x).
            group, second, suffix = group.partition("@")
            return (
                self._name("topic", topic) + at + (self._name("group", group) if at else "") + second + suffix
            )
        if kind == "queue":
            return json.dumps(self._value("", loads(name.encode())))
        if kind == "addresses":
            return ";".join(self._name("address", item.strip()) for item in name.split(";") if item.strip())
        if kind == "order":
            parts = (item.partition(":") for item in name.split(";"))
            return ";".join(f"{self._name('broker', broker)}{colon}{rest}" for broker, colon, rest in parts)
        if kind == "address":
            host, colon, port = name.rpartition(":")
            return f"{self._name('host', host)}{colon}{port}" if colon else self._name("host", name)
        if kind == "client" and (whole := _ID.fullmatch(name)):
            rest = whole["rest"]
            kept = rest if _NUMBERS.fullmatch(rest) else self._name("instance", rest)
            return f"{self._name('host', whole['host'])}@{kept}"
        if (kind == "group" and is_of_rocketmq(name)) or (kind == "topic" and name in _TOPICS):
            return name  # nobody's, and known as such on a bundle too
        self._seen.setdefault(kind, set()).add(name)
        return self.names.get(kind, {}).get(name, name)

    def _text(self, text: str) -> str:
        """A remark or an error: whatever is known in it by its name, and addresses."""
        for name, pseudonym in self._longest_first(self.names):
            text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", pseudonym, text)
        return _IPV4.sub("(address)", text)

    @staticmethod
    def _longest_first(names: Mapping[str, Mapping[str, str]]) -> Iterable[tuple[str, str]]:
        pairs = [pair for by_name in names.values() for pair in by_name.items() if pair[0]]
        return sorted(pairs, key=lambda pair: -len(pair[0]))
