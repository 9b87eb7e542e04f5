"""How repeats of the same scenario are distributed, with intervals."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocketchaos.assertions.event_view import END, ends, of_type
from rocketchaos.harness.core.events.observed import SubscriptionObserved
from rocketchaos.harness.core.events.run import Bound
from rocketchaos.harness.core.intervals import wilson_interval
from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.core.text import percent
from rocketchaos.harness.reporting.base import Report


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many, with the 95 % interval after Wilson."""

    count: int
    total: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The proportion."""
        return self.count / self.total

    def __str__(self) -> str:
        interval = f"{percent(self.low).removesuffix(' %')} to {percent(self.high)}"
        return f"{self.count} of {self.total}, {percent(self.share)} (95 % interval {interval})"


def share(count: int, total: int) -> Share:
    """The share with its interval."""
    return Share(count, total, *wilson_interval(count, total))


@dataclass(frozen=True, slots=True)
class Holder:
    """Who held the stored subscription in a run, and whether it was the first of its group to start."""

    name: str
    """Where it was bound more than once, all names in order: `b then a`."""
    started: str
    """`first`, `later`, or empty if that can't be said."""

    def __str__(self) -> str:
        words = {"first": ", the first to start", "later": ", a later starter"}
        return self.name + words.get(self.started, "")


def holder_of(run: Report) -> Holder | None:
    """The holder of a run; None if the scenario bound none, or didn't come to it."""
    names = tuple(dict.fromkeys(run.holders()))
    if not names:
        return None
    if len(names) > 1 or names[0] not in run.scenario.consumers:
        return Holder(" then ".join(names), "")
    members = run.scenario.members(run.scenario.consumers[names[0]].group)
    first = next(
        (event.node for event in run.events if event.kind == "consumer-started" and event.node in members),
        None,
    )
    return Holder(names[0], "" if first is None else "first" if first == names[0] else "later")


def values_of(run: Report) -> dict[str, str]:
    """The values of a run that a race may have decided: its variables' last values, and the stored subscriptions
    at its end.

    The holder is left out, which has more text of its own, and so are the others.
    """
    found = {
        f"${event.body.variable}": ", ".join(event.body.consumers) or "nobody"
        for event in of_type(run.events, Bound)
        if event.body.variable not in ("holder", "others")
    }
    return found | {
        f"stored for {group}, {topic}": text for (group, topic), text in stored_at_the_end(run).items()
    }


def stored_at_the_end(run: Report) -> dict[tuple[str, str], str]:
    """What the brokers held at a run's end, by group and topic; where they differ, all of it."""
    stored: dict[tuple[str, str], set[str]] = {}
    moments = [event.body.moment for event in ends(run.events)] or [END]
    for event in of_type(run.events, SubscriptionObserved):
        if event.body.moment == moments[-1]:
            for topic, item in sorted(event.body.subscriptions.items()):
                if not topic.startswith("%"):  # the retry topic is stored for every group, and says nothing
                    stored.setdefault((event.body.group, topic), set()).add(item.expression)
    return {key: " and ".join(sorted(texts)) for key, texts in stored.items()}


@dataclass(frozen=True, slots=True)
class Repeats:
    """Runs of one scenario under the same conditions: version, client, timing."""

    scenario: str
    conditions: tuple[str, ...]
    runs: tuple[Report, ...]

    @property
    def attempts(self) -> int:
        """How often they were tried, all together."""
        return sum(attempts(run) for run in self.runs)

    def outcomes(self) -> dict[OutcomeKind, Share]:
        """By outcome, of all runs; outcomes that didn't occur are left out."""
        counts = Counter(run.outcome.kind for run in self.runs)
        return {kind: share(counts[kind], len(self.runs)) for kind in OutcomeKind if counts[kind]}

    def holders(self) -> dict[Holder, Share]:
        """By holder, of the runs that bound one; the most frequent first."""
        found = Counter(holder for run in self.runs if (holder := holder_of(run)) is not None)
        total = sum(found.values())
        return {holder: share(count, total) for holder, count in found.most_common()}

    def values(self) -> dict[str, dict[str, Share]]:
        """By what else races may have decided, `values_of`: its values, of the runs that have one."""
        known = [values_of(run) for run in self.runs]
        names = dict.fromkeys(name for values in known for name in values)
        counts = {name: Counter(values[name] for values in known if name in values) for name in names}
        return {
            name: {value: share(count, found.total()) for value, count in found.most_common()}
            for name, found in counts.items()
        }


def attempts(run: Report) -> int:
    """How often a run was tried."""
    return int(run.record.get("attempts") or 1)


def conditions(run: Report) -> tuple[str, ...]:
    """The values that repeats of a run share: version, client and timing."""
    client, rocketmq = cell_of(run)
    return rocketmq, client, str(run.record.get("timing") or run.scenario.timing)


def cell_of(run: Report) -> tuple[str, str]:
    """Clients, as a matrix names them, and version of RocketMQ; empty if they aren't known."""
    record = run.record
    cell = record.get("cell")
    known = cell if isinstance(cell, Mapping) else record
    return str(known.get("client") or ""), str(record.get("rocketmq") or "")


def repeats(runs: Sequence[Report]) -> list[Repeats]:
    """The scenarios that ran more than once under the same conditions, in their order."""
    grouped: dict[tuple[str, tuple[str, ...]], list[Report]] = {}
    for run in runs:
        grouped.setdefault((run.scenario.name, conditions(run)), []).append(run)
    return [Repeats(name, known, tuple(own)) for (name, known), own in grouped.items() if len(own) > 1]
