"""What a consumer itself subscribes to, all through a run."""

from __future__ import annotations

from rocketchaos.assertions.subscribed import OwnSubscriptions
from tests.unit.history_builder import HistoryBuilder


def of_program(declared: dict[str, str], *lives: dict[str, str]) -> OwnSubscriptions:
    """A program's, with two events for each life: it starts, and it reports this subscription."""
    made = HistoryBuilder()
    for own in lives:
        made.add("a", "consumer-starting", subscribe=declared)
        made.add("a", "program-subscription", subscribe=own, pid=200)
    return OwnSubscriptions({"a": declared}, made.events)


def test_what_a_program_reports_was_so_from_its_start_where_nothing_was_expected() -> None:
    own = of_program({}, {"orders": "A"}, {"orders": "B"})
    assert [dict(own.at("a", number)) for number in range(1, 5)] == [
        {"orders": "A"},
        {"orders": "A"},
        {"orders": "B"},
        {"orders": "B"},
    ]
    assert own.between("a", "orders", 1, 4) == ["A", "B"]


def test_what_was_expected_holds_until_the_program_reports() -> None:
    own = of_program({"orders": "A"}, {"orders": "B"})
    assert own.at("a", 1) == {"orders": "A"}
    assert own.at("a", 2) == {"orders": "B"}


def test_a_program_that_subscribes_to_nothing_does_not_get_the_subscription_of_its_next_life() -> None:
    own = of_program({}, {}, {"orders": "A"})
    assert own.at("a", 2) == {}
    assert own.at("a", 3) == {"orders": "A"}
