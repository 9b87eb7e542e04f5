"""What consumers and producers of the C++ client have in common: their ids, and brokers by their addresses."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Mapping
from typing import Any

from harness.cluster import remoting
from harness.workers.protocol import CommandFailed

_ROUTE_LIMIT_S = 3.0
_BROKER = re.compile(rb'"brokerAddrs":\{([^}]*)\},"brokerName":"([^"]+)"')
_ADDRESS = re.compile(rb'"([^"]+:\d+)"')


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


class Brokers:
    """Brokers' names by their addresses, as the name server knows them: the C API of the client tells neither."""

    def __init__(self, nameserver: str) -> None:
        self._nameserver = nameserver
        self._names: Mapping[str, str] = {}

    def name_at(self, address: str) -> str:
        """The name of the broker at `host:port`.

        Raises:
            CommandFailed: the name server doesn't answer, or doesn't know it.
        """
        if address not in self._names:
            self._names = _names_by_address(self._nameserver)
        if address not in self._names:
            raise CommandFailed(f"the name server knows no broker at {address}")
        return self._names[address]


def offset_msg_id(address: str, commit_log_offset: int) -> str:
    """A message's id by the `host:port` of its broker and its place in the commit log.

    MessageDecoder.createMessageId of the Java client: 8 digits of an IPv4 address, 8 of a port, 16 of an offset.
    """
    host, _, port = address.rpartition(":")
    return f"{int(ipaddress.IPv4Address(host)):08X}{int(port):08X}{commit_log_offset:016X}"


def _names_by_address(nameserver: str) -> dict[str, str]:
    try:
        answer = remoting.ask(nameserver, remoting.GET_BROKER_CLUSTER_INFO, limit_s=_ROUTE_LIMIT_S)
    except OSError as error:
        raise CommandFailed(f"the name server doesn't answer: {error}") from error
    return broker_names(answer.body)


def broker_names(cluster_info: bytes) -> dict[str, str]:
    """Brokers' names by their addresses, from a ClusterInfo as fastjson writes it, with bare numbers as keys."""
    return {
        address.decode(): name.decode()
        for addresses, name in _BROKER.findall(cluster_info)
        for address in _ADDRESS.findall(addresses)
    }


def checked(client: Any, call: Any) -> None:
    """Do something with the package; its exceptions become CommandFailed.

    Raises:
        CommandFailed: the C++ client refuses; with what it says of it.
    """
    from rocketmq.exceptions import RocketMQException  # type: ignore[import-not-found]

    try:
        call()
    except (RocketMQException, NotImplementedError) as error:
        said = client.last_error or str(error)
        raise CommandFailed(f"{type(error).__name__}: {said}" if said else type(error).__name__) from error
