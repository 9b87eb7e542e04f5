"""Members that give up all queues for a moment, and take them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.unit.diagnose.broker_edits import offset
from tests.unit.diagnose.member_edits import ALIKE
from tests.unit.diagnose.reports import Edit, by_look, codes, diagnosed, unknown

RECORDED = "mismatch-4.9.4.json"


def _gives_up(who: Callable[[Any], bool] = lambda _document: True, started_again: bool = False) -> Edit:
    """Members have no queue in the third and fourth look."""

    def change(document: Any, look: int) -> None:
        if look in (2, 3) and who(document):
            document["mqTable"] = {}
        if look > 3 and started_again:
            document["properties"]["PROP_CONSUMER_START_TIMESTAMP"] = "1"

    return by_look(307, change)


def test_all_members_that_give_up_all_queues_may_have_reset_their_offset() -> None:
    report = diagnosed(RECORDED, ALIKE, _gives_up(), looks=8)
    (item,) = [item for item in report.undetermined if item.check.code == "RC0503"]
    assert "gave up broker-1 0, 1, 2 and 3 and took them again, within 6 s" in item.reason
    assert {evidence.exchange.look for evidence in item.evidence} == {2}
    assert "RC0503" not in {out.check.code for out in report.ruled_out}


def test_a_rebalance_a_restart_or_an_offset_that_is_seen_is_no_such_moment() -> None:
    turn = iter(range(1000))
    one = diagnosed(RECORDED, ALIKE, _gives_up(lambda _document: next(turn) % 2 == 0), looks=8)
    assert "RC0503" not in unknown(one)
    assert "RC0503" not in unknown(diagnosed(RECORDED, ALIKE, _gives_up(started_again=True), looks=8))
    back = offset(lambda look: 9 if look < 2 else 3)
    seen = diagnosed(RECORDED, ALIKE, *back, _gives_up(), looks=8)
    assert "RC0503" in codes(seen)
    assert "RC0503" not in unknown(seen)
