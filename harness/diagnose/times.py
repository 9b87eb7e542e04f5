"""The times that members report of their queues."""

from collections.abc import Callable, Iterable, Mapping

from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.model import Connection
from rocketchaos.harness.diagnose.numbers import whole

_LATEST_MS = 24 * 3_600_000
"""A member's clock isn't that much ahead."""


def reader(
    properties: Mapping[str, object], exchange: Exchange, connections: Iterable[Connection]
) -> Callable[[object], int]:
    """How to read a time of this member.

    Until a C++ client, which the Python client is too, first has one, it tells whatever its memory holds
    (PullRequest doesn't set them; seen with rocketmq-client-cpp 2.0.0). Then it is the time of its start.
    """
    if not any(item.language == "CPP" for item in connections):
        return whole
    started_ms = whole(properties.get("PROP_CONSUMER_START_TIMESTAMP"))

    def time(value: object) -> int:
        found = whole(value)
        return found if started_ms <= found <= exchange.at_ms + _LATEST_MS else started_ms

    return time
