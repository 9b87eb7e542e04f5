"""Whether clients can work with servers that have started, and whether brokers took their settings."""

import contextlib
import difflib
import json
import re
import socket
import time
from collections.abc import Mapping
from pathlib import Path

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.fastjson import loads

_NOT_REGISTERED = "it isn't registered at the name server"
_NUDGE_EVERY_S = 0.2


class Registration:
    """Waits for a broker to be registered at its name server, and sees to it.

    A broker registers when it starts, and then after 10 s. From 5.0.0 on it mostly misses the first chance:
    it knows no name server before its client has looked for one, which it does meanwhile
    (`NettyRemotingClient.scanAvailableNameSrv`). 4.9.x misses it where the name server starts later.
    """

    def __init__(self, nameserver: str, registered: str, broker: str) -> None:
        """
        Args:
            nameserver: `host:port`.
            registered: `host:port` under which the name server is to know the broker.
            broker: `host:port` at which it answers.
        """
        self._nameserver = nameserver
        self._registered = registered
        self._broker = broker
        self._nudged_s = time.monotonic()

    def why_not_ready(self) -> str | None:
        """As the function; and every 0.2 s it asks a broker that isn't registered to register."""
        reason = why_not_ready(self._nameserver, self._registered, self._broker)
        if reason == _NOT_REGISTERED and time.monotonic() - self._nudged_s > _NUDGE_EVERY_S:
            with contextlib.suppress(OSError):
                self._nudge()
            self._nudged_s = time.monotonic()
        return reason

    def _nudge(self) -> None:
        """Set the broker's permission to what it is: then it registers (`AdminBrokerProcessor`).

        It also writes all its settings to its broker.conf, and keeps the old file next to it as `.bak`.
        """
        settings = remoting.ask(self._broker, remoting.GET_BROKER_CONFIG).body
        permission = re.search(rb"^brokerPermission=\d+$", settings, re.M)
        if permission is not None:
            remoting.ask(self._broker, remoting.UPDATE_BROKER_CONFIG, body=permission[0])


def why_not_ready(nameserver: str, registered: str, broker: str) -> str | None:
    """Why clients can't work with this broker; None when they can.

    It has to be known to the name server as `registered`, and to answer at `broker`. All are `host:port`.
    """
    try:
        answer = remoting.ask(nameserver, remoting.GET_BROKER_CLUSTER_INFO)
    except OSError as error:
        return f"the name server doesn't answer ({error})"
    # `ClusterInfo` comes as fastjson writes it, with bare numbers as keys: no JSON that Python reads. Between
    # quotes the address is unambiguous.
    if answer.code != remoting.SUCCESS or json.dumps(registered).encode() not in answer.body:
        return _NOT_REGISTERED
    try:
        remoting.ask(broker, remoting.GET_BROKER_CONFIG)
    except OSError as error:
        return f"it doesn't answer ({error})"
    return None


def why_not_in_sync(controller: str, broker: str, registered: str) -> str | None:
    """Why a controller doesn't count a node among those that could be the master of its broker; None if it does.

    Args:
        controller: `host:port`.
        broker: the broker's name.
        registered: `host:port` by which the controller knows the node.
    """
    try:
        answer = remoting.ask(controller, remoting.GET_SYNC_STATE_DATA, body=json.dumps([broker]).encode())
        tables = loads(answer.body) if answer.body else {}
    except (OSError, ValueError) as error:
        return f"the controller doesn't answer ({error})"
    # `BrokerReplicasInfo`; in 5.0.0 `InSyncStateData`, with other names for the same.
    states = tables.get("replicasInfoTable") or tables.get("inSyncStateTable") or {}
    state = states.get(broker, {})
    known = state.get("inSyncReplicas") or state.get("inSyncMembers") or ()
    if registered in {node.get("brokerAddress") or node.get("address") for node in known}:
        return None
    return "it isn't in the controller's syncStateSet"


_HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""With which a client of HTTP/2, and so of gRPC, begins (RFC 9113, 3.4): the preface, and empty SETTINGS."""
_FRAME_HEADER_BYTES, _SETTINGS = 9, 4
_GRPC_LIMIT_S = 1.0


def why_no_grpc(endpoint: str) -> str | None:
    """Why gRPC clients can't talk to `host:port` now; None if it answers as HTTP/2 servers do, SETTINGS."""
    host, _, port = endpoint.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), _GRPC_LIMIT_S) as connection:
            connection.sendall(_HTTP2_PREFACE)
            header = connection.recv(_FRAME_HEADER_BYTES, socket.MSG_WAITALL)
    except OSError as error:
        return f"it doesn't answer gRPC clients at {endpoint} ({error})"
    if len(header) < _FRAME_HEADER_BYTES or header[3] != _SETTINGS:
        return f"what answers at {endpoint} doesn't speak gRPC: {header!r}"
    return None


def check_settings(name: str, log: Path, wanted: Mapping[str, str], always: str) -> None:
    """Make sure that a server runs with these settings, by its own list of them in its log.

    RocketMQ itself says nothing of a name that it doesn't know or a value that is no number where it wants
    one (`MixAll.properties2Object`), and a scenario would be about something else than it says. Asking the
    broker wouldn't do: GET_BROKER_CONFIG answers unknown names too.

    Args:
        name: of the server.
        log: of the server.
        wanted: its settings.
        always: a setting that each such list has.

    Raises:
        UsageProblem: it doesn't have, or didn't take, some of them.
        EnvironmentNotReady: its log doesn't tell.
    """
    if not wanted:
        return
    # `MixAll.printObjectProperties`, called for each of the four objects that hold settings.
    text = log.read_text(encoding="utf-8", errors="replace")
    actual = {found[1]: found[2] for found in re.finditer(r"^.* - (\w+)=(.*)$", text, re.M)}
    if always not in actual:
        raise EnvironmentNotReady(f"{name} doesn't log its settings", f"Look at its log: {log}")
    _require_taken(name, wanted, actual)


def check_controller_settings(controller: str, wanted: Mapping[str, str]) -> None:
    """The same of a controller at this address, which logs no settings, and is asked for them.

    Raises:
        UsageProblem: it doesn't have, or didn't take, some of them.
        EnvironmentNotReady: it doesn't answer.
    """
    if not wanted:
        return
    try:
        text = remoting.ask(controller, remoting.GET_CONTROLLER_CONFIG).body.decode(errors="replace")
    except OSError as error:
        raise EnvironmentNotReady(f"the controller doesn't answer ({error})", "Try again.") from error
    lines = (line.partition("=") for line in text.splitlines())
    _require_taken("the controller", wanted, {name: value for name, _, value in lines})


def _require_taken(name: str, wanted: Mapping[str, str], actual: Mapping[str, str]) -> None:
    wrong = complaints(wanted, actual)
    if wrong:
        raise UsageProblem(f"settings that {name} did not take: {'; '.join(wrong)}", "Correct them.")


def complaints(wanted: Mapping[str, str], actual: Mapping[str, str]) -> list[str]:
    """What of the wanted settings the actual ones lack, each as `key=value (it runs with …)`."""
    return [
        _complaint(key, value, actual) for key, value in wanted.items() if not _same(actual.get(key), value)
    ]


def _same(actual: str | None, wanted: str) -> bool:
    if actual is None or actual.strip() == wanted.strip():
        return actual is not None
    if actual in ("true", "false"):
        return actual == wanted.strip().lower()
    try:
        return float(actual) == float(wanted)
    except ValueError:
        return False


def _complaint(key: str, value: str, actual: Mapping[str, str]) -> str:
    if key in actual:
        return f"{key}={value} (it runs with {actual[key]})"
    near = difflib.get_close_matches(key, actual, n=1)
    return f"{key} (there is no such setting{f'; is {near[0]} meant?' if near else ''})"
