"""Requests to brokers and name servers in RocketMQ's own protocol, without a client of RocketMQ's."""

from __future__ import annotations

import base64
import threading
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from rocketchaos.harness.clients.connection import Connection
from rocketchaos.harness.clients.tools import Tools
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.rocketmq.remoting import Answer
from rocketchaos.harness.rocketmq.signature import Secrets

_NO_NAMES: Mapping[str, str] = MappingProxyType({})


class ServerRequests(Protocol):
    """A way to ask servers. Every method may be called from any thread."""

    def ask(
        self, address: str, code: int, fields: Mapping[str, str], body: bytes = b"", *, limit_s: float
    ) -> Answer:
        """Send one request to `host:port`, and wait for the answer, whatever its code.

        Raises:
            RequestFailed: there is no connection, or no answer within the limit.
        """

    def close(self) -> None:
        """End its connections. Idempotent."""


class DirectRequests:
    """From this process, over one connection to each server."""

    def __init__(self, secrets: Secrets | None = None, names: Mapping[str, str] = _NO_NAMES) -> None:
        """Open no connection yet.

        Args:
            secrets: sign the requests; None: they are not signed.
            names: the addresses of hosts that this machine can't resolve.
        """
        self._secrets = secrets
        self._names = names
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}
        self._open: dict[str, Connection] = {}
        self._late: list[Connection] = []
        """Left aside, because an answer didn't come: others may still wait for theirs."""

    def ask(
        self, address: str, code: int, fields: Mapping[str, str], body: bytes = b"", *, limit_s: float
    ) -> Answer:
        """See `ServerRequests`."""
        sent = fields if self._secrets is None else self._secrets.signed(fields, body)
        connection = None
        try:
            connection = self._connection(address)
            return connection.ask(code, sent, body, limit_s=limit_s)
        except TimeoutError as late:
            with self._lock:
                # It may be dead, as after a partition. RocketMQ's own client does the same
                # (NettyClientConfig.clientCloseSocketIfTimeout, 4.9.4 and 5.5.0).
                if connection is not None and self._open.get(address) is connection:
                    self._late.append(self._open.pop(address))
            raise RequestFailed(f"{address} doesn't answer request {code} within {limit_s:g} s") from late
        except OSError as error:
            raise RequestFailed(f"{address} can't be asked: {error.strerror or error}") from error

    def close(self) -> None:
        """See `ServerRequests`."""
        with self._lock:
            connections = [*self._open.values(), *self._late]
            self._open.clear()
            self._late.clear()
        for connection in connections:
            connection.close()

    def _connection(self, address: str) -> Connection:
        with self._lock:
            opening = self._opening.setdefault(address, threading.Lock())
        with opening:
            known = self._open.get(address)
            if known is not None and not known.closed:
                return known
            host, _, port = address.rpartition(":")
            connection = Connection(f"{self._names.get(host, host)}:{port}", _ignore)
            with self._lock:
                self._open[address] = connection
            if known is not None:
                known.close()
            return connection


class RelayedRequests:
    """By the worker of the tools, which lives where servers can be reached. It signs what needs it."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def ask(
        self, address: str, code: int, fields: Mapping[str, str], body: bytes = b"", *, limit_s: float
    ) -> Answer:
        """See `ServerRequests`."""
        answer = self._tools.request(
            *("raw", limit_s),
            address=address,
            code=code,
            fields=dict(fields),
            body=body.decode() or None,
            timeout_ms=round(limit_s * 1000),
        )
        text, encoded = answer["body"] or "", answer["body_base64"]
        content = text.encode() if encoded is None else base64.b64decode(encoded)
        return Answer(answer["code"], answer["remark"] or "", answer["fields"], content)

    def close(self) -> None:
        """See `ServerRequests`; the tools end by themselves."""


def names_in(hosts_file: Path | None) -> Mapping[str, str]:
    """Addresses by names, of a file as `/etc/hosts` with one name in each line; None: there are none."""
    if hosts_file is None:
        return _NO_NAMES
    lines = (line.split() for line in hosts_file.read_text(encoding="utf-8").splitlines())
    return {name: address for address, name in lines}


def _ignore(_request: Answer) -> None:
    """A server asks clients that have sent a heartbeat, and these connections send none."""
