"""Retries that wait for their delay: no lag shows them, and only the broker's delay levels have them."""

from collections.abc import Iterator
from dataclasses import dataclass

from rocketchaos.harness.diagnose import read
from rocketchaos.harness.diagnose.finding import Evidence
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import clock

_SOON_MS = 5_000
"""A listener that fails a retry within this time shows that the next delayed message may be the same one."""
_FIRST_LEVEL = 3
"""Of a first retry; a further one has the next level, unless its listener chooses (handleRetry; 4.9.4, 5.5.0)."""
_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


@dataclass(frozen=True)
class Following:
    """A delayed message that may be the next retry."""

    broker: str
    evidence: Evidence
    usual: bool
    """Whether the next retry has this delay, by the number that have come, unless its listener chooses."""


def next_retries(view: GroupView, topic: str) -> Iterator[Following]:
    """Delayed messages that a broker stored right after the last retry, and that may be the next one.

    A client sends a failed message back to the broker that has it (sendMessageBack), and that stores it in a delay
    level at once (4.9.4, 5.5.0). The queue of a level has each message's time of delivery, by the broker's clock.
    """
    for name, backlog in view.now.backlogs.items():
        stats = view.now.stats.get(topic, {}).get(name)
        ends = list(read.ends(stats).values()) if stats else []
        last_ms = max((end.updated_ms for end in ends), default=0)
        came = sum(end.max_offset for end in ends)
        levels = view.now.brokers[name].config.get("messageDelayLevel", "").split()
        for level, answer in sorted(backlog.next_delayed.items()):
            due_ms = next((whole(item.get("tagsCode")) for item in read.queue_data(answer)), 0)
            if not (last_ms and due_ms and 0 < level <= len(levels)):
                continue
            delayed_ms = due_ms - _delay_ms(levels[level - 1])
            if 0 <= delayed_ms - last_ms <= _SOON_MS:
                after_s = (delayed_ms - last_ms) / 1000
                says = f"a message is delayed by {levels[level - 1]}, {after_s:.1f} s after that retry, "
                evidence = Evidence(answer, f"{says}until {clock(due_ms)}")
                yield Following(name, evidence, usual=came >= level - _FIRST_LEVEL)


def _delay_ms(text: str) -> int:
    """The delay of a level, `4m`, in milliseconds."""
    return whole(text[:-1]) * _UNITS_MS.get(text[-1:], 0)
