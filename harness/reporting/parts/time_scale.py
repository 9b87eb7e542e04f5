"""A time axis on which quiet stretches are squeezed, so that 8 sends in 30 ms and 30 s of waiting both show."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_NICE_S = (60.0, 30.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
_CANDIDATE_LIMIT = 500


@dataclass(frozen=True, slots=True)
class Tick:
    """A label of the axis."""

    x: float
    text: str


class TimeScale:
    """Maps seconds to pixels: in order, and exact at every given time; the gaps between are drawn as their roots.

    With `squeezed=False` it is an ordinary linear axis.
    """

    def __init__(self, times: Iterable[float], width: float, *, squeezed: bool = True) -> None:
        known = sorted({time for time in times if time >= 0} | {0.0})
        if len(known) == 1:
            known.append(known[0] + 1.0)
        gaps = [after - before for before, after in pairwise(known)]
        drawn = [math.sqrt(gap) if squeezed else gap for gap in gaps]
        total = sum(drawn)
        self._times = known
        self._positions = [0.0]
        for item in drawn:
            self._positions.append(self._positions[-1] + item / total * width)
        self.width = width

    @property
    def end(self) -> float:
        """The last time, in seconds."""
        return self._times[-1]

    def __call__(self, seconds: float) -> float:
        """The pixel of a time; times off the axis are drawn at its ends."""
        if seconds <= 0:
            return 0.0
        if seconds >= self.end:
            return self.width
        index = bisect_right(self._times, seconds) - 1
        before, after = self._times[index], self._times[index + 1]
        left, right = self._positions[index], self._positions[index + 1]
        return left + (right - left) * (seconds - before) / (after - before)

    def ticks(self, apart: float) -> list[Tick]:
        """Round times at least `apart` pixels from each other, the roundest first to be placed."""
        placed: list[Tick] = [Tick(0.0, "0 s")]
        for step in _NICE_S:
            if self.end / step > _CANDIDATE_LIMIT:
                break
            for number in range(1, int(self.end / step) + 1):
                x = self(number * step)
                # A label hangs to the right of its line: the last one needs room, too.
                if x <= self.width - apart / 2 and _is_free(placed, x, apart):
                    placed.append(Tick(x, f"{number * step:.10g} s"))
        return sorted(placed, key=lambda tick: tick.x)


def _is_free(placed: Sequence[Tick], x: float, apart: float) -> bool:
    return all(abs(tick.x - x) >= apart for tick in placed)
