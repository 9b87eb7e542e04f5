"""The Java client's messages and queues, in JSON's types."""

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
    """A message in JSON's types; its topic is the original one (resetRetryAndNamespace).

    The first of its keys is `key`, which the harness gave it; the others are `keys`. A pull brings a
    MessageClientExt. What a broker hands over directly (CONSUME_MESSAGE_DIRECTLY, 309) is a plain MessageExt,
    whose msgId is its offsetMsgId.
    """
    keys = (text(message.getKeys()) or "").split()
    stored = message.getOffsetMsgId() if hasattr(message, "getOffsetMsgId") else message.getMsgId()
    direct = message.getUserProperty("UNIQ_KEY") if stored == message.getMsgId() else None
    return {
        "topic": str(message.getTopic()),
        "tag": text(message.getTags()),
        "key": keys[0] if keys else None,
        "keys": keys[1:],
        "msg_id": text(message.getMsgId() if direct is None else direct),
        "offset_msg_id": text(stored),
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
