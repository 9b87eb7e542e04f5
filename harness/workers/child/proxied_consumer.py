"""What consumers that the proxy serves have in common, whichever client they are of."""

from collections.abc import Mapping, Sequence
from typing import Any

from rocketchaos.harness.workers.child.listener import Listener
from rocketchaos.harness.workers.protocol import CommandFailed

CONSUMED, FAILED = "CONSUME_SUCCESS", "RECONSUME_LATER"
"""What a listener's answer, or the lack of an ack, is called in events: as Java's ConsumeConcurrentlyStatus."""
THREADS = "consumeThreadMax"
"""The one setting that they have, by its name in Java's remoting client."""
BATCH = 32
"""At most this many messages come with one receive of a simple consumer."""
INVISIBLE_MS = 15_000
"""How long what a simple consumer has received is kept from others, unless it acks: as in its examples."""
LONG_POLLING_MS = 20_000
"""How long the proxy holds a simple consumer's receive: its maximum."""
TRY_AGAIN_S = 1.0
"""A simple consumer whose receive failed waits this long."""
STOP_LIMIT_S = 2.0
"""How long the end of a simple consumer's last receive is waited for."""


class ProxiedConsumer:
    """The proxy distributes messages to it: it owns no queues, and pulls nothing."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._client: Any = None

    def release(self) -> None:
        """Let its listener block no more."""
        self._listener.release()

    def versions(self) -> Mapping[str, int]:
        """None: the proxy makes them."""
        return {}

    def assignment(self) -> Sequence[Mapping[str, Any]]:
        """Not available: every member gets messages from every queue."""
        raise CommandFailed("a gRPC consumer owns no queues: every member of its group is served from all")

    def pull_counts(self, topic: str) -> Mapping[str, int]:
        """Not there: the proxy pops for it."""
        raise CommandFailed(f"a gRPC consumer counts no pulls of {topic}")
