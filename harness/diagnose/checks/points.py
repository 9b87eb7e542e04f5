"""How far somebody is in a queue, look by look: Burrow's rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rocketchaos.harness.diagnose.finding import SETTLES_S

STOPPED_S = SETTLES_S
"""Clients commit every 5 s: a shorter history can't show that an offset doesn't move."""
WINDOW_S = SETTLES_S
"""A shorter history can't show that a lag grows."""
LEAST_LOOKS = 3


@dataclass(frozen=True, slots=True)
class Point:
    """A queue at one look."""

    at_ms: int
    offset: int
    lag: int


def state(points: Sequence[Point]) -> str:
    """Burrow's status: `ok`, `rewind`, `stop`, `warning`; if it is too short, `unknown` for an offset that hasn't
    moved, and `growing` for a lag that has grown so far.

    A broker reports the offset that it holds, not when it was committed: so Burrow's STOP and STALL are one status
    here, an offset that doesn't move while there is a lag.
    """
    if not points or any(item.lag == 0 for item in points):
        return "ok"
    highest = max(point.offset for point in points)
    if points[-1].offset < highest:
        return "rewind"
    past_s = (points[-1].at_ms - points[0].at_ms) / 1000
    if min(point.offset for point in points) == highest:
        return "stop" if len(points) >= LEAST_LOOKS and past_s >= STOPPED_S else "unknown"
    if points[-1].lag == points[0].lag or any(a.lag > b.lag for a, b in pairwise(points)):
        return "ok"
    return "warning" if len(points) >= LEAST_LOOKS and past_s >= WINDOW_S else "growing"
