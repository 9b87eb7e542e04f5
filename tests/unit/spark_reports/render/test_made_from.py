"""What a page says of the store that it was made from."""

from __future__ import annotations

from rocketchaos.spark_reports.render.made_from import Fact, store_words
from tests.unit.spark_reports.render.samples import BEGIN, summary


def test_a_store_that_lets_old_runs_go_says_since_when_it_keeps_them() -> None:
    assert Fact("kept since", "2026-01-01 02:11") in store_words(summary(kept_since=BEGIN)).facts
    assert "kept since" not in {fact.name for fact in store_words(summary()).facts}
