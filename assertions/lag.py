"""How far a group is behind in some queues. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from rocketchaos.harness.core.events.observed import QueueProgress


@dataclass(frozen=True, slots=True)
class Lag:
    """Over all of the queues together."""

    messages: int
    """The number of messages behind the ends. Without a stored offset all messages count. An offset beyond an end
    doesn't reduce the number."""
    beyond: int
    """The number of messages by which offsets are beyond the ends of their queues, as after `reset-offset`."""
    text: str
    """`broker-a:0 2 of 4, broker-a:1 none of 3`."""


def lag_over(queues: Iterable[QueueProgress]) -> Lag:
    """The question of `offsets`, as a check and as a condition of `settle`."""
    messages, beyond, texts = 0, 0, []
    for queue in queues:
        behind = queue.max_offset - (queue.consumer_offset or 0)
        messages += max(0, behind)
        beyond += max(0, -behind)
        stored = "none" if queue.consumer_offset is None else queue.consumer_offset
        texts.append(f"{queue.name} {stored} of {queue.max_offset}")
    return Lag(messages, beyond, ", ".join(texts))
