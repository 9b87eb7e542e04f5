"""The message trace of users' programs, whose clients have it switched on: read from the brokers, as events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.core.events.messages import LineOfNoMessage
from rocketchaos.harness.engine.entries import Tell
from rocketchaos.harness.engine.stored_entries import StoredEntries
from rocketchaos.harness.rocketmq.message_trace import TRACE_QUEUE, TRACE_TOPIC, TraceRecord, decode_trace
from rocketchaos.harness.rocketmq.stored_messages import PulledMessage
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.workers.printed_output import SHOWN

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext


class TracedEntries(StoredEntries):
    """What the consumers of one run with `sees: {trace: true}` write into RMQ_SYS_TRACE_TOPIC.

    A record proves that the listener was called, or how it returned. Clients send them later, all at once and
    without a retry, so a missing one proves nothing.
    """

    def __init__(self, scenario: Scenario, tell: Tell) -> None:
        super().__init__(scenario, "trace", tell)
        self._group_of: dict[str, str] = {}
        """By request id: not every client repeats the group in its second record."""
        self._called: set[tuple[str, str]] = set()
        """The calls, by request and message id, whose first record is in the history."""

    def _read(self, context: RunContext) -> None:
        for broker in context.servers.broker_addresses if self._sees else ():
            for message in self._new(context, TRACE_TOPIC, (broker, TRACE_QUEUE)):
                self._take(context, message)

    def _where(self, _consumer: str) -> str:
        return f"written into {TRACE_TOPIC}"

    def _take(self, context: RunContext, message: PulledMessage) -> None:
        for record in decode_trace(message.body.decode(errors="replace")):
            group = record.group or self._group_of.get(record.request_id, "")
            self._group_of[record.request_id] = group
            members = [
                name
                for name in self._sees
                if context.names.real(context.scenario.consumers[name].group) == group
            ]
            if members:
                self._tell_of(context, members, record, message.born)

    def _tell_of(self, context: RunContext, members: list[str], record: TraceRecord, born: str) -> None:
        shown = _shown(record)
        writer = self._writer(context, members, born)
        if writer is None:
            reason = f"{', '.join(members)} write traces, and none of them has the address {born}"
            body = LineOfNoMessage(line=shown, reason=reason)
            self._emit(members[0], body.kind, body.as_data())
            return
        self._count(writer, shown)
        call = record.request_id, record.msg_id
        entry = {"line": shown, "key": record.keys.partition(" ")[0]}
        if call not in self._called:
            self._called.add(call)
            self._emit(writer, "line", {**entry, "only": "received"})
        if record.returned:
            status = "CONSUME_SUCCESS" if record.succeeded else "RECONSUME_LATER"
            self._emit(writer, "line", {**entry, "only": "consumed", "status": status})


def _shown(record: TraceRecord) -> str:
    kind = "SubAfter" if record.returned else "SubBefore"
    result = f" success={str(record.succeeded).lower()}" if record.returned else ""
    return f"{kind} keys={record.keys} msgId={record.msg_id}{result}"[:SHOWN]
