"""The list of what nights found, as the page has it and as `rocketchaos nightly --known` reads it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from rocketchaos.harness.nightly.codes import CODES
from rocketchaos.harness.nightly.known import read_known
from rocketchaos.spark_reports.flakiness.known import Known, known_table, known_text

NOW = datetime(2026, 3, 10, 2, 0, tzinfo=UTC)


def found(code: str, *, age_days: int, unseen_days: int, text: str | None = None) -> Known:
    first, last = NOW - timedelta(days=age_days), NOW - timedelta(days=unseen_days)
    return Known(code, CODES[code].signature if text is None else text, 3, first, last, "runs/1", NOW)


FOUND = [
    found("lost-agree", age_days=9, unseen_days=8),
    found("stuck-nothing-consumed", age_days=2, unseen_days=0, text="words\nin: lines\n# no remark"),
]


def test_the_file_is_read_by_a_night(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text(known_text(FOUND))
    assert read_known(file) == {"lost-agree", "stuck-nothing-consumed"}


def test_the_file_says_how_old_each_is_and_when_it_was_last_seen() -> None:
    remark = (
        "# 3 runs; first seen 2026-03-01 02:00, age 9 days; last seen 2026-03-02 02:00, unseen for 8 days\n"
    )
    assert remark + "lost-agree: lost: " in known_text(FOUND)


def test_what_was_seen_last_comes_first() -> None:
    ages = [(row["code"], row["age_days"], row["unseen_days"]) for row in known_table(FOUND).rows]
    assert ages == [("stuck-nothing-consumed", 2, 0), ("lost-agree", 9, 8)]


def test_without_findings_the_file_accepts_nothing(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text(known_text([]))
    assert read_known(file) == frozenset()


def test_a_finding_of_runs_whose_clock_was_wrong_has_no_age() -> None:
    (row,) = known_table([Known("lost-agree", "lost", 1, None, None, None, NOW)]).rows
    assert (row["age_days"], row["unseen_days"]) == (None, None)
    assert "# 1 run\nlost-agree: lost\n" in known_text(
        [Known("lost-agree", "lost", 1, None, None, None, NOW)]
    )
