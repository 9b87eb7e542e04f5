"""The words of a scenario for clients, and why a client is not available."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import AfterValidator, StringConstraints, WithJsonSchema

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.language.words import OneOrList
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS, ClientKind, client_choice
from rocketchaos.harness.rocketmq.properties import Properties
from rocketchaos.harness.rocketmq.version_range import contains
from rocketchaos.harness.rocketmq.versions import PROXY_PLAIN_SINCE, PROXY_SINCE, parse

FIELD_OF: Mapping[str, str] = MappingProxyType(
    {
        "maxReconsumeTimes": "max_reconsume_times",
        "consumeMessageBatchMaxSize": "batch_size",
        "consumeThreadMin": "threads",
        "consumeThreadMax": "threads",
        "pullThresholdForQueue": "pull_threshold_for_queue",
        "pullInterval": "pull_interval",
        "pullTimeDelayMillsWhenException": "pull_retry_after",
        "postSubscriptionWhenPull": "post_subscription_when_pull",
        "useHeartbeatV2": "heartbeat_v2",
    }
)
"""The properties of RocketMQ's clients that have a key of their own."""


def _a_client(text: str) -> str:
    choice = client_choice(text)
    if choice.kind.version is None and choice.version is not None:
        try:
            parse(choice.version)
        except UsageProblem as problem:
            raise ValueError(f"{text}: {problem.message}") from problem
    return text


def _pattern(kind: ClientKind) -> str:
    if kind.version is None:
        return f"{kind.name}(@[0-9.]+)?"
    versions = "|".join(map(re.escape, (kind.version, *kind.older)))
    return f"{kind.name}(@({versions}))?"


_KINDS = "|".join(map(_pattern, CLIENT_KINDS.values()))
ClientText = Annotated[
    str, AfterValidator(_a_client), WithJsonSchema({"type": "string", "pattern": f"^({_KINDS})$"})
]
"""A client: its kind, or its kind and version, `java@4.9.4`."""
JvmArgs = Annotated[tuple[Annotated[str, StringConstraints(pattern=r"^-\S")], ...], OneOrList()]
"""Options of a JVM."""
JVM_ARGS = (
    "options of its JVM, in which no other client is then: `[-Drocketmq.client.rebalance.waitInterval=30000]`; "
    "they win over the harness's own"
)

_PROGRAMS = {kind.program: kind for kind in CLIENT_KINDS.values() if kind.program is not None}
PROGRAM_CLIENTS = frozenset(kind.name for kind in _PROGRAMS.values())
"""The clients of consumers that are programs of the user's."""
PROGRAM_EXAMPLES: Mapping[str, str] = {
    "jar": "jar: …",
    "command": "command: [./audit, $nameserver]",
    "image": "image: registry.example.org/shop:1.4",
}


def program_of(app: Mapping[str, Any]) -> str:
    """The client of a consumer with this `app`, as in a file. Without the name of a program it counts as a jar."""
    return next((kind for key, kind in _PROGRAMS.items() if key in app), _PROGRAMS["jar"]).name


def parts_of_id(client_id: str | None, name: str, end: str) -> tuple[str, str]:
    """The clientIP and the instanceName of a client.

    Args:
        client_id: what the scenario says: nothing, the first part, or with `@` the whole id.
        name: the client's, which is the first part by default.
        end: the instanceName of an id without one.
    """
    address, at, instance = (client_id or name).partition("@")
    return address, instance if at else end


def why_not_reached(needs_proxy: bool, rocketmq: str) -> str | None:
    """Why a client can't speak to servers of this version; None if it can."""
    if needs_proxy and not contains(PROXY_SINCE, rocketmq):
        return f"it needs the proxy of RocketMQ 5, which {rocketmq} lacks"
    if needs_proxy and not contains(PROXY_PLAIN_SINCE, rocketmq):
        return f"it speaks to the proxy without TLS, which {rocketmq} refuses: {PROXY_PLAIN_SINCE} takes it"
    return None


def why_no_property(given: Iterable[str], known: Properties, client: str) -> str | None:
    """Why a client of this version can't have one of these settings; None if it can."""
    for name in given:
        if name in known and not contains(known[name].since, client):
            return (
                f"`settings: {{{name}: …}}` is what the client {client} can't have: {known[name].since} can"
            )
    return None
