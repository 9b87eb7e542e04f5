"""How long messages may be on their way."""

NATURAL_DELAY_MS = {"compressed": 6_000, "faithful": 30_000}
"""Without a fault, a message that has not come by then is not on its way. Deliveries were seen up to 1 s after the
sending, and up to 5 s after the stored subscription changed under members that held long polls. With RocketMQ's
own timers a rebalance (20 s) and a held pull that has to turn over can come before that."""
ORDERLY_MS = 45_000
"""An orderly consumer pulls a queue that it has gained only once it knows that it has the lock. It asks every 20 s
(ProcessQueue.REBALANCE_LOCK_INTERVAL), and who had the lock may keep it for 20 s where it still held messages
(RebalancePushImpl.UNLOCK_DELAY_TIME_MILLS; 4.9.4)."""
LOCK_MS = 85_000
"""An orderly consumer's queues stay locked for 60 s when it dies (RebalanceLockManager, 4.9.4), and the next one
asks for them every 20 s."""
LOST_PULL_MS = 35_000
"""A pull whose answer is lost with a broker is given up after 30 s, and only then comes the next one of its queue
(CONSUMER_TIMEOUT_MILLIS_WHEN_SUSPEND, 4.9.4): after a broker's restart some queues were seen to wait longer than
6 s, while others of the same member were consumed at once."""
POPPED_MS = 75_000
"""A popped message that is never acknowledged comes again: after the invisible time, 60 s (popInvisibleTime of
Java's client, defaultInvisibleTimeMills of the proxy), and some seconds of reviving (PopReviveService, 5.5.0)."""
REVIVING_MS = 45_000
"""The longest that was seen from the end of a message's invisible time until a broker had put it into the retry
topic and a receive brought it: 30 s, on a busy machine (5.2.0)."""
SHOWN_LATE_MS = 10_000
"""A program may show later that it has handled a message: Java's client collects its trace for 5 s, and the
sending may take 5 s more (AsyncTraceDispatcher.flushTraceInterval, 5.5.0)."""


RETRY_LEVELS_S = (1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200)
"""What the delay levels 1 to 18 mean (MessageStoreConfig.messageDelayLevel, 4.9.4)."""
FIRST_RETRY_LEVEL = 3
"""Of a message that fails for the first time, where its listener doesn't choose; each next time one level more
(AbstractSendMessageProcessor.consumerSendMsgBack, SendMessageProcessor in 4.9.4)."""
SUSPENDED_MS = 1_000
"""An orderly listener that fails gets the message again after that (suspendCurrentQueueTimeMillis, 4.9.4)."""


def natural_delay_ms(timing: str) -> int:
    """In a timing profile: a message that has not come by then is not on its way."""
    return NATURAL_DELAY_MS.get(timing, NATURAL_DELAY_MS["faithful"])


def retry_delay_ms(level: int | None, reconsume_times: int) -> int:
    """How long a message that failed waits for its next attempt.

    Args:
        level: what the listener chose; None or 0: by how often it has failed.
        reconsume_times: of the attempt that failed.
    """
    chosen = level or FIRST_RETRY_LEVEL + reconsume_times
    return RETRY_LEVELS_S[min(chosen, len(RETRY_LEVELS_S)) - 1] * 1000
