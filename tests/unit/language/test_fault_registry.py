"""A fault's registration says all that others know of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocketchaos.harness.faults.base import Fault
from rocketchaos.harness.faults.process import consumer_action, fault_class
from rocketchaos.harness.language.fault_effects import (
    ACTIVE_BEFORE_TOLD,
    ENDS,
    KILLS,
    STANDS_STILL,
    TAKES_AWAY,
    TOLD_BY_CONSUMERS,
)
from rocketchaos.harness.language.fault_kind import Process
from rocketchaos.harness.language.fault_registry import FAULT_KINDS, NETWORK_FAULTS, PROCESS_FAULTS
from rocketchaos.harness.steps import STEPS

QUERIES = Path(__file__).parents[3] / "spark_reports" / "queries"


@pytest.mark.parametrize("word", FAULT_KINDS)
def test_what_does_it_is_in_the_file_of_its_word(word: str) -> None:
    kind = PROCESS_FAULTS.get(word)
    if kind is None or kind.of_producer:
        assert fault_class(word).name == word
        assert issubclass(fault_class(word), Fault)
    if kind is not None and kind.capability is not None:
        assert fault_class(word, of_node=True).name == word
    if kind is not None and kind.consumers_tell:
        assert callable(consumer_action(word))
    assert word in STEPS


def test_readers_of_old_histories_know_what_they_knew() -> None:
    assert {"kill"} == KILLS
    assert {"pause"} == STANDS_STILL
    assert {"terminate"} == TOLD_BY_CONSUMERS
    assert {"kill", "stop", "terminate"} == ENDS
    assert ENDS | {"pause"} == TAKES_AWAY
    assert set(ACTIVE_BEFORE_TOLD) == {
        *("terminate", "stop", "restart", "fill-disk", "free-disk", "resume", "heal", "upgrade"),
    }
    assert set(NETWORK_FAULTS) == {"partition", "loss", "reset", "delay"}


@pytest.mark.parametrize("query", ["timing_histograms", "timing_scenarios"])
def test_causes_that_nobody_notices_are_registered_faults(query: str) -> None:
    text = (QUERIES / f"{query}.sql").read_text(encoding="utf-8")
    (named,) = re.findall(r"cause IN \(([^)]*)\) AS unnoticed", text)
    words = set(re.findall(r"'([^']*)'", named))
    assert words <= set(FAULT_KINDS)
    assert {kind.word for kind in FAULT_KINDS.values() if kind.process is Process.STANDS} <= words
