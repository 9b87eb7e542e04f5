"""The Java client's messages and queues, in JSON's types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rocketchaos.harness.workers.child.jvm import text
from rocketchaos.harness.workers.child.listener import Described


def described_messages(messages: Any, broker: str | None = None) -> Iterator[Described]:
    """MessageExts as JSON types. `broker` is where they were pulled from, for messages that don't name it."""
    for message in messages:
        origin = broker if broker is not None else str(message.getBrokerName())
        yield {"broker": origin, **described_message(message)}


def described_message(message: Any) -> Described:
    """A MessageClientExt in JSON's types; its topic is the original one (resetRetryAndNamespace).

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
        "queue_id": int(message.getQueueId()),
        "offset": int(message.getQueueOffset()),
        "reconsume_times": int(message.getReconsumeTimes()),
    }


def described_queues(queues: Any) -> list[Described]:
    """MessageQueues in JSON's types."""
    return [
        {
            "topic": str(queue.getTopic()),
            "broker": str(queue.getBrokerName()),
            "queue_id": int(queue.getQueueId()),
        }
        for queue in queues
    ]
