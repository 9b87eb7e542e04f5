"""Entries that users' programs write into a topic for what they have handled: read from the brokers, as events."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from rocketchaos.harness.clients.raw_pull import Pulled, PullRequest, pull
from rocketchaos.harness.core.errors import HarnessDefect, RocketchaosError
from rocketchaos.harness.core.events.messages import LineOfNoMessage
from rocketchaos.harness.engine.program_start import speaks_from
from rocketchaos.harness.language.app_spec import Sees
from rocketchaos.harness.rocketmq.allocation import Queue
from rocketchaos.harness.rocketmq.stored_messages import PulledMessage
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.workers.printed_output import SHOWN
from rocketchaos.harness.workers.worker_events import WorkerEvent

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext

LOOK_EVERY_S = 0.2
_GROUP = "TOOLS_CONSUMER"
"""Which every broker has for its tools (MixAll.TOOLS_CONSUMER_GROUP): nothing is committed."""
_AT_ONCE = 32


class WrittenEntries:
    """The topics of one run that `sees: {topic: …}` names, read in a thread of its own."""

    def __init__(self, scenario: Scenario, tell: Callable[[str, WorkerEvent], None]) -> None:
        """
        Args:
            scenario: which consumers write into which topic.
            tell: called with a consumer's name and an event, one at a time.
        """
        self._scenario = scenario
        self._tell = tell
        self._writers: dict[str, list[str]] = {}
        for name, spec in scenario.consumers.items():
            topic = None if spec.app is None or spec.app.sees is None else spec.app.sees.topic
            if topic is not None:
                self._writers.setdefault(topic, []).append(name)
        self._lock = threading.Lock()
        self._offsets: Counter[tuple[str, Queue]] = Counter()
        self._writer_by_address: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._last: dict[str, str] = {}
        self._context: RunContext | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="written-entries", daemon=True)

    def begin(self, context: RunContext) -> None:
        """Read from now on, where there is such a topic."""
        self._context = context
        if self._writers:
            self._thread.start()

    def read(self) -> None:
        """Read all that is there; a broker that doesn't answer is asked again with the next look."""
        if self._context is None or self._ended.is_set():
            return
        with self._lock:
            for topic in self._writers:
                for queue in self._context.servers.queues(topic):
                    for message in self._new(self._context, topic, queue):
                        self._take(self._context, topic, message)

    def seen(self, consumer: str) -> Mapping[str, object]:
        """How many `entries` this consumer has written into which `topic`, and the `last` one."""
        topic = _sees(self._scenario, consumer).topic
        return {"topic": topic, "entries": self._counts[consumer], "last": self._last.get(consumer, "")}

    def close(self) -> None:
        """Read no more. Idempotent."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(LOOK_EVERY_S):
            try:
                self.read()
            except RocketchaosError as error:
                self._note(error)
                return
            except Exception as error:  # a defect must not pass for a program that writes nothing
                self._note(HarnessDefect(f"entries can't be read: {type(error).__name__}: {error}"))
                return

    def _note(self, error: RocketchaosError) -> None:
        if self._context is not None:
            self._context.health.note(error)

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
        sees = _sees(self._scenario, writer or writers[0])
        text = message.body.decode(errors="replace") if sees.body is not None else message.key or ""
        shown = text[:SHOWN]
        if writer is None:
            reason = (
                f"{', '.join(writers)} write into {topic}, and none of them has the address {message.born}"
            )
            body = LineOfNoMessage(line=shown, reason=reason)
            self._emit(writers[0], body.kind, body.as_data())
            return
        self._counts[writer] += 1
        self._last[writer] = shown
        for found in re.finditer(sees.pattern, text):
            told = {name: value for name, value in found.groupdict().items() if value is not None}
            self._emit(writer, "line", {"line": shown, **told})

    def _emit(self, consumer: str, kind: str, data: Mapping[str, object]) -> None:
        self._tell(
            consumer, WorkerEvent(consumer, time.monotonic_ns(), time.time_ns() // 1_000_000, kind, data)
        )

    def _writer(self, context: RunContext, writers: list[str], born: str) -> str | None:
        """Who of several has written it: the one whose connection it came by; once known, also after its end."""
        if len(writers) == 1:
            return writers[0]
        for name in writers if born not in self._writer_by_address else ():
            consumer = context.consumers[name]
            if consumer.started and speaks_from(consumer.pid, consumer.container)(born):
                self._writer_by_address[born] = name
        return self._writer_by_address.get(born)


def _sees(scenario: Scenario, consumer: str) -> Sees:
    app = scenario.consumers[consumer].app
    assert app is not None
    assert app.sees is not None
    return app.sees
