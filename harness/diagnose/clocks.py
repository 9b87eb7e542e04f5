"""Brokers' clocks, compared with this machine's."""

import re
from collections.abc import Mapping
from dataclasses import replace

from rocketchaos.harness.diagnose import read
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.model import Broker, QueueEnds
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.rocketmq.allocation import Queue

APART_S = 10
"""Clocks that differ by less are taken for equal: a broker tells its age in whole seconds."""
_RUNTIME = re.compile(r"\[\s*(\d+) days, (\d+) hours, (\d+) minutes, (\d+) seconds\s*\]")


def apart_s(broker: Broker) -> float | None:
    """By how much a broker's clock is ahead of this machine's; None: it doesn't tell."""
    found = _RUNTIME.search(broker.runtime.get("runtime", ""))
    boot = broker.runtime.get("bootTimestamp", "")
    if not found or not whole(boot) or len(broker.asked) < 2:
        return None
    days, hours, minutes, seconds = map(whole, found.groups())
    now_ms = whole(boot) + 1000 * (((days * 24 + hours) * 60 + minutes) * 60 + seconds)
    return (now_ms - broker.asked[1].at_ms) / 1000


def ends(answers: Mapping[str, Exchange], brokers: Mapping[str, Broker]) -> dict[Queue, QueueEnds]:
    """Where queues begin and end, and when their last messages were stored, by this machine's clock.

    Args:
        answers: to 202, by broker.
        brokers: by name.
    """
    found: dict[Queue, QueueEnds] = {}
    for name, answer in answers.items():
        ahead_s = apart_s(brokers[name]) or 0
        ahead_ms = int(1000 * ahead_s) if abs(ahead_s) > APART_S else 0
        for queue, item in read.ends(answer).items():
            stored_ms = item.updated_ms - ahead_ms if item.updated_ms else 0
            # One of the future was stored before somebody set the clock back.
            by_it = ahead_ms and stored_ms <= answer.at_ms + 1000 * APART_S
            found[queue] = replace(item, updated_ms=stored_ms) if by_it else item
    return found
