"""A program's line about a message, or its entry in a topic, as the events that a listener would have written."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from rocketchaos.harness.core.events.base import Body
from rocketchaos.harness.core.events.messages import Consumed, LineOfNoMessage, Received, SendInvoked
from rocketchaos.harness.core.history import History
from rocketchaos.harness.scenario.model import Scenario

_STATUS = {"lines": "PRINTED", "topic": "WRITTEN", "http": "ANSWERED", "trace": "TRACED"}
"""The status if a line, an entry of a topic, or an answer, only says that the message was handled."""
_AS_IT_IS = ("CONSUME_SUCCESS", "RECONSUME_LATER", "SUCCESS", "SUSPEND_CURRENT_QUEUE_A_MOMENT")
_ANSWERS = {**{answer: answer for answer in _AS_IT_IS}, "FAILURE": "RECONSUME_LATER"}
"""What RocketMQ's listeners answer, FAILURE by gRPC (ConsumeResult), and the status that it is in the history. A
program's own words, such as FAILED, aren't judged."""
_MOST_UNKNOWN = 100


class PrintedEvents:
    """Knows the messages of one run by their keys. Only one thread at a time may ask it."""

    def __init__(self, scenario: Scenario, history: History) -> None:
        self._scenario = scenario
        self._history = history
        self._read = 0
        self._messages: dict[str, SendInvoked] = {}
        self._by_key: dict[str, list[SendInvoked]] = {}
        """By each of their further keys."""
        self._unknown: Counter[str] = Counter()

    def of(self, consumer: str, entry: Mapping[str, Any]) -> Iterator[Body]:
        """The events of a line. `entry` has its text, `line`, and the named groups.

        It may also have `only`, `received` or `consumed`: the one of the two that it is about.
        """
        found = self._unknown_status(entry) or self._message(consumer, entry)
        line = str(entry["line"])
        if isinstance(found, str):
            self._unknown[consumer] += 1
            if self._unknown[consumer] <= _MOST_UNKNOWN:
                yield LineOfNoMessage(line=line, reason=found)
            return
        if entry.get("only") != Consumed.kind:
            yield _received(found, entry, line)
        if entry.get("only") != Received.kind:
            usual = _STATUS[self._scenario.consumers[consumer].traits.seen_by]
            yield Consumed(key=found.key, status=_ANSWERS.get(entry.get("status", ""), usual))

    @staticmethod
    def _unknown_status(entry: Mapping[str, Any]) -> str:
        """Why the status of a line says neither success nor failure; empty if it does, or if there is none."""
        status = entry.get("status")
        if status is None or status in _ANSWERS:
            return ""
        return (
            f"the group `status` is {status!r}, and none of {', '.join(_ANSWERS)}: leave the group out, and let "
            "the pattern match only what says that a message was handled"
        )

    def _message(self, consumer: str, entry: Mapping[str, Any]) -> SendInvoked | str:
        """The message that a line names, or why it names none."""
        self._learn()
        if "key" in entry:
            key = str(entry["key"])
            if key in self._messages:
                return self._messages[key]
            named = self._by_key.get(key, [])
            if len(named) == 1:
                return named[0]
            return (
                f"{len(named)} messages have the key {key!r}" if named else f"no message has the key {key!r}"
            )
        topics = (
            [str(entry["topic"])] if "topic" in entry else list(self._scenario.consumers[consumer].subscribe)
        )
        number = _number(entry.get("number"))
        key = f"{topics[0]}-{number}"
        return self._messages.get(key) or f"{topics[0]} has no message of the number {entry.get('number')!r}"

    def _learn(self) -> None:
        events = self._history.events
        for event in events[self._read :]:
            if isinstance(event.body, SendInvoked):
                self._messages[event.body.key] = event.body
                for key in event.body.keys:
                    self._by_key.setdefault(key, []).append(event.body)
        self._read = len(events)


def _received(found: SendInvoked, entry: Mapping[str, Any], line: str) -> Received:
    broker, _, queue = str(entry.get("queue", "")).rpartition(":")
    return Received(
        topic=found.topic,
        tag=entry.get("tag", found.tag),
        key=found.key,
        keys=found.keys,
        broker=broker or None,
        queue_id=_number(queue),
        offset=_number(entry.get("offset")),
        line=line,
    )


def _number(text: object) -> int | None:
    return int(text) if isinstance(text, str) and text.isascii() and text.isdigit() else None
