"""The sentences of the timing report, of what was measured."""

from __future__ import annotations

import pytest

from rocketchaos.spark_reports.report import StoreSummary
from rocketchaos.spark_reports.statistics.percentiles import Histogram
from rocketchaos.spark_reports.timing.deciders import deciders
from rocketchaos.spark_reports.timing.figures import MOST_ROWS, range_figures
from rocketchaos.spark_reports.timing.lines import headline, lines
from rocketchaos.spark_reports.timing.read import Facts, InScenario, Measured, Side

SUMMARY = StoreSummary("file:///store", 40, 320, 1, 1, None, None, 0, {}, 0)
TIMERS = "rebalance=20000"


def measured(
    ms: float, limit_ms: int | None = 20_000, beyond: int = 0, perhaps: int = 0, client: str = "java"
) -> Measured:
    """Forty rebalances of so long each, one a run."""
    timers = TIMERS if limit_ms else None
    place = InScenario(
        "rebalance", False, "kills", client, "5.5.0", "embedded", "faithful", timers, limit_ms,
        40, 40, ms, ms, ms, ms, ms / 2, "file:///runs/1", "file:///runs/1",
    )  # fmt: skip
    took = Histogram.of((block, ms, 2) for block in range(20))
    side = Side(client, "5.5.0", "faithful")
    return Measured("rebalance", side, False, limit_ms, deciders(timers), took, beyond, perhaps, [place])


def facts(item: Measured, untold_runs: int = 0) -> Facts:
    return Facts([item], item.scenarios, {}, untold_runs)


@pytest.mark.parametrize(
    ("ms", "beyond", "perhaps", "text"),
    [
        (12_000, 0, 0, ": no timer has to run out."),
        (21_000, 0, 40, ": perhaps more than its timers allow (20 s)."),
        (45_000, 40, 40, ": more than its timers allow (20 s)."),
    ],
)
def test_only_what_is_certain_is_said_to_be_more_than_the_timers_allow(
    ms: float, beyond: int, perhaps: int, text: str
) -> None:
    (slowest,) = (
        line
        for line in lines(facts(measured(ms, 20_000, beyond, perhaps)), SUMMARY)
        if "the longest of 40" in line
    )
    assert slowest.endswith(text)


@pytest.mark.parametrize(
    ("untold_runs", "why"), [(40, "Run the scenarios again"), (0, "several kinds of clients")]
)
def test_why_nothing_can_be_held_against_timers(untold_runs: int, why: str) -> None:
    item = measured(12_000, None, client="java+python")
    assert why in headline(facts(item, untold_runs))


def test_of_very_many_rows_the_worst_are_drawn_and_the_figure_says_so() -> None:
    fine = [measured(12_000, client=f"java {number:02}") for number in range(MOST_ROWS)]
    (figure,) = range_figures([*fine, measured(45_000, beyond=40, perhaps=40, client="slow")], "rebalance")
    assert f" {MOST_ROWS} of {MOST_ROWS + 1} rows of the table." in figure.says
    labels = [text for item in figure.plot.data for text in item.hovertext or ()]
    assert any("slow" in label for label in labels)


def test_a_timer_of_no_time_that_is_exceeded_is_the_worst() -> None:
    late, at_once = measured(45_000, 20_000, 40, 40, "late"), measured(20, 0, 40, 40, "at-once")
    shown = lines(Facts([late, at_once], [*late.scenarios, *at_once.scenarios], {}, 0), SUMMARY)
    grave = [line for line in shown if "takes longer than RocketMQ's timers allow" in line]
    assert "at-once" in grave[0]
