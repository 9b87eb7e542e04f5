"""What the bench of diagnoses keeps of its looks and of mqadmin's answers, and how it shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.diagnose import accuracy
from tests.benchmarks.diagnose.mqadmin import words


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the test's own, in place of the measured one."""
    monkeypatch.setattr(accuracy, "KEPT", tmp_path / "accuracy.json")
    accuracy.KEPT.write_text('{"maladies": {}, "healthy": {}}')


def look(
    malady: str, *, right: bool = True, found: str = "RC0101", said: str = "", seconds: float = 0.2
) -> None:
    accuracy.keep_look(malady, "4.9.4", right=right, found=found, seconds=seconds, mqadmin=said)


def test_what_mqadmin_says_is_reported_in_its_own_words() -> None:
    status = "001  a@1  V4_9_4\nSame subscription in the same group of consumer\n\nRebalance OK\n"
    assert words(status) == "Same subscription in the same group of consumer, Rebalance OK"
    assert words("Consume TPS: 0.00\nDiff Total: 8\n") == "Diff Total: 8"
    assert words("#Topic  #Broker Name\n") == "nothing"
    offline = "CODE: 206  DESC: the consumer group[g-1] not online BROKER: 10.0.0.1:10911"
    assert words(offline) == "CODE: 206  DESC: the consumer group, not online"


def test_looks_of_several_calls_add_up_and_what_was_said_most_often_is_shown() -> None:
    for said in ("same", "warns", "same"):
        look("rc0101-x", said=said)
    look("rc0101-x", seconds=3.0)
    look("rc0303-y", right=False, found="nothing")
    assert accuracy.looks_at("rc0101-x", "4.9.4") == 4
    assert accuracy.looks_at("rc0101-x", "5.5.0") == 0
    rows = accuracy.maladies_table(accuracy.read()).splitlines()
    assert "| rc0101-x | RC0101 | 4 of 4 | 0.2 - 3.0 s | same |" in rows
    assert "| rc0303-y | RC0303 | 0 of 1 (1 x nothing) | 0.2 - 0.2 s | not asked |" in rows
    assert rows[-1] == "In all 4 of 5 looks found the planted code, and nothing else that is wrong."


def test_looks_at_healthy_groups_add_up_by_version() -> None:
    accuracy.keep_healthy("4.9.4", accuracy.Healthy(looks=20, warnings={"RC0601": 1}))
    accuracy.keep_healthy(
        "4.9.4", accuracy.Healthy(looks=10, warnings={"RC0601": 1}, undetermined={"RC0501": 3})
    )
    assert accuracy.healthy_table(accuracy.read()).splitlines()[-1] == (
        "| 4.9.4 | 30 | none | 2 x RC0601 | 3 x RC0501 |"
    )
