"""The common part of consumers and producers of the C++ client: their ids, and their failures.

Its behaviour, measured with the library of the wheel `rocketmq` 0.4.4 against brokers of 4.9.4 and 5.5.0:

- A member has its queues 20 to 50 ms after its start, because brokers notify members of each other (code 40), and
  those of one that is killed 0.2 s later. The retry topic it gets with the rebalance of every 10 s. There is no
  knob for that, nor for the heartbeats (30 s) and the offsets (5 s).
- A queue that comes back to a member that had given it up hangs that member, apparently for ever (77 s were
  watched), if the broker still holds its last pull for the queue, up to 15 s: by its log and its source,
  RebalancePush::updateRequestTableInRebalance waits for the answer in the thread that would take it. It consumes
  nothing then, from no queue, and answers no 307.
- It answers 307 with queues and subVersions. Its subVersion is the time of its start, and never changes.
- The codeSet that it registers is atoi of its tags: 0 for most. It pulls by its own expression, and drops what its
  own tags don't match.
"""

import ipaddress
import os
import socket
from collections.abc import Callable, Mapping
from typing import Any

from rocketchaos.harness.workers.child.python_library import NativeClient
from rocketchaos.harness.workers.protocol import CommandFailed

_CHANNEL = "ALIYUN"
"""The C++ client's default for the third of its credentials, which brokers don't check (SessionCredentials.h)."""


def client_id(instance: str) -> str:
    """The id under which brokers know a client of this process (MQClient::getMQClientId): `pid-address@instance`.

    The pid can't be replaced, so that the order of such ids, by which queues are allocated, can't be chosen. The
    address is the last one to which this host's name resolves, of its own (UtilAll::getLocalAddress).
    """
    return f"{os.getpid()}-{_local_address()}@{instance}"


def _local_address() -> str:
    try:
        found = socket.getaddrinfo(
            socket.gethostname(), None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
        )
    except OSError:
        return ""
    return str(found[-1][4][0])


def instance_name(client_ip: str, instance: str) -> str:
    """The instance name for a client that the harness wants to be `client_ip@instance`."""
    return f"{client_ip}-{instance}"


def offset_msg_id(address: str, commit_log_offset: int) -> str:
    """A message's id by the `host:port` of its broker and its place in the commit log.

    MessageDecoder.createMessageId of the Java client: 8 digits of an IPv4 address, 8 of a port, 16 of an offset.
    """
    host, _, port = address.rpartition(":")
    return f"{int(ipaddress.IPv4Address(host)):08X}{int(port):08X}{commit_log_offset:016X}"


def sign(client: Any, access: Mapping[str, Any] | None) -> None:
    """Let a consumer or a producer of the package sign its requests, by `{access_key, secret_key}`."""
    if access is not None:
        client.set_session_credentials(access["access_key"], access["secret_key"], _CHANNEL)


def checked(client: NativeClient, call: Callable[[], Any]) -> Any:
    """Do something with the package, whose exceptions become CommandFailed.

    Raises:
        CommandFailed: the C++ client refuses; with what it says of it.
    """
    try:
        return call()
    except (client.exceptions.RocketMQException, NotImplementedError) as error:
        said = client.last_error or str(error)
        name = type(error).__name__
        raise CommandFailed(f"{name}: {said}" if said else name, None, [name]) from error
