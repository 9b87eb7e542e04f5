from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocketchaos.harness.core.model import MessageClass
from rocketchaos.spark_reports.divergence import report
from rocketchaos.spark_reports.divergence.as_expected import Expectation, held_against, missed_sentence
from rocketchaos.spark_reports.divergence.compare import Verdict, compare
from rocketchaos.spark_reports.divergence.findings import findings, sentence
from rocketchaos.spark_reports.divergence.read import Facts
from rocketchaos.spark_reports.divergence.witnesses import contradictions, statements
from rocketchaos.spark_reports.queries import query
from rocketchaos.spark_reports.render.page import page
from rocketchaos.spark_reports.report import StoreSummary
from tests.unit.spark_reports.divergence_facts import cell, ended, facts

FILTERED = {"delivered": 4, "filtered-by-client": 4}
BY_BROKER = {"delivered": 4, "filtered-by-broker": 4}
SUMMARY = StoreSummary("file:///store", 80, 640, 1, 1, None, None, 2, {"truncated": 2}, 0)


def everywhere(python: dict[str, int]) -> Facts:
    return facts(
        {
            cell(client, version): [classes] * 20
            for version in ("4.9.4", "5.5.0")
            for client, classes in (("java", FILTERED), ("python", python))
        }
    )


def test_what_differs_in_the_same_way_is_reported_once() -> None:
    known = everywhere(BY_BROKER)
    (found,) = findings(compare(known), Verdict.DIVERGES)
    shown = sentence(found, known)
    assert shown.startswith(
        "tags (4.9.4 embedded compressed): 4 of 8 messages a run are filtered by the broker with "
    )
    assert "with python, none with java (difference 4.0 [" in shown
    assert "delta 1.00 [" in shown
    assert "p<0.001, 20 and 20 runs); also: filtered by the client 0 against 4" in shown
    assert shown.endswith(
        "; the same with 5.5.0 embedded compressed; typical runs: ⟦file:///runs/python⟧, ⟦file:///runs/java⟧"
    )


def test_the_report_says_what_to_do_and_what_it_left_out() -> None:
    made = report(everywhere(BY_BROKER), SUMMARY)
    assert made.headline == (
        "2 of 4 pairs of cells diverge, most tags between java and python: compare their typical runs."
    )
    assert made.lines[-1].startswith(
        "Not compared: 0 runs that ended in an error or were interrupted, and 2 folders in quarantine. "
        "Compared only by outcome: 0 runs"
    )
    assert [figure.name for figure in made.figures] == ["messages", "differences"]
    for table in made.tables:
        for row in table.rows:
            assert set(row) == set(table.schema.names), table.name
    assert json.loads(made.figures[0].plot.to_json())["data"]


def test_the_page_of_a_wide_store_is_within_2_mb(tmp_path: Path) -> None:
    """A store of 10^6 messages has 150 cells in the bench, and 123 pairs that it compares."""
    clients = {"java": FILTERED, "python": BY_BROKER, "grpc 5.1.2": {"delivered": 8}}
    cells = {
        cell(client, version, f"a-scenario-with-a-long-name-{number}"): [classes] * 20
        for number in range(40)
        for version in ("4.9.4", "5.5.0")
        for client, classes in clients.items()
    }
    made = report(facts(cells), SUMMARY)
    rows = {table.name: len(table.rows) for table in made.tables}
    assert (rows["cells"], rows["differences"]) == (240, 480)
    assert len(page(made, tmp_path).encode()) < 2_000_000


def test_the_same_share_on_both_sides_is_no_difference_though_there_are_few_runs() -> None:
    ends = [ended("reproduced", 2), ended("not-reproduced", 1)]
    alike = {cell(client): ends for client in ("java", "python")}
    made = report(facts({}, alike), SUMMARY)
    assert made.headline == "None of 1 pair of cells is shown to diverge."
    assert not any("Too few runs" in line for line in made.lines)
    other = {cell("java"): [ended("reproduced", 3)], cell("python"): [ended("not-reproduced", 2)]}
    assert (
        "1 differs exactly in these runs, with too few runs for" in report(facts({}, other), SUMMARY).headline
    )


def test_what_is_exact_within_few_runs_is_reported_with_how_many_would_settle_it() -> None:
    known = facts({cell("java"): [FILTERED] * 3, cell("python"): [{"delivered": 8}] * 3})
    made = report(known, SUMMARY)
    assert "1 differs exactly in these runs" in made.headline
    assert "(`--repeat 5`)" in made.headline
    assert (
        "4 with java (3 and 3 runs; exact in these runs, which are too few for a claim about all runs: "
        "5 of each, all like these, would settle it)" in made.lines[0]
    )
    table = next(item for item in made.tables if item.name == "differences")
    assert {(row["verdict"], row["settling_runs"]) for row in table.rows} == {("exact in these runs", 5)}
    assert len({table.anchor(row) for row in table.rows}) == len(table.rows)


