"""Lists, times and queues in sentences."""

from collections.abc import Collection, Iterable
from datetime import UTC, datetime

from rocketchaos.harness.rocketmq.allocation import Queue

_MOST = 8


def joined(words: Collection[str]) -> str:
    """`a, b and c`; many are cut."""
    shown = list(words)[:_MOST]
    if len(words) > _MOST:
        return f"{', '.join(shown)} and {len(words) - _MOST} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def clock(at_ms: int) -> str:
    """`2026-11-25 01:02:03.456Z`."""
    try:
        moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{at_ms} ms"
    return f"{moment:%Y-%m-%d %H:%M:%S}.{at_ms % 1000:03d}Z"


def queues_text(queues: Iterable[Queue]) -> str:
    """`broker-a 0, 1 and 2; broker-b 0`."""
    by_broker: dict[str, list[str]] = {}
    for broker, number in sorted(queues):
        by_broker.setdefault(broker, []).append(str(number))
    return "; ".join(f"{broker} {joined(numbers)}" for broker, numbers in by_broker.items())


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 queue`, `3 queues`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
