"""Whole numbers in answers, which may come from anybody."""

import re

_WHOLE = re.compile(r"-?[0-9]{1,19}")
_LARGEST = 2**63 - 1
"""Java's Long.MAX_VALUE: no answer of RocketMQ has a larger one."""
_MOST_QUEUES = 16_384
"""Of a topic on one broker. More than that is no topic's number; 1,024 take 20 s to create."""


def whole(value: object) -> int:
    """The value as a whole number, also where it is written as text; 0 where it is none that Java's long holds."""
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    number = int(text) if _WHOLE.fullmatch(text) else 0
    return number if abs(number) <= _LARGEST else 0


def queue_count(value: object) -> int:
    """The number of a topic's queues on a broker; 0 where it can't be one."""
    number = whole(value)
    return number if 0 <= number <= _MOST_QUEUES else 0
