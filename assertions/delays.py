"""How long messages may be on their way."""

from __future__ import annotations

NATURAL_DELAY_MS = {"compressed": 6_000, "faithful": 30_000}
"""What has not come by then, without a fault, is not on its way. Deliveries were seen up to 1 s after the sending,
and up to 5 s after the stored subscription changed under members that held long polls. With RocketMQ's own timers
a rebalance (20 s) and a held pull that has to turn over can come before that."""
LOCK_MS = 65_000
"""An orderly consumer's queues stay locked for 60 s when it dies (RebalanceLockManager, 4.9.4)."""
POPPED_MS = 75_000
"""What was popped and never acknowledged comes again: after the invisible time, 60 s (popInvisibleTime of Java's
client, defaultInvisibleTimeMills of the proxy), and some seconds of reviving (PopReviveService, 5.5.0)."""


def natural_delay_ms(timing: str) -> int:
    """What has not come by then is not on its way, in a timing profile."""
    return NATURAL_DELAY_MS.get(timing, NATURAL_DELAY_MS["faithful"])
