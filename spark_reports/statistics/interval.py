"""An estimate and how sure it is."""

from __future__ import annotations

from typing import NamedTuple


class Interval(NamedTuple):
    """A point and the 95 % interval around it, each by itself: not corrected for how many there are."""

    point: float
    low: float
    high: float

    def negated(self) -> Interval:
        """The interval of the difference with the sides exchanged."""
        return Interval(-self.point, -self.high, -self.low)

    def times(self, factor: float) -> Interval:
        """The same in another unit; the factor is positive."""
        return Interval(self.point * factor, self.low * factor, self.high * factor)
