"""Whether a member is in the midst of a change of its queues."""

from __future__ import annotations

from collections.abc import Mapping

from harness.allocation import Queue


class QueueChanges:
    """What was seen of a member's queues, by topic and by its own subVersion.

    A Java push consumer changes its queues first, and raises its subVersion then
    (`RebalanceImpl.rebalanceByTopic`, 4.9.4 and 5.5.0): other queues under a subVersion that was seen before say
    that it will rise. On a busy machine that took more than a second, and what looked settled was not: in 3 of 450
    runs at a load above 20.
    """

    def __init__(self, at_start: Mapping[str, int]) -> None:
        """
        Args:
            at_start: its subVersions before it started, when it had no queues; empty where the client doesn't
                show them: then no change can be seen.
        """
        self._first: dict[tuple[str, int], tuple[Queue, ...]] = dict.fromkeys(at_start.items(), ())

    def under_way(self, topic: str, version: int, queues: tuple[Queue, ...]) -> bool:
        """Whether its subVersion will rise, for it has these queues now."""
        return bool(self._first) and self._first.setdefault((topic, version), queues) != queues
