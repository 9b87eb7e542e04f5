"""Members with different allocation strategies: what follows from it on the queues that there are."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import pytest

from rocketchaos.harness.diagnose.finding import Level
from tests.unit.diagnose.broker_edits import route_fields
from tests.unit.diagnose.member_edits import ALIKE, STRATEGY, client_property
from tests.unit.diagnose.reports import diagnosed
from tests.unit.diagnose.test_reproduction import planted_at

_TWO_QUEUES = route_fields(readQueueNums=2, writeQueueNums=2)


def _one_queue_each(*numbers: int) -> Any:
    """Each member in turn has one queue of the topic, with this number; recorded are 0 and 1, and 2 and 3."""
    turn = cycle(zip((0, 2), numbers, strict=True))

    def change(document: Any) -> None:
        recorded, own = next(turn)
        document["mqTable"] = {
            key.replace(f'"queueId": {recorded}', f'"queueId": {own}'): held
            for key, held in document["mqTable"].items()
            if "%" in key or f'"queueId": {recorded}' in key
        }

    return 307, change


@pytest.mark.parametrize(
    ("numbers", "level", "effect"),
    [((0, 1), Level.WARNING, "None now: each queue has one owner"), ((0, 0), Level.ERROR, "get two owners")],
)
def test_strategies_that_share_out_few_queues_alike_do_no_harm_now(
    numbers: tuple[int, int], level: Level, effect: str
) -> None:
    """Measured on 4.9.7: two members and two queues. Averaging and circling give each member the same one."""
    other = client_property(
        STRATEGY, "x.AllocateMessageQueueAveragely@1", "x.AllocateMessageQueueAveragelyByCircle@2"
    )
    report = diagnosed("mismatch-4.9.4.json", ALIKE, other, _TWO_QUEUES, _one_queue_each(*numbers))
    (finding,) = [item for item in report.findings if item.check.code == "RC0207"]
    assert finding.level is level
    assert effect in finding.effect
    ruled_out = {item.check.code for item in report.ruled_out} & {"RC0301", "RC0302"}
    assert ruled_out == ({"RC0301", "RC0302"} if level is Level.WARNING else set())


def test_one_id_of_two_processes_rules_out_no_second_owner() -> None:
    """Both own the same queues under one id: RC0201 says it, and no check says the contrary."""
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *planted_at("RC0201").changes)
    assert "RC0201" in {item.check.code for item in report.findings}
    assert "RC0302" not in {item.check.code for item in report.ruled_out}
