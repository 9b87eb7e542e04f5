"""How far somebody is in a queue, look by look: Burrow's rules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rocketchaos.harness.diagnose.finding import SETTLES_S

STOPPED_S = SETTLES_S
"""Clients commit every 5 s: a shorter history can't show that an offset doesn't move."""
WINDOW_S = SETTLES_S
"""A shorter history can't show that a lag grows."""
LEAST_LOOKS = 3
COMMITTED_EVERY_S = 5.0
"""persistConsumerOffsetInterval."""


@dataclass(frozen=True, slots=True)
class Point:
    """A queue at one look."""

    at_ms: int
    offset: int
    lag: int


def telling_end(points: Sequence[Point]) -> Sequence[Point]:
    """The end of a history, if it shows that the offset has stopped, or that the lag grows; otherwise all of it.

    A watch often begins before that: an offset that once moved, or a lag that was once zero, says nothing of now.
    """
    stopped = _end(points, lambda before, after: before.offset == after.offset)
    if _is_long(stopped, STOPPED_S):
        return stopped
    growing = _end(points, lambda before, after: before.lag <= after.lag)
    return growing if _is_long(growing, WINDOW_S) and _outgrows_commits(growing) else points


def _end(points: Sequence[Point], goes_on: Callable[[Point, Point], bool]) -> Sequence[Point]:
    """The last looks between which this holds, all of them with a lag."""
    begin = len(points)
    while begin > 0 and points[begin - 1].lag > 0:
        if begin < len(points) and not goes_on(*points[begin - 1 : begin + 1]):
            break
        begin -= 1
    return points[begin:]


def _outgrows_commits(points: Sequence[Point]) -> bool:
    """Whether the lag has grown by more than two commits explain: looks and commits come every 5 s, and drift."""
    came = points[-1].offset + points[-1].lag - points[0].offset - points[0].lag
    return (points[-1].lag - points[0].lag) * seen_s(points) > 2 * COMMITTED_EVERY_S * came


def seen_s(points: Sequence[Point]) -> float:
    """From the first look of a history to its last one, in seconds."""
    return (points[-1].at_ms - points[0].at_ms) / 1000


def _is_long(points: Sequence[Point], least_s: float) -> bool:
    return len(points) >= LEAST_LOOKS and seen_s(points) >= least_s


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
    if min(point.offset for point in points) == highest:
        return "stop" if _is_long(points, STOPPED_S) else "unknown"
    if points[-1].lag == points[0].lag or any(a.lag > b.lag for a, b in pairwise(points)):
        return "ok"
    return "warning" if _is_long(points, WINDOW_S) else "growing"
