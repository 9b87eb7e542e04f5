"""Why a history can't say something yet, and from which moment on it can. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TooEarly:
    """A message may still come, so it is too early to say that it didn't."""

    why: str
    not_before_ns: int | None = None
    """From here on it can be said, if nothing happens before: CLOCK_MONOTONIC, as `Event.mono_ns`.

    None: time alone doesn't tell, as where a process stands still.
    """

    def __str__(self) -> str:
        return self.why


def latest(moments: Iterable[int | None]) -> int | None:
    """The moment from which on all can be said; None if of one of them time alone doesn't tell, or of none."""
    found = list(moments)
    known = [moment for moment in found if moment is not None]
    return max(known) if known and len(known) == len(found) else None
