"""Whether a member is in the midst of a change of its queues."""

from collections.abc import Mapping

from rocketchaos.harness.rocketmq.allocation import Queue

_Queues = tuple[Queue, ...]


class QueueChanges:
    """What was seen of a member's queues, by topic and by its own subVersion.

    A Java push consumer changes its queues first, and raises its subVersion then
    (`RebalanceImpl.rebalanceByTopic`, 4.9.4 and 5.5.0): other queues than those that belong to its subVersion say
    that it will rise. On a busy machine that took more than a second, and what looked settled was not: in 3 of 450
    runs at a load above 20.

    Its answer to code 307 isn't of one moment: its queues come first, then its subscriptions
    (`DefaultMQPushConsumerImpl.consumerRunningInfo`). So what belongs together is known where two looks, one after
    the other, show the same.
    """

    def __init__(self, at_start: Mapping[str, int]) -> None:
        """
        Args:
            at_start: its subVersions before it started, when it had no queues; empty if the client doesn't
                show them: then no change can be seen.
        """
        self._can_be_seen = bool(at_start)
        self._together: dict[tuple[str, int], _Queues] = dict.fromkeys(at_start.items(), ())
        self._last: dict[str, tuple[int, _Queues]] = {}

    def under_way(self, topic: str, version: int, queues: _Queues) -> bool:
        """Whether its subVersion will rise because it has these queues now."""
        twice = self._last.get(topic) == (version, queues)
        self._last[topic] = version, queues
        if twice:
            self._together.setdefault((topic, version), queues)
        return self._can_be_seen and self._together.get((topic, version), queues) != queues