def test_what_the_lines_leave_out_is_reported_though_there_is_much_of_everything() -> None:
    runs = {}
    for number in range(6):
        for client, classes in (("java", FILTERED), ("python", {**BY_BROKER, "lost": number})):
            runs[cell(client, scenario=f"s{number}")] = [classes] * 20
    for number in range(4):
        for client, classes in (
            ("java", {"delivered": 8}),
            ("python", {"delivered": 8 - number, "lost": number + 1}),
        ):
            runs[cell(client, scenario=f"few{number}")] = [classes] * 2
    missed = {
        cell(scenario=f"missed{number}"): [ended("not-reproduced", 9, "reproduced", False)]
        for number in range(4)
    }
    made = report(facts(runs, missed), SUMMARY)
    assert len(made.lines) <= 12
    more = next(line for line in made.lines if line.startswith("The tables also have "))
    assert "2 more differences with too few runs" in more
    assert "2 more cells not as expected" in more
    assert made.lines[-1].startswith("Not compared: ")


def test_an_empty_store_and_one_cell_alone() -> None:
    assert report(facts({}), SUMMARY).headline.startswith("The store has no runs")
    assert report(facts({cell(): [FILTERED]}), SUMMARY).headline.startswith(
        "No two cells differ in exactly one thing"
    )


def test_runs_of_errors_alone_are_counted() -> None:
    made = report(facts({}, {cell(): [ended("error", 7, trouble="harness")]}), SUMMARY)
    (cells,) = (table for table in made.tables if table.name == "cells")
    assert [(row["runs"], row["runs_left_out"], row["typical_run"]) for row in cells.rows] == [(0, 7, None)]
    (held,) = (table for table in made.tables if table.name == "expected")
    assert [(row["verdict"], row["left_out_for"]) for row in held.rows] == [("no run counts", "harness 7")]


@pytest.mark.parametrize("kind", list(MessageClass))
def test_the_query_counts_every_class(kind: MessageClass) -> None:
    assert f"message_class = '{kind}') AS {kind.replace('-', '_')}" in query("divergence_classes")


def test_measured_against_expected() -> None:
    ends = {
        cell("java"): [
            ended("reproduced", 15, "reproduced", True),
            ended("reproduced", 1, "reproduced", False),
            ended("not-reproduced", 4, "reproduced", False),
            ended("inconclusive", 2, "reproduced", False, trouble="precondition"),
            ended("error", 3, "reproduced", False, trouble="environment"),
        ],
        cell("python"): [ended("not-reproduced", 8), ended("inconclusive", 2)],
    }
    missed, measured = held_against(facts({}, ends))
    assert (missed.expectation, missed.runs, missed.missed, missed.also) == (Expectation.MISSED, 22, 7, 1)
    assert missed.share
    assert missed.share.point == 7 / 22
    assert missed.left_out == {"environment": 3}
    assert missed.example == "file:///runs/not-reproduced"
    assert (measured.expectation, measured.share) == (Expectation.MEASURED, None)


def test_a_cell_whose_preconditions_do_not_hold_is_not_as_expected() -> None:
    ends = [
        ended("inconclusive", 18, "reproduced", False, trouble="precondition"),
        ended("reproduced", 2, "reproduced", True),
    ]
    (held,) = held_against(facts({cell(): [FILTERED] * 2}, {cell(): ends}))
    assert (held.expectation, held.runs, held.missed) == (Expectation.MISSED, 20, 18)
    assert missed_sentence(held).startswith(
        "tags (java 5.5.0 embedded compressed): reproduced is expected, but 18 of 20 runs are not as expected "
        "(inconclusive 18; share 0.90"
    )


def test_contradictions_are_counted_by_run() -> None:
    unheard = {**FILTERED, "broker-asked": 8, "broker-consumed-unheard": 4}
    known = facts({cell(): [unheard] * 5 + [FILTERED | {"broker-asked": 8}] * 5 + [FILTERED] * 10})
    (found,) = contradictions(known)
    assert (found.messages, found.asked, found.runs, found.asked_runs) == (20, 80, 5, 10)
    assert found.share.point == 0.25
    # As wide as ten runs make it: eighty messages by themselves would give 0.17 to 0.35.
    assert found.share.low < 0.15
    assert found.share.high > 0.38


def test_statements_count_the_runs_without_them() -> None:
    row = {**cell()._asdict(), "message_class": "filtered-by-client", "broker_track": "CONSUMED"}
    known = facts({cell(): [FILTERED] * 10})
    seen = [{**row, "dashboard_track": None, "number": 4, "runs": 5}]
    (found,) = statements(Facts(known.fates, known.endings, seen, [], []))
    assert (found.messages, found.runs, found.of_runs, found.a_run.point) == (20, 5, 10, 2.0)
