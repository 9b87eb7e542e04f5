"""What the observations of a run leave in its history: changes, moments, and failures."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from rocketchaos.harness.core.errors import RocketchaosError
from rocketchaos.harness.core.events.run import ProbeFailed

if TYPE_CHECKING:
    from rocketchaos.harness.core.history import History
    from rocketchaos.harness.probes.context import ProbeContext

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Probe = Callable[Concatenate["ProbeContext", _P], _T]


class Observations:
    """Writes an observation down where it differs from the last one of the same, or belongs to a moment."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._last: dict[str, tuple[Mapping[str, Any], int]] = {}
        """By what was observed: what it showed, and when it was begun."""
        self._lock = threading.Lock()
        self._under_way: dict[str, threading.RLock] = {}

    def only(self, probe: str) -> threading.RLock:
        """To be held by an observation of this probe, see `one_at_a_time`."""
        with self._lock:
            return self._under_way.setdefault(probe, threading.RLock())

    def write(self, what: str, kind: str, data: Mapping[str, Any], moment: str | None, began_ns: int) -> None:
        """Write an observation of `what` down, unless the last one showed the same and no moment asks.

        Args:
            what: two observations with the same `what` are of the same thing.
            kind: of the event.
            data: of the event.
            moment: the name of an `observe`, or `end`; None: nobody asks.
            began_ns: when it was begun, CLOCK_MONOTONIC: before anybody was asked.
        """
        with self._lock:
            change = self.change(what, data, moment, began_ns, time.monotonic_ns())
            if change is not None:
                self._history.append("harness", kind, change)

    def change(
        self, what: str, data: Mapping[str, Any], moment: str | None, began_ns: int, at_ns: int
    ) -> dict[str, Any] | None:
        """What is to be written down; None: nothing.

        `look_began_before_ms` in it says how long before it the last one was begun, which showed what was written
        down before. That answer was true at some time while it was under way, so that what has changed since may
        have changed as soon as it was begun, and no earlier.
        """
        last, before_ns = self._last.get(what, (None, began_ns))
        self._last[what] = dict(data), began_ns
        if moment is None and last == data:
            return None
        written = dict(data) if moment is None else {**data, "moment": moment}
        if last is None:
            return written
        return {**written, "look_began_before_ms": round((at_ns - before_ns) / 1e6, 1)}

    def note_failure(self, probe: str, error: str, **where: str) -> None:
        """Write down that one failed; checks answer `unknown` where they miss it."""
        with contextlib.suppress(RocketchaosError):  # the history may be what failed
            self._history.append("harness", ProbeFailed(probe=probe, **where, error=error))


def one_at_a_time(probe: _Probe[_P, _T]) -> _Probe[_P, _T]:
    """A probe. A run makes at most one observation with it at a time.

    The watch and the steps observe the same state. If they did it at the same time, the older answer could be
    written down last, and the history would show what nobody held any more: offsets that ran backwards.
    """

    @functools.wraps(probe)
    def observe(context: ProbeContext, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        with context.observations.only(probe.__name__):
            return probe(context, *args, **kwargs)

    return observe
