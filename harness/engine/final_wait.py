"""Put off a run's end if only time keeps its checks from deciding: a message may still come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rocketchaos.assertions.event_view import END
from rocketchaos.assertions.lacking_time import LackingTime, as_if_ended_at, lacking_time
from rocketchaos.harness.core.events.run import Waited, WaitedFor
from rocketchaos.harness.probes.moment import observe_moment

if TYPE_CHECKING:
    from rocketchaos.harness.core.model import Event
    from rocketchaos.harness.engine.context import RunContext
    from rocketchaos.harness.probes.context import ProbeContext
    from rocketchaos.harness.probes.watch import Watch
    from rocketchaos.harness.workers.processes import Progress

LIMIT_S = 90.0
"""All waits of one run together; more than the longest of `assertions.on_the_way`."""
LOOK_EVERY_S = 0.25
"""A look reads the whole history. The watch adds to it about as often."""


class FinalWait:
    """Waits until the history can say what the checks ask, which may be before the time is over.

    The answers come from the observation of the end, which is repeated after each wait. A run doesn't wait if its
    checks are decided, or if anything but time keeps them undecided.
    """

    def __init__(
        self,
        context: RunContext,
        progress: Progress,
        new_watch: Callable[[], Watch],
        observe: Callable[[ProbeContext, str, int], None] = observe_moment,
    ) -> None:
        """
        Args:
            context: of the run, whose end has been observed.
            progress: called with a few words on what the run waits for.
            new_watch: looks at the brokers while it waits.
            observe: observes the end again.
        """
        self._context = context
        self._progress = progress
        self._new_watch = new_watch
        self._observe = observe
        self._by_ns = 0

    def __call__(self) -> None:
        """Wait, at most `LIMIT_S`.

        Raises:
            EnvironmentNotReady, HarnessDefect: a worker or a server died meanwhile.
            KeyboardInterrupt: the run was interrupted.
        """
        self._by_ns = self._context.now_ns() + int(LIMIT_S * 1e9)
        times = 1
        while lacking := self._lacking(self._context.history.events):
            self._wait(lacking)
            times += 1
            self._observe(self._context, END, times)

    def _lacking(self, events: Sequence[Event]) -> list[LackingTime]:
        return lacking_time(self._context.scenario, events, self._by_ns)

    def _wait(self, lacking: list[LackingTime]) -> None:
        context, first = self._context, lacking
        began_ns = context.now_ns()
        watch = self._new_watch()
        watch.start()
        try:
            seen = len(context.history.events)
            self._tell(lacking)
            while lacking and (left_s := _seconds_left(lacking, context.now_ns())) > 0:
                context.check_alive()
                context.health.interrupted.wait(min(left_s, LOOK_EVERY_S))
                events = context.history.events
                if len(events) > seen:  # otherwise only time has passed
                    seen = len(events)
                    before, lacking = lacking, self._lacking(as_if_ended_at(events, context.now_ns()))
                    if _latest(lacking) > _latest(before):
                        self._tell(lacking)
        finally:
            watch.stop()
        waited = Waited(
            took_ms=round((context.now_ns() - began_ns) / 1e6, 1),
            checks=tuple(WaitedFor(check=item.check, why=item.why) for item in first),
        )
        context.history.append("harness", waited)

    def _tell(self, lacking: Sequence[LackingTime]) -> None:
        seconds = _seconds_left(lacking, self._context.now_ns())
        checks = ", ".join(dict.fromkeys(item.check for item in lacking))
        self._progress(
            f"{self._context.scenario.name} waits up to {seconds:.0f} s more: a message may still come ({checks})"
        )


def _latest(lacking: Sequence[LackingTime]) -> int:
    return max((item.not_before_ns for item in lacking), default=0)


def _seconds_left(lacking: Sequence[LackingTime], now_ns: int) -> float:
    return (_latest(lacking) - now_ns) / 1e9
