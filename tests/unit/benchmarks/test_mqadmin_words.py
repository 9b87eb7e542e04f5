"""What the bench of diagnoses tells of mqadmin's answers: its own words, and nothing of ours."""

from __future__ import annotations

from tests.benchmarks.diagnose.mqadmin import words
from tests.benchmarks.diagnose.run import Looked, table


def test_what_mqadmin_says_is_reported_in_its_own_words() -> None:
    status = "001  a@1  V4_9_4\nSame subscription in the same group of consumer\n\nRebalance OK\n"
    assert words(status) == "Same subscription in the same group of consumer, Rebalance OK"
    assert words("Consume TPS: 0.00\nDiff Total: 8\n") == "Diff Total: 8"
    assert words("#Topic  #Broker Name\n") == "nothing"


def test_the_table_has_what_was_said_most_often() -> None:
    found = frozenset(["RC0101"])
    looked = [Looked("rc0101-x", "4.9.4", "RC0101", found, 0.2, said) for said in ("same", "warns", "same")]
    looked.append(Looked("rc0303-y", "4.9.4", "RC0303", found, 0.2))
    rows = table(looked).splitlines()
    assert rows[-2] == "| rc0101-x | RC0101 | 3 of 3 | 0.2 - 0.2 s | same |"
    assert rows[-1] == "| rc0303-y | RC0303 | 0 of 1 | 0.2 - 0.2 s | not asked |"
