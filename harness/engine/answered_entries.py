"""Lists of handled messages, which users' programs answer by HTTP: polled while they run, as events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rocketchaos.harness.cluster.base import Networked
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.engine.entries import Entries, Tell
from rocketchaos.harness.language.app_spec import HOST
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.workers.printed_output import SHOWN

if TYPE_CHECKING:
    from rocketchaos.harness.clients.consumer import Consumer
    from rocketchaos.harness.engine.context import RunContext

_LIMIT_S = 2.0
_MOST_BYTES = 16 * 1024 * 1024
"""At most this much of an answer is read."""
_AROUND = 60
"""The number of characters before and after a finding that are shown with it."""


class AnsweredEntries(Entries):
    """The addresses of one run that `sees: {http: …}` names.

    A list has its earlier entries too: each finding counts once.
    """

    look_every_s = 0.5

    def __init__(self, scenario: Scenario, tell: Tell) -> None:
        super().__init__(scenario, "http", tell)
        self._reported: dict[str, set[tuple[tuple[str, str], ...]]] = {}
        self._failures: dict[str, str] = {}

    def _read(self, context: RunContext) -> None:
        for name in self._sees:
            consumer = context.consumers[name]
            if consumer.started and not consumer.paused:
                self._take(name, self._ask(name, self._address(context, name, consumer)))

    def seen(self, consumer: str) -> Mapping[str, Any]:
        """As `Entries.seen`, with why the last call failed, `failure`, where it did."""
        return {**super().seen(consumer), "failure": self._failures.get(consumer, "")}

    def _where(self, consumer: str) -> str:
        return f"found in the answers of {self._sees[consumer].http}"

    def _ask(self, name: str, address: str) -> str:
        """The text of its answer; empty where there is none, which proves nothing."""
        from http.client import HTTPException  # most runs need none of it
        from urllib.request import ProxyHandler, build_opener

        # No proxy of this host's environment: the program is on this host, or on the network of the servers.
        opener = build_opener(ProxyHandler({}))
        try:
            with opener.open(address, timeout=_LIMIT_S) as answer:
                text = str(answer.read(_MOST_BYTES).decode(errors="replace"))
        except (OSError, ValueError, HTTPException) as error:
            self._failures[name] = f"{error}" or type(error).__name__
            return ""
        self._failures.pop(name, None)
        return text

    def _take(self, name: str, text: str) -> None:
        reported = self._reported.setdefault(name, set())
        for groups, found in self._found(name, text):
            finding = tuple(sorted(groups.items()))
            if finding not in reported:
                reported.add(finding)
                around = text[max(0, found.start() - _AROUND) : found.end() + _AROUND][:SHOWN]
                self._count(name, around)
                self._emit(name, "line", {"line": around, **groups})

    def _address(self, context: RunContext, name: str, consumer: Consumer) -> str:
        container, cluster = consumer.container, context.servers.cluster
        if container is not None and isinstance(cluster, Networked) and cluster.only_inside:
            raise EnvironmentNotReady(
                f"`sees: {{http: …}}` of {name} can't be asked: the container engine runs in a VM, and this host "
                "doesn't reach its containers",
                "Use `sees: {log: …}` or `sees: {topic: …}`.",
                about=(name,),
            )
        host = "127.0.0.1" if container is None else container.address
        return str(self._sees[name].http).replace(HOST, host)
