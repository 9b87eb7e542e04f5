"""What Java consumers say of a message that they get."""

from __future__ import annotations

from typing import Any

from harness.workers.jvm import text
from harness.workers.listener import Described


def described_message(message: Any, broker: str | None = None) -> Described:
    """A MessageClientExt in JSON's types; its topic is the original one (resetRetryAndNamespace).

    `broker` is where it was pulled from, where the message doesn't say it.

    The first of its keys is `key`, which the harness gave it; the others are `keys`.
    """
    keys = (text(message.getKeys()) or "").split()
    return {
        "topic": str(message.getTopic()),
        "tag": text(message.getTags()),
        "key": keys[0] if keys else None,
        "keys": keys[1:],
        "msg_id": text(message.getMsgId()),
        "offset_msg_id": text(message.getOffsetMsgId()),
        "broker": broker if broker is not None else str(message.getBrokerName()),
        "queue_id": int(message.getQueueId()),
        "offset": int(message.getQueueOffset()),
        "reconsume_times": int(message.getReconsumeTimes()),
    }


def described_queue(queue: Any) -> Described:
    """A MessageQueue in JSON's types."""
    return {
        "topic": str(queue.getTopic()),
        "broker": str(queue.getBrokerName()),
        "queue_id": int(queue.getQueueId()),
    }
