"""What lets a broker's answers wait."""

from typing import Protocol


class DelayLine(Protocol):
    """What lets answers of one broker wait."""

    @property
    def mechanism(self) -> str:
        """`tc netem` or `Toxiproxy`."""

    def set(self, delay_ms: int, jitter_ms: int) -> None:
        """From here on each answer waits so long, evenly give or take the jitter; both in milliseconds.

        Raises:
            EnvironmentNotReady: it isn't available.
        """

    def clear(self) -> None:
        """Nothing waits any more. Idempotent."""
