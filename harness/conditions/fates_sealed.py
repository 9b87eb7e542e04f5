"""The fate of every message of a group is certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.assertions.attempts import awaiting_retry
from rocketchaos.assertions.completeness import patience_ms, still_possible
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.core.events.messages import Received
from rocketchaos.harness.core.model import Event

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext

LOOK_EVERY_MS = 200
"""A look reads the whole history: more of them would take the CPU that parallel runs need."""


class FatesSealed:
    """Whether nothing more will come of the messages that were sent so far, for one group.

    Each was passed by the group's offset, and none waits for its retry; or for so long that nothing can be on its
    way (`assertions.on_the_way`) nothing has happened to what waits, nor has a listener of the group been busy. A
    message that nobody will ever consume keeps it waiting no longer than that.
    """

    def __init__(self, context: ProbeContext, group: str) -> None:
        self._context, self._group = context, group
        self._last: tuple[int, Seen] | None = None

    def __call__(self) -> Seen:
        now_ns = self._context.now_ns()
        if self._last is None or (now_ns - self._last[0]) / 1e6 >= LOOK_EVERY_MS:
            self._last = now_ns, self._observe(now_ns)
        return self._last[1]

    def _observe(self, now_ns: int) -> Seen:
        events = tuple(self._context.history.events)
        last = events[-1]
        # The end of the view is this moment, be there an event of it or not.
        now = Event(last.n + 1, now_ns, last.wall_ms, last.run, "harness", "look")
        view = RunView(self._context.scenario, (*events, now))
        why_not = still_possible(view, [self._group], list(view.sent), now.n)
        if why_not is not None:
            return Seen(False, str(why_not))
        waiting = [
            item
            for item in view.sent
            if item.topic in self._context.members.topics_of(self._group)
            and view.first_passed(self._group, item, now.n) is None
        ]
        failed = awaiting_retry(view, self._group, now.n)
        members = view.scenario.members(self._group)
        busy = [event.mono_ns for event in view.of_kind(Received) if event.node in members][-1:]
        quiet_ms = (now_ns - busy[0]) / 1e6 if busy else float("inf")
        text = f"{len(waiting)} messages wait, {len(failed)} failed last"
        if (waiting or failed) and quiet_ms < patience_ms(view, [self._group], now.n):
            return Seen(
                False, f"{text}, and a listener of {self._group} was busy {quiet_ms / 1000:.1f} s ago"
            )
        return Seen(True, text)
