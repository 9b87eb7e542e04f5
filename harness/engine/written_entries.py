"""Entries that users' programs write into a topic for what they have handled: read from the brokers, as events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.core.events.messages import LineOfNoMessage
from rocketchaos.harness.engine.entries import Tell
from rocketchaos.harness.engine.stored_entries import StoredEntries
from rocketchaos.harness.rocketmq.stored_messages import PulledMessage
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.workers.printed_output import SHOWN

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext


class WrittenEntries(StoredEntries):
    """The topics of one run that `sees: {topic: …}` names."""

    def __init__(self, scenario: Scenario, tell: Tell) -> None:
        super().__init__(scenario, "topic", tell)
        self._writers: dict[str, list[str]] = {}
        for name, sees in self._sees.items():
            self._writers.setdefault(str(sees.topic), []).append(name)

    def _read(self, context: RunContext) -> None:
        """All queues of all topics."""
        for topic in self._writers:
            for queue in context.servers.queues(topic):
                for message in self._new(context, context.names.real(topic), queue):
                    self._take(context, topic, message)

    def _where(self, consumer: str) -> str:
        return f"written into {self._sees[consumer].topic}"

    def _take(self, context: RunContext, topic: str, message: PulledMessage) -> None:
        writers = self._writers[topic]
        writer = self._writer(context, writers, message.born)
        sees = self._sees[writer or writers[0]]
        text = message.body.decode(errors="replace") if sees.body is not None else message.key or ""
        shown = text[:SHOWN]
        if writer is None:
            reason = (
                f"{', '.join(writers)} write into {topic}, and none of them has the address {message.born}"
            )
            body = LineOfNoMessage(line=shown, reason=reason)
            self._emit(writers[0], body.kind, body.as_data())
            return
        self._count(writer, text)
        for entry, _ in self._found(writer, text):
            self._emit(writer, "line", {"line": shown, **entry})
