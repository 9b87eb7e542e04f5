"""How often a scenario is run for a verdict that is a share, and when that is enough. Pure."""

from pydantic import Field, ValidationInfo, field_validator

from rocketchaos.harness.core.intervals import wilson_interval
from rocketchaos.harness.language.words import Strict


class Repeats(Strict):
    """How often `rocketchaos claims run` repeats the scenario: until each share is precise enough.

    The interval is Wilson's, of 95 %; its half width is half the distance between its ends.
    """

    at_least: int = Field(default=20, ge=1, le=10_000, description="at least this many runs")
    until_half_width: float = Field(
        default=0.15,
        gt=0,
        lt=0.5,
        description="then more, until the interval of every share reaches at most this far to either side of "
        "its middle",
    )
    at_most: int = Field(
        default=200,
        ge=1,
        le=10_000,
        description="at most this many runs, however wide the intervals still are",
    )

    @field_validator("at_most")
    @classmethod
    def _not_below(cls, at_most: int, info: ValidationInfo) -> int:
        if at_most < info.data.get("at_least", 1):
            raise ValueError("`at_most` is less than `at_least`")
        return at_most

    def is_enough(self, runs: int, shares: list[tuple[int, int]]) -> bool:
        """Whether no more runs are needed.

        Args:
            runs: how many there were, also those that showed nothing.
            shares: of each statement how often it held, and of how many runs.
        """
        if runs >= self.at_most:
            return True
        return runs >= self.at_least and all(
            total > 0 and half_width(held, total) <= self.until_half_width for held, total in shares
        )


def half_width(held: int, total: int) -> float:
    """Half the distance between the ends of the interval of a share."""
    low, high = wilson_interval(held, total)
    return (high - low) / 2
