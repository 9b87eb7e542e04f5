"""What a consumer subscribes to now, as it was declared, changed by steps, or reported by a user's program."""

from __future__ import annotations

import threading
from collections.abc import Container, Mapping
from typing import Any

from rocketchaos.harness.core.events.clients import ProgramSubscription, Subscribed, Unsubscribed
from rocketchaos.harness.language.expressions import Expression, from_data

REPORTS = (ProgramSubscription.kind, Subscribed.kind, Unsubscribed.kind)
"""The events by which a user's program reports its subscriptions."""


class CurrentSubscriptions:
    """The subscriptions of one consumer. A program's reports and its answer come from different threads."""

    def __init__(self, declared: Mapping[str, Expression], known: Container[str]) -> None:
        """
        Args:
            declared: what the scenario says; empty: whatever its program subscribes to.
            known: the scenario's topics. A program may subscribe to more, of which nothing is asked.
        """
        self._declared = declared
        self._known = known
        self._lock = threading.Lock()
        self._reported: dict[str, Any] | None = None
        """What its program has reported since its start, by topic; None: nothing yet."""
        self.now: dict[str, Expression] = dict(declared)
        """By topic; at its start what the scenario declares."""
        self.ever = tuple(declared)
        """The topics to which it has ever subscribed."""

    def begin(self) -> None:
        """It starts, or starts again."""
        with self._lock:
            self._reported = None
            self.now = dict(self._declared)

    def add(self, topic: str, expression: Expression) -> None:
        """A step has subscribed it."""
        self.now[topic] = expression
        self.ever = tuple(dict.fromkeys((*self.ever, topic)))

    def remove(self, topic: str) -> None:
        """A step has unsubscribed it."""
        self.now.pop(topic, None)

    def answer(self, own: Mapping[str, Any]) -> None:
        """Its program answers that it has started with these; it may have reported more since then."""
        with self._lock:
            self._are(own if self._reported is None else self._reported)

    def report(self, kind: str, data: Mapping[str, Any]) -> None:
        """Its program has started with these subscriptions, has one more, or one less: an event of `REPORTS`."""
        with self._lock:
            own = dict(self._reported or {})
            match kind:
                case ProgramSubscription.kind:
                    own = dict(data["subscribe"])
                case Subscribed.kind:
                    own[data["topic"]] = data["expression"]
                case Unsubscribed.kind:
                    own.pop(data["topic"], None)
            self._reported = own
            self._are(own)

    def _are(self, own: Mapping[str, Any]) -> None:
        self.now = {topic: from_data(data) for topic, data in own.items() if topic in self._known}
        self.ever = tuple(dict.fromkeys((*self.ever, *self.now)))
