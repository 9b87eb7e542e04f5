"""The rows of queries: each is asked once, ahead or not, and what fails is told."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.queries import queries_of, query
from rocketchaos.spark_reports.report_kinds import REPORTS
from tests.benchmarks.spark.reporting import all_queries


class Session:
    """Answers each query with its text, and counts; two must be under way before the first is answered."""

    def __init__(self, at_once: int = 1) -> None:
        self.asked: Counter[str] = Counter()
        self._barrier = threading.Barrier(at_once)

    def sql(self, text: str) -> Any:
        self.asked[text] += 1
        self._barrier.wait(10)
        if text == query("diff_claims"):
            raise LookupError("no such table")
        return type("Frame", (), {"collect": lambda _: [text]})()


def of(session: Session) -> Answers:
    return Answers(cast(SparkSession, session))


def test_each_query_is_asked_once() -> None:
    session = Session()
    answers = of(session)
    with answers.asked_ahead(["diff_cells"]):
        assert answers.rows("diff_cells") == answers.rows("diff_cells") == [query("diff_cells")]
        assert answers.rows("diff_timing") == answers.rows("diff_timing")
    assert set(session.asked.values()) == {1}


def test_some_are_asked_at_a_time() -> None:
    answers = of(Session(at_once=2))
    with answers.asked_ahead(["diff_cells", "diff_causes"]):
        assert answers.rows("diff_causes") == [query("diff_causes")]


def test_a_query_that_fails_says_so_where_its_rows_are_wanted() -> None:
    answers = of(Session())
    with answers.asked_ahead(["diff_claims"]), pytest.raises(LookupError, match="no such table"):
        answers.rows("diff_claims")


def test_what_is_not_asked_yet_is_left_when_the_block_fails() -> None:
    session = Session()
    with pytest.raises(LookupError), of(session).asked_ahead(["diff_claims", *["diff_cells"] * 500]):
        raise LookupError
    assert sum(session.asked.values()) < 500


def test_every_query_belongs_to_a_report_and_comes_in_the_order_of_the_pages() -> None:
    assert sorted(queries_of(REPORTS)) == all_queries()
    of_flakiness = queries_of(["flakiness"])
    assert {name.partition("_")[0] for name in of_flakiness} == {"diff", "flakiness"}
    assert of_flakiness[0].startswith("diff_")
