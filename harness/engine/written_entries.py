"""Entries that users' programs write into a topic for what they have handled: read from the brokers, as events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocketchaos.harness.clients.raw_pull import Pulled, PullRequest, pull
from rocketchaos.harness.core.events.messages import LineOfNoMessage
from rocketchaos.harness.engine.entries import Entries, Tell
from rocketchaos.harness.engine.program_start import speaks_from
from rocketchaos.harness.rocketmq.allocation import Queue
from rocketchaos.harness.rocketmq.stored_messages import PulledMessage
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.workers.printed_output import SHOWN

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext

_GROUP = "TOOLS_CONSUMER"
"""Which every broker has for its tools (MixAll.TOOLS_CONSUMER_GROUP): nothing is committed."""
_AT_ONCE = 32


class WrittenEntries(Entries):
    """The topics of one run that `sees: {topic: …}` names."""

    look_every_s = 0.2

    def __init__(self, scenario: Scenario, tell: Tell) -> None:
        super().__init__(scenario, "topic", tell)
        self._writers: dict[str, list[str]] = {}
        for name, sees in self._sees.items():
            self._writers.setdefault(str(sees.topic), []).append(name)
        self._offsets: Counter[tuple[str, Queue]] = Counter()
        self._writer_by_address: dict[str, str] = {}

    def _read(self, context: RunContext) -> None:
        """All queues; a broker that doesn't answer is asked again with the next look."""
        for topic in self._writers:
            for queue in context.servers.queues(topic):
                for message in self._new(context, topic, queue):
                    self._take(context, topic, message)

    def _where(self, consumer: str) -> str:
        return f"written into {self._sees[consumer].topic}"

    def _new(self, context: RunContext, topic: str, queue: Queue) -> Iterator[PulledMessage]:
        broker, number = queue
        key = topic, queue
        while (address := context.servers.broker_addresses.get(broker)) is not None:
            real = context.names.real(topic)
            request = PullRequest(_GROUP, real, number, self._offsets[key], _AT_ONCE, "*", "TAG", 0, 0)
            try:
                answer = pull(address, request)
            except OSError:
                return
            yield from answer.messages
            if not self._goes_on(key, answer):
                return

    def _goes_on(self, key: tuple[str, Queue], answer: Pulled) -> bool:
        """Whether there may be more, from the new offset on."""
        before = self._offsets[key]
        self._offsets[key] = max(before, answer.next_offset or 0)
        return self._offsets[key] > before

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
        for told, _ in self._found(writer, text):
            self._emit(writer, "line", {"line": shown, **told})

    def _writer(self, context: RunContext, writers: list[str], born: str) -> str | None:
        """Who of several has written it: the one whose connection it came by; once known, also after its end."""
        if len(writers) == 1:
            return writers[0]
        for name in writers if born not in self._writer_by_address else ():
            consumer = context.consumers[name]
            if consumer.started and speaks_from(consumer.pid, consumer.container)(born):
                self._writer_by_address[born] = name
        return self._writer_by_address.get(born)
