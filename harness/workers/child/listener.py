"""The listener of a consumer: it reports each message, and behaves as the scenario says.

Consumers of every kind of worker hand their messages over to a `Listener`, in JSON's types, whatever their client
calls them with.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rocketchaos.harness.workers.protocol import EventPipe

ALL = "all"
"""In place of keys: it blocks on every message."""

Described = dict[str, Any]


class Abandoned(Exception):
    """The consumer was stopped while its listener blocked: nothing is reported any more."""


class Listener:
    """The listener of one consumer; safe to use from its client's threads."""

    def __init__(
        self,
        name: str,
        events: EventPipe,
        *,
        fail: int = 0,
        by: str = "status",
        block: str | Sequence[str] = (),
        slow_ms: int = 0,
        change_invisible_ms: int = 0,
        only: Sequence[str] = (),
        reply: bool = False,
        auto_commit: bool = True,
        commit: str | Sequence[str] = (),
    ) -> None:
        """
        Args:
            name: the consumer's.
            events: where it reports.
            fail: a message fails while its reconsumeTimes is below this.
            by: how it fails: by its `status`, an `exception`, or `nothing`; its client's own object does that.
            block: the keys of the messages on which it blocks until `release`, or `all`.
            slow_ms: how long it takes for each message.
            change_invisible_ms: what a simple consumer sets the invisible time of each message to; 0: nothing.
            only: the keys of the messages that all of it except `block` is about; empty: all.
            reply: it replies to requests; its client's own object does that.
            auto_commit: whether its client commits by itself; the client's own object does that.
            commit: if not, the keys of the messages after which it commits all so far, or `all`.
        """
        self._name = name
        self._events = events
        self._fail = fail
        self.by = by
        self._block = block
        self._slow_s = slow_ms / 1000
        self._change_invisible_s = change_invisible_ms // 1000
        self._only = only
        self.replies = reply
        self.auto_commit = auto_commit
        self._commit = commit
        self._released = threading.Event()
        self._abandoned = threading.Event()

    def receive(
        self, messages: Iterable[Described], change_invisible: Callable[[int], None] | None = None
    ) -> tuple[list[Described], bool]:
        """Report messages, take the time that it takes, and say whether they succeed.

        Each has the fields of the event `received`, see `harness.workers.protocol`, except for `consumer`.

        Args:
            messages: what came at once; of a client that can change the invisible time, one after the other.
            change_invisible: called with seconds, if the behaviour has that; None: the client can't.

        Raises:
            Abandoned: the consumer is gone.
        """
        seen = list(messages)
        batch = {} if change_invisible else {"batch": len(seen)}
        for described in seen:
            self._events.emit("received", {"consumer": self._name, **described, **batch})
        for described in seen:
            if change_invisible and self._change_invisible_s and self._concerns(described):
                change_invisible(self._change_invisible_s)
            if self._slow_s and self._concerns(described):
                self._abandoned.wait(self._slow_s)
            if self._block == ALL or described["key"] in self._block:
                self._wait_for_release(described)
        return seen, not any(map(self._fails, seen))

    def commits(self, seen: Iterable[Described]) -> bool:
        """Whether it commits by itself what it has got so far, with these messages."""
        return not self.auto_commit and any(
            self._commit == ALL or described["key"] in self._commit for described in seen
        )

    def _fails(self, described: Described) -> bool:
        return self._concerns(described) and described["reconsume_times"] < self._fail

    def _concerns(self, described: Described) -> bool:
        """Whether its behaviour, except `block`, is about this message."""
        return not self._only or described["key"] in self._only

    def _wait_for_release(self, described: Described) -> None:
        if not self._released.is_set():
            self._events.emit("blocked", {"consumer": self._name, **_identity(described)})
            self._released.wait()
        if self._abandoned.is_set():
            raise Abandoned

    def report(self, seen: Sequence[Described], status: str) -> None:
        """Report what was answered for the messages."""
        for described in seen:
            self._events.emit("consumed", {"consumer": self._name, **_identity(described), "status": status})

    def report_reply(self, described: Described, **how: Any) -> None:
        """Report that it has replied to a message, with its `status`, or why that was refused."""
        kind = "replied" if "status" in how else "reply-refused"
        self._events.emit(kind, {"consumer": self._name, **_identity(described), **how})

    def report_error(self, error: BaseException) -> None:
        """Report that the listener itself failed."""
        described = {"consumer": self._name, "error": f"{type(error).__name__}: {error}"}
        self._events.emit("listener-error", described)

    def release(self) -> None:
        """Block no more."""
        self._released.set()

    def abandon(self) -> None:
        """Release calls that block or are slow, without an event: the consumer is shut down."""
        self._abandoned.set()
        self._released.set()


def _identity(described: Mapping[str, Any]) -> Described:
    return {name: described[name] for name in ("key", "msg_id", "offset_msg_id")}
