"""Which of RocketMQ's timers decide how long something takes, and what they allow at the latest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

Timers = Mapping[str, Sequence[int]]
"""The names of `harness.timers`, and the milliseconds that they had: in several runs there may be several."""


@dataclass(frozen=True, slots=True)
class What:
    """A kind of interval."""

    title: str
    says: str
    one: str
    """One of them, and several."""
    many: str
    timers: tuple[str, ...]
    """All that may have to run out, one after the other: `*` stands for the client."""


_NOTICING = ("broker.channel-expiry", "broker.channel-scan")
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
            ("*.rebalance", "*.rebalance-min"),
        ),
        "subscription-flip": What(
            "Subscription flip",
            "From a change of the membership, or a hand-made heartbeat, until a broker was seen to hold "
            "another expression for the group. A rebalance raises the version of a member's subscription, and "
            "its next heartbeat makes the broker store it.",
            "flip",
            "flips",
            ("*.rebalance", "*.rebalance-min", "*.heartbeat"),
        ),
        "offset-correction": What(
            "Offset correction",
            "From the acknowledgement of a queue's last message, which a filter took away, until the group's "
            "offset was seen behind it. The client passes it on only when the next pull has come back empty: "
            "long polling decides, not the interval at which offsets are persisted.",
            "queue",
            "queues",
            ("broker.hold-pull", "broker.hold-check", "*.persist-offsets"),
        ),
        "delivery": What(
            "Delivery",
            "From the acknowledgement of a message to its producer until a listener got it first. A message "
            "that arrives wakes the pull that waits for it; where none waits, or nothing wakes it, long "
            "polling has to run out. What was sent before anybody consumed waits for that, too.",
            "message",
            "messages",
            ("broker.hold-pull", "broker.hold-check"),
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


def deciders(what: str, client: str, unnoticed: bool, timers: Timers) -> list[Decider]:
    """The timers that may decide, of several values the greatest; none where not all of them are known.

    The same as the limits of `timing_histograms`.
    """
    # `python 2.0.0` has a version; of several kinds at once no timer is known.
    kind = client if "+" in client else client.partition(" ")[0]
    names = [name.replace("*", kind) for name in WHATS[what].timers]
    if kind == "grpc":
        hold = ["proxy.hold-receive" if name == "broker.hold-pull" else name for name in names]
        hold = [name for name in hold if name != "grpc.persist-offsets"]
        names = ["grpc.settings"] if what == "subscription-flip" else hold
    if unnoticed and what in ("rebalance", "subscription-flip"):
        names = [*_NOTICING, *names]
    if any(not timers.get(name) for name in names if not name.endswith(".rebalance-min")):
        return []
    known = [(name, max(timers[name])) for name in names if timers.get(name)]
    return [Decider(_WORDS.get(name) or _WORDS[name.partition(".")[2]], ms) for name, ms in known]


def deciding(ms: float, known: Sequence[Decider]) -> Decider | None:
    """The longest of the timers that a time comes near, or goes beyond; None: none had to run out."""
    reached = [one for one in known if ms >= 0.8 * one.ms]
    return max(reached, key=lambda one: one.ms, default=None)


def duration(ms: float) -> str:
    """`15.1 s`, `290 ms`, `2 min`."""
    for size, unit in ((3_600_000, "h"), (60_000, "min"), (1_000, "s")):
        if ms >= size:
            return f"{float(f'{ms / size:.3g}'):g} {unit}"
    return f"{float(f'{ms:.3g}'):g} ms"
