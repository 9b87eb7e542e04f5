"""The data of the report: small aggregates, read with the SQL that the page shows."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rocketchaos.harness.core.model import MessageClass, OutcomeKind, Trouble
from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.cell import Cell

Row = Mapping[str, Any]


@dataclass(slots=True)
class Fates:
    """The classes of the messages of a cell's runs, by run."""

    kinds: dict[str, Counter[tuple[int, int]]] = field(default_factory=lambda: defaultdict(Counter))
    """Kind of message: (how many of it, among how many messages of the run): number of runs."""
    typical_run: str | None = None
    """Where the newest of the runs lies whose classes are the most frequent ones of the cell."""

    @property
    def runs(self) -> int:
        """Runs that have messages; each has all kinds."""
        return sum(self.kinds[MessageClass.DELIVERED].values())

    @property
    def lengths(self) -> set[int]:
        """The number of messages in a run."""
        return {messages for _, messages in self.kinds[MessageClass.DELIVERED]}

    def shares(self, kind: str) -> dict[float, int]:
        """Share of the run's messages: number of runs."""
        shares: Counter[float] = Counter()
        for (number, messages), runs in self.kinds[kind].items():
            shares[number / messages] += runs
        return dict(shares)

    def numbers(self, kind: str) -> Counter[float]:
        """Number of messages in a run: number of runs."""
        numbers: Counter[float] = Counter()
        for (number, _), runs in self.kinds[kind].items():
            numbers[number] += runs
        return numbers

    def total(self, kind: str) -> int:
        """Messages of the kind in all runs."""
        return sum(number * runs for (number, _), runs in self.kinds[kind].items())


@dataclass(frozen=True, slots=True)
class Ending:
    """The number of runs of a cell with this end."""

    outcome: str
    expected: str | None
    as_expected: bool | None
    trouble: str | None
    runs: int
    example: str | None
    reason: str | None

    @property
    def counts(self) -> bool:
        """Whether it is the product's end: a precondition that didn't hold is a state that RocketMQ didn't reach.

        To leave those out would choose runs by how they ended.
        """
        return self.outcome != OutcomeKind.ERROR and self.trouble in (None, Trouble.PRECONDITION)

    @property
    def complete(self) -> bool:
        """Whether nothing kept it from showing what becomes of messages."""
        return self.counts and self.trouble is None


@dataclass(frozen=True, slots=True)
class Facts:
    """All data of the report."""

    fates: Mapping[Cell, Fates]
    endings: Mapping[Cell, Sequence[Ending]]
    witnesses: Sequence[Row]
    subscriptions: Sequence[Row]
    owners: Sequence[Row]

    def runs(self, cell: Cell, outcome: str | None = None) -> int:
        """Runs that the product ended, or those of them that ended so."""
        ends = (end for end in self.endings.get(cell, ()) if end.counts and outcome in (None, end.outcome))
        return sum(end.runs for end in ends)

    def left_out(self, cell: Cell) -> int:
        """Runs that it didn't end."""
        return sum(end.runs for end in self.endings.get(cell, ()) if not end.counts)

    def complete(self, cell: Cell) -> int:
        """Runs whose messages count: those in `divergence_classes` and the similar queries."""
        return sum(end.runs for end in self.endings.get(cell, ()) if end.complete)

    def incomplete(self, cell: Cell) -> int:
        """Runs whose messages don't."""
        return sum(end.runs for end in self.endings.get(cell, ()) if not end.complete)


def read(answers: Answers) -> Facts:
    """Ask the store."""
    endings = _ask(answers, "divergence_outcomes")
    return Facts(
        fates=fates(_ask(answers, "divergence_classes")),
        endings=_endings(endings),
        witnesses=_ask(answers, "divergence_witnesses"),
        subscriptions=_ask(answers, "divergence_subscriptions"),
        owners=_ask(answers, "divergence_owners"),
    )


def _ask(answers: Answers, name: str) -> list[dict[str, Any]]:
    return [row.asDict() for row in answers.rows(name)]


def fates(rows: Iterable[Row]) -> dict[Cell, Fates]:
    """From the rows of `divergence_classes`."""
    found: dict[Cell, Fates] = defaultdict(Fates)
    for row in rows:
        own = found[Cell.of(row)]
        if row["kind"] == "classes":
            own.typical_run = row["example"]
        else:
            # A column can't have the name of a class: those are written with hyphens.
            own.kinds[row["kind"].replace("_", "-")][int(row["number"]), row["messages"]] += row["runs"]
    return dict(found)


def _endings(rows: Iterable[Row]) -> dict[Cell, list[Ending]]:
    found: dict[Cell, list[Ending]] = defaultdict(list)
    for row in rows:
        values = {name: row[name] for name in Ending.__dataclass_fields__}
        found[Cell.of(row)].append(Ending(**values))
    return dict(found)
