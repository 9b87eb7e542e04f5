"""A program of the user's begins to consume: seen from outside, by what brokers report about its group.

Its sockets show which member it is: a broker lists the address of each member's connection (203), and the kernel
knows the process of that address; a container has an address of its own. The same answer names the client's
language. The client itself reports its subscriptions and queues if it answers a broker's request (307): the Java,
Go and C++ clients do.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psutil

from rocketchaos.harness.core.errors import EnvironmentNotReady, RequestFailed
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.language.app_spec import App
from rocketchaos.harness.probes.ownership_probe import RELAY_LIMIT_MS
from rocketchaos.harness.probes.subscription_probe import CONSUMER_NOT_ONLINE
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS, Api
from rocketchaos.harness.workers.lease import WorkerProcess
from rocketchaos.harness.workers.program import InContainer

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext

LOOK_EVERY_S = 0.1
_ASKED_S = 5.0
"""How long to ask a client for its subscriptions: it may need a moment to answer."""
_BY_LANGUAGE: Mapping[str, str] = {"JAVA": "java", "CPP": "python", "GO": "go"}
"""The kind of client whose traits a member has, by its LanguageCode; `python` is over the C++ client."""
_TOLD = ("filters_by", "filters_itself", "raises_version", "retries", "dead_letters", "commits_skipped")
"""The traits of a member that follow from the kind of its client."""
_RETRY = "%RETRY%"


@dataclass(frozen=True, slots=True)
class _Member:
    """The program, as a broker knows it."""

    client_id: str
    broker: str
    """The broker's address."""
    language: str
    version: str
    by_socket: bool
    """Its address is one of the program's."""
    grpc: bool
    """It speaks gRPC: then its language names another client than RocketMQ's remoting one."""
    pushed: bool
    """The group's consumers are push consumers."""
    subscriptions: Mapping[str, Mapping[str, Any]]
    """The group's subscriptions in the broker, by topic."""
    alone: bool
    """It is the group's only member there."""


def connections_of(context: ProbeContext, name: str) -> frozenset[tuple[str, str]]:
    """The client id and address of each connection that brokers have now in the group of this consumer.

    Asked before the program is launched: a broker may still list the connection of a process that is gone.
    """
    group = context.scenario.consumers[name].group
    return frozenset(
        _key(item)
        for address in context.servers.keepers_of_group(group).values()
        for item in connection_of(context, group, address).get("connections", [])
    )


def _key(connection: Mapping[str, Any]) -> tuple[str, str]:
    return connection["client_id"], connection["address"]


def begun(
    context: ProbeContext,
    name: str,
    worker: WorkerProcess,
    limit_s: float,
    former: Collection[tuple[str, str]] = (),
) -> Mapping[str, Any]:
    """Wait until the program of this consumer is a member of its group; as `start-consumer` answers.

    `former` are the connections from before its launch, see `connections_of`: none of them is its own.

    Raises:
        EnvironmentNotReady: it ends, or the limit passes.
    """
    member = awaited(
        context,
        limit_s,
        lambda: _member(context, name, worker, former),
        lambda: _why_not(context, name, worker),
    )
    stated = _said_by_itself(context, name, member)
    traits = _traits(member, stated is not None)
    if stated is None and member.alone and member.by_socket:
        # Nobody else can have subscribed at the broker.
        stated = {topic: _expression(item) for topic, item in member.subscriptions.items()}
    own = None if stated is None else _own(context, stated)
    return {
        "client_id": member.client_id,
        "client_version": member.version,
        "versions": {},
        "subscribe": own,
        "traits": traits,
    }


def _own(context: ProbeContext, subscriptions: Mapping[str, Any]) -> dict[str, Any]:
    names = {topic: context.names.scenario(topic) for topic in subscriptions}
    return {names[topic]: data for topic, data in subscriptions.items() if not topic.startswith(_RETRY)}


def awaited(
    context: ProbeContext,
    limit_s: float,
    look: Callable[[], Any],
    why_not: Callable[[], EnvironmentNotReady],
) -> Any:
    """The result of the first look that finds something in time; `why_not` makes the error otherwise."""

    def looked() -> Any:
        context.check_alive()
        return look()

    found = look_until(looked, lambda found: found is not None, limit_s, LOOK_EVERY_S)
    if found is None:
        raise why_not()
    return found


def _member(
    context: ProbeContext, name: str, worker: WorkerProcess, former: Collection[tuple[str, str]]
) -> _Member | None:
    """The program's member, once any broker of its group lists it; None: not yet."""
    group = context.scenario.consumers[name].group
    others = [context.consumers[other].client_id for other in context.members.online(group)]
    others += context.hand_made.ids(group)
    for address in context.servers.keepers_of_group(group).values():
        answer = connection_of(context, group, address)
        connections = answer.get("connections", [])
        new = [item for item in connections if item["client_id"] not in others and _key(item) not in former]
        # Looked at after the broker has answered: a connection of which it knows is there by now.
        speaks = speaks_from(worker.pid, worker.container) if new else None
        own = [item for item in new if speaks is not None and speaks(item["address"])]
        ids = sorted({item["client_id"] for item in own or new})
        if len(ids) > 1 and own:
            raise EnvironmentNotReady(
                f"the program of {name} has started {len(ids)} consumers of the group {group}, {', '.join(ids)}: "
                "what it prints doesn't tell which of them handled a message",
                "Let it start one only, and declare a further consumer with a program of its own for each further "
                "one; a jar with Java's client can have several (`jar`, `beside`).",
                about=(name,),
            )
        if len(ids) == 1:
            first = (own or new)[0]
            grpc = bool(own) and _speaks_grpc(context, name, worker, first["address"])
            if grpc and not answer["subscriptions"]:
                return None  # the proxy lists a gRPC client before it has its subscriptions
            return _Member(
                client_id=first["client_id"],
                broker=address,
                language=first["language"],
                version=first.get("version_name")
                if first["language"] == "JAVA" and not grpc
                else first["language"].lower(),
                by_socket=bool(own),
                grpc=grpc,
                pushed=answer.get("consume_type") == "CONSUME_PASSIVELY",
                subscriptions=answer["subscriptions"],
                alone=len(connections) == 1,
            )
    return None


