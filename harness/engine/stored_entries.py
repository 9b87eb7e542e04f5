"""Entries that users' programs write into a topic: read from the brokers, without being a member of any group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rocketchaos.harness.clients.dispatch import undispatched_bytes
from rocketchaos.harness.clients.raw_pull import Pulled, PullRequest, pull
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.engine.entries import Entries, Tell
from rocketchaos.harness.engine.program_start import speaks_from
from rocketchaos.harness.rocketmq.allocation import Queue
from rocketchaos.harness.rocketmq.stored_messages import PulledMessage
from rocketchaos.harness.scenario.model import Scenario

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext

_GROUP = "TOOLS_CONSUMER"
"""Which every broker has for its tools (MixAll.TOOLS_CONSUMER_GROUP): nothing is committed."""
_AT_ONCE = 32
_DISPATCH_LIMIT_S = 10.0
_LOOK_AGAIN_S = 0.02


class StoredEntries(Entries):
    """Reads on from where it is in each queue, and knows who has written what."""

    look_every_s = 0.2

    def __init__(self, scenario: Scenario, way: str, tell: Tell) -> None:
        super().__init__(scenario, way, tell)
        self._offsets: Counter[tuple[str, Queue]] = Counter()
        self._writer_by_address: dict[str, str] = {}

    def _read_all(self, context: RunContext) -> None:
        """Once each broker has dispatched all: it answers a send before the message is in its queue."""
        for broker, address in context.servers.broker_addresses.items():
            try:
                seen = look_until(
                    partial(undispatched_bytes, address),
                    lambda seen: seen == 0,
                    _DISPATCH_LIMIT_S,
                    _LOOK_AGAIN_S,
                )
            except OSError:
                continue  # a broker that is down shows nothing
            if seen != 0:
                shown = f"{seen} B" if seen else "an unknown amount"
                context.observations.note_failure(
                    "entries",
                    f"after {_DISPATCH_LIMIT_S:g} s {broker} has {shown} of messages in no queue yet",
                )
        self._read(context)

    def _new(self, context: RunContext, real: str, queue: Queue) -> Iterator[PulledMessage]:
        """What this queue of a topic, by its real name, has more than before.

        A broker that doesn't answer is asked again with the next look.
        """
        broker, number = queue
        key = real, queue
        while (address := context.servers.broker_addresses.get(broker)) is not None:
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

    def _writer(self, context: RunContext, writers: Sequence[str], born: str) -> str | None:
        """Who of several has written it: the one whose connection it came by; once known, also after its end."""
        if len(writers) == 1:
            return writers[0]
        for name in writers if born not in self._writer_by_address else ():
            consumer = context.consumers[name]
            if consumer.started and speaks_from(consumer.pid, consumer.container)(born):
                self._writer_by_address[born] = name
        return self._writer_by_address.get(born)
