"""What decides how long something takes, in words. Which timers do is in `queries/parts/deciding_timers.sql`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

Timers = Mapping[str, Sequence[int]]
"""The names of `harness.rocketmq.timers`, and the milliseconds that they had; several runs may have several."""


@dataclass(frozen=True, slots=True)
class What:
    """A kind of interval."""

    title: str
    says: str
    single: str
    """One of them, and several."""
    many: str


_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "broker.channel-expiry": "expiry of the channel",
        "broker.channel-scan": "scan for expired channels",
        "broker.hold-pull": "long polling",
        "broker.hold-check": "check of held pulls",
        "proxy.hold-receive": "long polling of the proxy",
        "rebalance": "rebalance",
        "rebalance-min": "least interval of rebalances",
        "heartbeat": "heartbeat",
        "settings": "settings of a gRPC client",
        "persist-offsets": "persisting of offsets",
    }
)

WHATS: Mapping[str, What] = MappingProxyType(
    {
        "rebalance": What(
            "Rebalance",
            "From a change of the membership until a member's queues were seen to be, and to stay, as it left "
            "them. Brokers tell the members at once; where that gets lost, the next turn of the client's "
            "own rebalance loop finds out. Whoever is paused or cut off is a member until its channel expires.",
            "member",
            "members",
        ),
        "subscription-flip": What(
            "Subscription flip",
            "From a change of the membership, or a hand-made heartbeat, until a broker was seen to hold "
            "another expression for the group. A rebalance raises the version of a member's subscription, and "
            "its next heartbeat makes the broker store it.",
            "flip",
            "flips",
        ),
        "offset-correction": What(
            "Offset correction",
            "From the acknowledgement of a queue's last message, which a filter took away, until the group's "
            "offset was seen behind it. The client passes it on only when the next pull has come back empty: "
            "long polling decides, not the interval at which offsets are persisted.",
            "queue",
            "queues",
        ),
        "delivery": What(
            "Delivery",
            "From the acknowledgement of a message to its producer until a listener got it first. A message "
            "that arrives wakes the pull that waits for it; where none waits, or nothing wakes it, long "
            "polling has to run out. What was sent before anybody consumed waits for that, too.",
            "message",
            "messages",
        ),
    }
)
"""By the names of the table `timings`, in the order of the report."""


@dataclass(frozen=True, slots=True)
class Decider:
    """One timer that may decide."""

    words: str
    ms: int

    def __str__(self) -> str:
        return f"{self.words} {duration(self.ms)}"


def deciders(timers: str | None) -> list[Decider]:
    """Those of the column `timers` of `timing_histograms`: `broker.hold-pull=15000 broker.hold-check=5000`."""
    named = (item.partition("=") for item in (timers or "").split())
    return [Decider(_WORDS[name], int(ms)) for name, _, ms in named]


def deciding(ms: float, known: Sequence[Decider]) -> Decider | None:
    """The longest of the timers that a time comes near, or goes beyond; None: none had to run out."""
    reached = [decider for decider in known if ms >= 0.8 * decider.ms]
    return max(reached, key=lambda item: item.ms, default=None)


def duration(ms: float) -> str:
    """`15.1 s`, `290 ms`, `2 min`."""
    for size, unit in ((3_600_000, "h"), (60_000, "min"), (1_000, "s")):
        if ms >= size:
            return f"{float(f'{ms / size:.3g}'):g} {unit}"
    return f"{float(f'{ms:.3g}'):g} ms"
