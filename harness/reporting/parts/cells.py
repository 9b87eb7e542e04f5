"""The cells of a matrix: a scenario's runs with the same clients on the same version, and what came of them."""

import statistics
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rocketchaos.harness.core.message_classes import class_sentence
from rocketchaos.harness.core.model import Holds, OutcomeKind
from rocketchaos.harness.core.text import counted, some
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.shares import Share, cell_of, share, stored_at_the_end
from rocketchaos.harness.reporting.parts.verdict import reason_and_hint, tells_why

_Value = TypeVar("_Value", bound=Hashable)

_VALUES_TOLD = 4
"""The limit of values of a distribution in a table, the most frequent first."""

Delivered = tuple[tuple[str, int], ...]
"""How many messages went to each consumer, in the order of the scenario."""


@dataclass(frozen=True, slots=True)
class CellRuns:
    """The runs of one cell; at least one."""

    scenario: str
    client: str
    """`java`, `java@4.9.4+python`."""
    rocketmq: str
    runs: tuple[Report, ...]

    def outcomes(self) -> dict[OutcomeKind, Share]:
        """By outcome, the most frequent first."""
        return _shares([run.outcome.kind for run in self.runs])

    def deliveries(self) -> dict[Delivered, Share]:
        """By how many messages each consumer got, of the runs that sent any."""
        return _shares([delivered(run) for run in self.runs if run.outcome.messages])

    def delivered_to(self) -> dict[str, dict[int, Share]]:
        """The same for each consumer by itself."""
        sent = [dict(delivered(run)) for run in self.runs if run.outcome.messages]
        members = dict.fromkeys(member for item in sent for member in item)
        return {member: _shares([item.get(member, 0) for item in sent]) for member in members}

    def fates(self) -> dict[str, Share]:
        """By what became of the messages, `4 delivered, 4 filtered by the client`, of the runs that sent any."""
        return _shares([class_sentence(run.outcome.messages) for run in self.runs if run.outcome.messages])

    def subscriptions(self) -> dict[str, Share]:
        """By what the brokers held at the end, of the runs in which that was looked at."""
        return _shares([text for run in self.runs if (text := subscription(run))])

    @property
    def seconds(self) -> float:
        """What a run took: the median."""
        return statistics.median(run.seconds for run in self.runs)


def _shares(values: Sequence[_Value]) -> dict[_Value, Share]:
    """How often each was there, the most frequent first."""
    return {value: share(count, len(values)) for value, count in Counter(values).most_common()}


def cells(runs: Sequence[Report]) -> list[CellRuns]:
    """The cells of some runs, scenario by scenario, in their order."""
    found: dict[tuple[str, str, str], list[Report]] = {}
    for run in runs:
        found.setdefault((run.scenario.name, *cell_of(run)), []).append(run)
    scenarios = list(dict.fromkeys(name for name, *_ in found))
    in_order = sorted(found.items(), key=lambda item: scenarios.index(item[0][0]))
    return [CellRuns(name, client, rocketmq, tuple(own)) for (name, client, rocketmq), own in in_order]


def cell_text(run: Report) -> str:
    """The cell of a run in words: `python on RocketMQ 4.9.4`."""
    client, rocketmq = cell_of(run)
    return " on ".join(filter(None, (client, f"RocketMQ {rocketmq}" if rocketmq else "")))


def delivered(run: Report) -> Delivered:
    """How many messages each consumer's listener got; one that came to it twice counts once."""
    got = Counter(member for fate in run.outcome.messages for member in set(fate.deliveries))
    return tuple((name, got[name]) for name in run.scenario.consumers)


def subscription(run: Report) -> str:
    """What the brokers held at the run's end: `tagB`; of several topics, `orders tagB, payments *`."""
    stored = stored_at_the_end(run)
    if len({topic for _, topic in stored}) <= 1 and len(stored) <= 1:
        return "".join(stored.values())
    several = len({group for group, _ in stored}) > 1
    return ", ".join(
        f"{f'{group} ' if several else ''}{topic} {text}" for (group, topic), text in stored.items()
    )


def outcome_text(cell: CellRuns) -> str:
    """`reproduced`; of several runs `48 reproduced, 2 inconclusive`."""
    outcomes = cell.outcomes()
    if len(cell.runs) == 1:
        return "".join(outcomes)
    return ", ".join(f"{outcome.count} {kind}" for kind, outcome in outcomes.items())


def judgement(cell: CellRuns) -> str:
    """`as expected`, `NOT expected`, `measured`, `NOT measured`; with their number where runs differ."""
    words = Counter(run.outcome.judgement.replace("NOT as", "NOT") for run in cell.runs)
    if len(words) == 1:
        return next(iter(words))
    return ", ".join(f"{count} {word}" for word, count in words.most_common())


def reason_text(cell: CellRuns) -> str:
    """Why a cell that was only measured showed neither the anomaly nor its absence; empty if it did."""
    unclear = [run for run in cell.runs if run.outcome.measured and tells_why(run)]
    if not unclear:
        return ""
    first = unclear[0]
    many = f" ({len(unclear)} of {len(cell.runs)})" if len(cell.runs) > 1 else ""
    reason, _ = reason_and_hint(first)
    lacking = [
        f"`{finding.name}`, {finding.observed}"
        for finding in first.outcome.findings
        if finding.section == "anomaly" and finding.holds is not Holds.YES and first.outcome.trouble is None
    ]
    seen = f"; of `anomaly`: {some(lacking, 2)}" if lacking else ""
    return f"{cell_text(first)}: inconclusive{many}: {reason}{seen}"


def delivered_text(cell: CellRuns) -> str:
    """`a 0, b 4`, or how often it was what; of a scenario without consumers nothing can be said."""
    if not any(run.scenario.consumers for run in cell.runs):
        return "no consumer"
    texts = {
        ", ".join(f"{name} {count}" for name, count in item): share
        for item, share in cell.deliveries().items()
    }
    return shares_text(texts) or "nothing sent"


def fate_lines(cells: Sequence[CellRuns]) -> list[str]:
    """Where not the same became of the messages of all cells: the problem, and the cells that have it."""
    found: dict[str, dict[str, list[str]]] = {}
    for cell in cells:
        if became := shares_text(cell.fates()):
            found.setdefault(became, {}).setdefault(cell.client, []).append(cell.rocketmq)
    if len(found) < 2:
        return []
    return [
        f"{became}: " + "; ".join(f"{client} on {', '.join(versions)}" for client, versions in where.items())
        for became, where in found.items()
    ]


def subscription_text(cell: CellRuns) -> str:
    """`tagB`, or how often it was what."""
    return shares_text(cell.subscriptions()) or "not seen"


def shares_text(shares: dict[str, Share]) -> str:
    """The only value, or values with how often they were there."""
    if len(shares) == 1 and all(item.count == item.total for item in shares.values()):
        return next(iter(shares))
    parts = [f"{value} ({item.count} of {item.total})" for value, item in list(shares.items())[:_VALUES_TOLD]]
    if len(shares) > _VALUES_TOLD:
        parts.append(f"{counted(len(shares) - _VALUES_TOLD, 'other')}")
    return "; ".join(parts)
