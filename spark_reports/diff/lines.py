"""The report in a few sentences; the first is a line for a chat."""

from collections.abc import Sequence
from typing import TypeVar

from rocketchaos.harness.core.text import counted
from rocketchaos.spark_reports.diff.compare import News
from rocketchaos.spark_reports.diff.sides import Sides
from rocketchaos.spark_reports.diff.words import cause_sentence, certainty, sentence, timing_sentence
from rocketchaos.spark_reports.run_names import named_run

T = TypeVar("T")
MOST = 5
"""At most this many sentences of a kind; the tables have all."""


def headline(news: News, sides: Sides) -> str:
    """Whether anything is worse, and the worst change."""
    before, after = news.runs
    against = f"{sides.after} ({counted(after, 'run')}) against {sides.before} ({before:,})"
    if not before or not after:
        which = sides.before if after else sides.after
        return f"Nothing can be compared, because one side has no runs ({which}): {against}."
    if not news.compared:
        return f"Nothing can be compared: no cell has judged runs on both sides; {against}."
    for of, changes in (("cell", news.cells), ("claim", news.claims)):
        bad = [change for change in changes if change.worse]
        if bad:
            sure = sum(change.sure for change in bad)
            return (
                f"{counted(len(bad), of)} worse, {sure or 'none'} of them for sure, in {against}; first: "
                f"{sentence(bad[0], news.settling)}"
            )
    return f"Nothing is worse in {against}: {counted(news.compared, 'cell')} compared."


def lines(news: News) -> list[str]:
    """The worst first."""
    if not all(news.runs):
        return []
    changes = [
        f"{certainty(change.sure).capitalize()}: {sentence(change, news.settling)}"
        for group in (news.cells, news.claims)
        for change in _first(group)
    ]
    causes = [cause_sentence(item) for item in _first([item for item in news.causes if item.new])]
    timing = [timing_sentence(item) for item in _first(news.timing)]
    return [*changes, *causes, *timing, *_one_sided(news)]


def _first(items: Sequence[T]) -> Sequence[T]:
    return items[:MOST]


def _one_sided(news: News) -> list[str]:
    come = [(pair, share) for pair, share in news.one_sided if pair.before is None]
    gone = [pair.cell for pair, _ in news.one_sided if pair.after is None]
    failing = [(pair, share) for pair, share in come if share.of > share.hits]
    found = []
    if come:
        text = (
            f"{counted(len(come), 'cell')} without runs before, {len(failing)} of them not always as expected"
        )
        if failing:
            pair, share = min(
                failing, key=lambda item: (item[1].hits / item[1].of, -item[1].of, item[0].cell)
            )
            text += (
                f"; first: {pair.cell.scenario} {pair.cell.client} {pair.cell.rocketmq} {share.hits} of "
                f"{share.of}, see {named_run(share.miss)}"
            )
        found.append(text)
    if gone:
        cell = min(gone)
        found.append(
            f"{counted(len(gone), 'cell')} had runs before, and {'has' if len(gone) == 1 else 'have'} none now; "
            f"first: {cell.scenario} {cell.client} {cell.rocketmq}"
        )
    return found
