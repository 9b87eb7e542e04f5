"""Workers against broker against dashboard: where one says what another doesn't. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rocketchaos.harness.core.text import counted
from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.divergence.read import Facts, Fates
from rocketchaos.spark_reports.divergence.words import bracket
from rocketchaos.spark_reports.statistics.bounded_mean import bounded_mean
from rocketchaos.spark_reports.statistics.interval import Interval


class Question(NamedTuple):
    """A way in which two witnesses can contradict each other: a kind of `divergence_classes`."""

    asked: str
    """The kind that counts the messages that the witness was asked about."""
    says: str


QUESTIONS: Mapping[str, Question] = {
    "broker-consumed-unheard": Question(
        "broker-asked", "CONSUMED by the broker's tools, and no listener got it"
    ),
    "dashboard-consumed-unheard": Question(
        "dashboard-asked", "CONSUMED by the dashboard, and no listener got it"
    ),
    "broker-unconsumed-heard": Question(
        "broker-asked", "not consumed, or filtered, by the broker's tools, and a listener got it"
    ),
    "dashboard-unconsumed-heard": Question(
        "dashboard-asked", "not consumed, or filtered, by the dashboard, and a listener got it"
    ),
    "tools-differ": Question("both-asked", "the dashboard shows another track than the broker's own tools"),
}
"""In the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A contradiction between the witnesses of a cell's runs."""

    cell: Cell
    says: str
    messages: int
    asked: int
    """Messages that the witness was asked about, in all runs."""
    runs: int
    """Runs with such a message."""
    asked_runs: int
    share: Interval
    """Of the messages asked about in a run. It counts runs, because the messages of a run depend on each other."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The statements of two witnesses about the messages of one class; None: not asked."""

    cell: Cell
    message_class: str
    broker_track: str | None
    dashboard_track: str | None
    messages: int
    runs: int
    of_runs: int
    a_run: Interval
    """Messages a run, the runs without such ones included."""


def contradictions(facts: Facts) -> list[Contradiction]:
    """All contradictions, the most frequent first."""
    found = [
        contradiction for cell, fates in facts.fates.items() for contradiction in _contradictions(cell, fates)
    ]
    return sorted(found, key=lambda item: (-item.share.point, item.cell, item.says))


def _contradictions(cell: Cell, fates: Fates) -> Iterator[Contradiction]:
    for kind, question in QUESTIONS.items():
        messages, asked = fates.total(kind), fates.numbers(question.asked)
        if not messages:
            continue
        numbers, asked_runs = fates.numbers(kind), asked.total() - asked[0]
        # Of a run in which the witness wasn't asked there is nothing to contradict: it doesn't count as none.
        numbers[0] -= asked[0]
        a_run = bounded_mean(numbers, max(asked))
        yield Contradiction(
            cell,
            question.says,
            messages,
            fates.total(question.asked),
            sum(runs for number, runs in numbers.items() if number),
            asked_runs,
            _capped(a_run.times(asked_runs / fates.total(question.asked))),
        )


def _capped(share: Interval) -> Interval:
    return share._replace(high=min(1.0, share.high))


def not_asked(facts: Facts) -> tuple[int, int, int]:
    """Runs in which the broker's tools were asked about nothing, the same of the dashboard, and all runs."""
    every = list(facts.fates.values())
    broker, dashboard = (
        sum(fates.numbers(kind)[0] for fates in every) for kind in ("broker-asked", "dashboard-asked")
    )
    return broker, dashboard, sum(fates.runs for fates in every)


def statements(facts: Facts) -> list[Statement]:
    """The rows of the matrix, cell by cell."""
    numbers: dict[tuple[Cell, str, str | None, str | None], Counter[float]] = defaultdict(Counter)
    for row in facts.witnesses:
        key = Cell.of(row), row["message_class"], row["broker_track"], row["dashboard_track"]
        numbers[key][row["number"]] += row["runs"]
    return [_statement(*key, found, facts.fates[key[0]]) for key, found in numbers.items()]


def _statement(
    cell: Cell,
    message_class: str,
    broker_track: str | None,
    dashboard_track: str | None,
    numbers: Counter[float],
    fates: Fates,
) -> Statement:
    seen = numbers.total()
    return Statement(
        cell,
        message_class,
        broker_track,
        dashboard_track,
        int(sum(number * runs for number, runs in numbers.items())),
        seen,
        fates.runs,
        bounded_mean({**numbers, 0: fates.runs - seen}, max(fates.lengths)),
    )


def contradiction_sentences(found: Sequence[Contradiction]) -> list[str]:
    """A line for each way to contradict: how many cells have it, and where it is most frequent."""
    ways: dict[str, list[Contradiction]] = defaultdict(list)
    for contradiction in found:
        ways[contradiction.says].append(contradiction)
    return [_sentence(says, ways[says]) for says in (own.says for own in QUESTIONS.values()) if says in ways]


def _sentence(says: str, found: Sequence[Contradiction]) -> str:
    most = found[0]
    return (
        f"{says[0].upper()}{says[1:]}: in {counted(len(found), 'cell')}, most in {most.cell.scenario} "
        f"({most.cell.label}): {most.messages:,} of {most.asked:,} messages, share {bracket(most.share, 2)}, in "
        f"{most.runs:,} of {counted(most.asked_runs, 'run')}"
    )