def client_among(worker: WorkerProcess, connections: Collection[Mapping[str, Any]]) -> str | None:
    """The client id of a program that has begun already, as its own connections have it; None: they don't tell."""
    speaks = speaks_from(worker.pid, worker.container)
    ids = {item["client_id"] for item in connections if speaks(item["address"])}
    return ids.pop() if len(ids) == 1 else None


def connection_of(context: ProbeContext, group: str, address: str) -> Mapping[str, Any]:
    """A broker's connections and subscriptions of a group (203); empty if it has no members."""
    try:
        return context.admin.connection(context.names.real(group), address)
    except RequestFailed as failure:
        if failure.code != CONSUMER_NOT_ONLINE:
            raise
        return {}


def _said_by_itself(context: ProbeContext, name: str, member: _Member) -> Mapping[str, Any] | None:
    """The client's own subscriptions, by topic (307); None: it doesn't answer."""
    if _kind(member) is None:
        return None
    real = context.names.real(context.scenario.consumers[name].group)

    def asked() -> Mapping[str, Any] | None:
        context.check_alive()
        try:
            info = context.admin.running_info(real, member.client_id, member.broker, RELAY_LIMIT_MS)
        except RequestFailed:
            return None
        return info["subscriptions"] or None

    found = look_until(asked, lambda answer: answer is not None, _ASKED_S, LOOK_EVERY_S)
    return None if found is None else {topic: _expression(item) for topic, item in found.items()}


def _expression(item: Mapping[str, Any]) -> Any:
    return {"sql": item["expression"]} if item["type"] == "SQL92" else item["expression"]


def _kind(member: _Member) -> Api | None:
    """How its client consumes; None: it isn't known."""
    kind = CLIENT_KINDS.get(_BY_LANGUAGE.get(member.language, ""))
    known = member.by_socket and member.pushed and not member.grpc
    return kind.apis["push"] if kind is not None and known else None


def _traits(member: _Member, answers: bool) -> dict[str, Any]:
    kind = _kind(member)
    if kind is None:
        return {}
    return {**{trait: getattr(kind, trait) for trait in _TOLD}, "tells_queues": answers}


def speaks_from(pid: int, container: InContainer | None) -> Callable[[str], bool]:
    """Whether a connection from an address, as a broker knows it, is this program's."""
    if container is not None:
        own = container.address
        return lambda address: address.rpartition(":")[0] == own
    ports = local_ports(pid)
    return lambda address: _port(address) in ports


def _speaks_grpc(context: ProbeContext, name: str, worker: WorkerProcess, address: str) -> bool:
    """Whether the connection from this address goes to the proxy's port for gRPC.

    The sockets of a container can't be seen: one that gets the proxy's address speaks gRPC.
    """
    proxy = context.servers.cluster.proxy
    if proxy is None:
        return False
    if worker.container is not None:
        app = context.scenario.consumers[name].app
        return app is not None and app.needs_proxy
    return local_ports(worker.pid).get(_port(address)) == _port(proxy.grpc_endpoint)


def local_ports(pid: int) -> dict[int, int]:
    """The ports of this host from which a program's processes have connections, and the ports that they reach."""
    return {
        connection.laddr.port: connection.raddr.port
        for process in _processes(pid)
        for connection in _connections(process)
        if connection.raddr
    }


def _connections(process: psutil.Process) -> list[Any]:
    with contextlib.suppress(psutil.Error, OSError):
        return list(process.net_connections("tcp"))
    return []


def _processes(pid: int) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if os.getsid(process.pid) == pid:
                yield process


def _port(address: str) -> int:
    port = address.rpartition(":")[2]
    return int(port) if port.isdigit() else -1


def _why_not(context: ProbeContext, name: str, worker: WorkerProcess) -> EnvironmentNotReady:
    spec = context.scenario.consumers[name]
    app = spec.app
    limit_s = 0 if app is None else app.ready_within / 1000
    where = "" if worker.container is not None else f"{_reached(context, worker.pid)}; "
    printed = context.consumers[name].printed() or {}
    last = f"its last line: {printed['last']!r}" if printed.get("last") else "it has printed nothing"
    return EnvironmentNotReady(
        f"the program of {name} has not become a member of its group {spec.group} within {limit_s:g} s: "
        f"{where}{last}",
        f"Its output is in the run folder, logs/. `$nameserver` in `{_arguments(app)}` or `env` tells it the "
        "name server; `ready_within` gives it more time.",
        about=(name,),
    )


def _arguments(app: App | None) -> str:
    return "args" if app is not None and app.image is not None else "command"


def _reached(context: ProbeContext, pid: int) -> str:
    """The servers to which a program of this host has connections."""
    remote = set(local_ports(pid).values())
    nodes = [node.name for node in context.servers.cluster.nodes if _port(node.address) in remote]
    if not nodes:
        return "it has no connection to any server of the run"
    return f"it has connections to {', '.join(nodes)}"
