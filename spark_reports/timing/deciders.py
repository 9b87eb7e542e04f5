"""The timers that decide how long something takes, in words; `queries/parts/deciding_timers.sql` selects them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Timers = Mapping[str, Sequence[int]]
"""The names of `harness.rocketmq.timers`, and the milliseconds that they had; several runs may have several."""


@dataclass(frozen=True, slots=True)
class What:
    """A kind of interval."""

    title: str
    says: str
    many: str
    """Several of them."""


_WORDS: Mapping[str, str] = {
    "broker.channel-expiry": "expiry of the channel",
    "broker.channel-scan": "scan for expired channels",
    "broker.hold-pull": "long polling",
    "broker.hold-check": "check of held pulls",
    "proxy.hold-receive": "long polling of the proxy",
    "rebalance": "rebalance",
    "rebalance-min": "minimum interval of rebalances",
    "heartbeat": "heartbeat",
    "settings": "settings of a gRPC client",
    "persist-offsets": "persisting of offsets",
}

WHATS: Mapping[str, What] = {
    "rebalance": What(
        "Rebalance",
        "From a change of the membership until a look saw a member own the queues that it kept from then on. "
        "Brokers notify the members at once. If the notification is lost, the client notices the change in "
        "the next round of its own rebalance loop. A member that is paused or cut off stays a member until "
        "its channel expires.",
        "members",
    ),
    "subscription-flip": What(
        "Subscription flip",
        "From a change of the membership, or a heartbeat sent by the scenario, until a look saw that a "
        "broker holds another expression for the group. A rebalance raises the version of a member's "
        "subscription, and its next heartbeat makes the broker store it.",
        "flips",
    ),
    "offset-correction": What(
        "Offset correction",
        "From the acknowledgement of a queue's last message, which a filter dropped, until a look saw that "
        "the group's offset had passed it. The client reports this offset only after its next pull has found "
        "nothing: so long polling decides, not the interval at which offsets are persisted.",
        "queues",
    ),
    "delivery": What(
        "Delivery",
        "From the acknowledgement of a message to its producer until the first listener got it. A new message "
        "wakes the pull that waits for it. If no pull waits, or nothing wakes it, long polling has to run out "
        "first. A message that was sent before a consumer started also waits for that consumer.",
        "messages",
    ),
}
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
    """The longest of the timers that a duration comes near or exceeds; None: no timer had to run out."""
    reached = [decider for decider in known if ms >= 0.8 * decider.ms]
    return max(reached, key=lambda item: item.ms, default=None)


def duration(ms: float) -> str:
    """`15.1 s`, `290 ms`, `2 min`."""
    for size, unit in ((3_600_000, "h"), (60_000, "min"), (1_000, "s")):
        if ms >= size:
            return f"{float(f'{ms / size:.3g}'):g} {unit}"
    return f"{float(f'{ms:.3g}'):g} ms"
