"""How RocketMQ's allocation strategies divide queues among members; pure."""

from __future__ import annotations

from collections.abc import Sequence

Queue = tuple[str, int]
"""Broker name and queue id; sorted like `org.apache.rocketmq.common.message.MessageQueue`."""


def average(queues: Sequence[Queue], members: Sequence[str], member: str) -> tuple[Queue, ...]:
    """The queues of `member`: contiguous blocks, the first members one more where it doesn't divide.

    After `AllocateMessageQueueAveragely` (RocketMQ 4.9.4): queues and client ids are sorted, as strings.

    Raises:
        ValueError: `member` is not among `members`.
    """
    ordered, ids = sorted(queues), sorted(members)
    index = ids.index(member)
    share, rest = divmod(len(ordered), len(ids))
    start = index * share + min(index, rest)
    return tuple(ordered[start : start + share + (1 if index < rest else 0)])
