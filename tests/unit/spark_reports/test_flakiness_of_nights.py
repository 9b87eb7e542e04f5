"""The flakiness report over nights: thousands of scenarios, each of which was drawn and run once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from rocketchaos.harness.nightly.generator import draw
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.spark_reports import flakiness as module
from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.diff.compare import compare
from rocketchaos.spark_reports.diff.read import Facts as DiffFacts
from rocketchaos.spark_reports.flakiness.cells import Counts, is_drawn
from rocketchaos.spark_reports.flakiness.read import Facts
from rocketchaos.spark_reports.report import Report, StoreSummary

DRAWN, OWN = 3_000, 70
SUMMARY = StoreSummary("file:/store", 0, 0, 0, 0, None, None, 0, {}, 0)


def counts(runs: int, as_expected: int = 0, **more: Any) -> Counts:
    """Judged runs; `expecting=0`: of which nothing was expected."""
    known: dict[str, Any] = {
        "runs": runs, "product": runs, "reproduced": as_expected, "not_reproduced": runs - as_expected,
        "inconclusive": 0, "environment_errors": 0, "harness_errors": 0, "broken_off": 0, "judged": runs,
        "as_expected": as_expected, "expecting": runs, "unplaced": 0, "hosts": 1,
        "first_started": None, "last_started": None,
    }  # fmt: skip
    return Counts(**{**known, **more})


def measured(**more: Any) -> Counts:
    return counts(1, judged=0, expecting=0, **more)


def report_of(monkeypatch: pytest.MonkeyPatch, cells: Mapping[str, Counts]) -> Report:
    known = {Cell(name, "java", "5.5.0", "embedded", "compressed"): cell for name, cell in cells.items()}
    monkeypatch.setattr(module, "read", lambda _: Facts(known, {}, [], {}, {}, [], [], []))
    monkeypatch.setattr(module, "newest", lambda _: compare(DiffFacts(({}, {}), {}, [], {})))
    return module.flakiness(Answers(cast(SparkSession, None)), SUMMARY)


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> Report:
    drawn = {f"nightly-7-{n}": measured(reproduced=n % 3 == 0) for n in range(1, DRAWN)}
    lost = measured(product=0, environment_errors=1)
    own = {f"s{n:02}": counts(20, 20) for n in range(OWN - 2)}
    return report_of(
        monkeypatch,
        {**drawn, "nightly-7-0": lost, **own, "bad": counts(20), "watched": measured()},
    )


def test_the_map_has_the_scenarios_to_look_at_first_and_says_of_how_many(report: Report) -> None:
    shown = next(figure for figure in report.figures if figure.name == "map")
    heat = shown.plot.data[0]
    assert (len(heat.z), heat.text[0][0]) == (60, "FAIL<br>0/20")
    assert shown.says.startswith(f"The worst 60 of {OWN} scenarios")


def test_what_nights_drew_is_one_line_and_a_row_each_at_the_end_of_the_table(report: Report) -> None:
    assert report.headline.startswith(f"1 FAIL of {OWN} cells")
    (line,) = (line for line in report.lines if "nightly" in line)
    assert line.startswith(
        "3,000 cells of scenarios that `rocketchaos nightly` drew, only measured: 999 reproduced"
    )
    assert not any("can't be judged" in line for line in report.lines)
    table = next(item for item in report.tables if item.name == "cells")
    names = [row["scenario"] for row in table.rows]
    assert (len(names), names[0]) == (OWN + DRAWN, "bad")
    assert not any(name.startswith("nightly") for name in names[:OWN])


def test_a_report_over_nights_alone_has_no_map(monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(monkeypatch, {f"nightly-7-{n}": measured() for n in range(5)})
    assert "map" not in [figure.name for figure in report.figures]
    assert "5 are only measured" in report.headline
    assert len(next(table for table in report.tables if table.name == "cells").rows) == 5


def test_what_is_expected_of_a_drawn_scenario_is_judged_as_of_any(monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(monkeypatch, {"nightly-7-1": counts(20), "nightly-7-2": measured()})
    assert report.headline.startswith("1 FAIL of 1 cell")
    assert [figure.name for figure in report.figures][:2] == ["map", "intervals"]


def test_names_are_those_that_nights_give() -> None:
    assert is_drawn(draw(20261123, 45, Profile())["name"])
    assert not is_drawn("nightly")
    assert not is_drawn("broken-record-7-45")
