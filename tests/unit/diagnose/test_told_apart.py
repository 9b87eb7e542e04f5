"""Messages that some members' SQL92 matches and others' doesn't; tests/embedded asks RocketMQ's own classes."""

from __future__ import annotations

import pytest

from rocketchaos.harness.diagnose.checks import CHECKS
from rocketchaos.harness.diagnose.model import TAG, Subscription
from rocketchaos.harness.diagnose.reproduction.told_apart import MOST_MESSAGES, Message, messages
from rocketchaos.harness.diagnose.sql_judge import Unjudged
from rocketchaos.harness.language.tags import SQL


def found(*expressions: str, tags: tuple[str, ...] = ("tagA",)) -> list[Message]:
    wanted = {
        f"m{number}": Subscription("t", expression.removeprefix("tag:"), kind, 0, frozenset())
        for number, expression in enumerate(expressions, 1)
        for kind in [TAG if expression.startswith("tag:") else SQL]
    }
    return list(messages(wanted, tags))


def told(*expressions: str) -> set[frozenset[str]]:
    return {item.passes for item in found(*expressions)}


def test_each_side_gets_a_message_that_the_other_doesn_t_want() -> None:
    assert {(item.properties["a"], item.passes) for item in found("a = 1", "a = 2")} == {
        ("1", frozenset({"m1"})),
        ("2", frozenset({"m2"})),
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a > 1", "a > 5"),
        ("a BETWEEN 0 AND 3", "a BETWEEN 2 AND 9"),
        ("a NOT BETWEEN 0 AND 3", "a NOT BETWEEN 2 AND 9"),
        ("a >= -5", "a < -5"),
        ("5 < a", "a <> 6"),
        ("region = 'eu'", "region IN ('eu', 'us')"),
        ("region IN ('it''s')", "region NOT IN ('eu')"),
        ("a IS NULL", "a IS NOT NULL"),
        ("paid = TRUE", "paid = FALSE"),
        ("(a = 1 OR b = 2) AND c = 3", "a = 1 OR b = 2 AND c = 3"),
        ("NOT (a = 1)", "NOT (a = 2)"),
        ("a = 1.5", "a > 1.2"),
        ("name CONTAINS 'x'", "name STARTSWITH 'x'"),
        ("name ENDSWITH 'x'", "name = 'yx'"),
        ("a = 1", "A = 1"),
        ("TAGS = 'tagA'", "TAGS = 'tagB'"),
    ],
)
def test_sql_that_differs_is_told_apart(one: str, other: str) -> None:
    assert told(one, other) & {frozenset({"m1"}), frozenset({"m2"})}


def test_of_many_kinds_those_that_the_fewest_want_are_sent() -> None:
    sent = found("a = 1", "a > 0", "b = 1", "b > 0", "c = 1", "c > 0")
    assert len(sent) == MOST_MESSAGES
    assert max(len(item.passes) for item in sent) < 6


def test_many_properties_are_tried_by_chance_and_always_the_same() -> None:
    long = " AND ".join(f"p{number} > {number}" for number in range(12))
    assert found(long, "p0 = 5") == found(long, "p0 = 5")


def test_tags_and_sql_go_together() -> None:
    sent = found("a = 1 AND TAGS = 'tagB'", "tag:Aa", tags=("Aa", "BB"))
    kinds = {(item.tag, item.passes, item.suits) for item in sent}
    # A broker lets BB pass by the hash of Aa, and the client drops it; SQL92 sees the tag itself.
    assert ("Aa", frozenset({"m2"}), frozenset({"m1", "m2"})) in kinds
    assert ("tagB", frozenset({"m1"}), frozenset({"m1"})) in kinds


def test_brackets_that_close_too_early_stay_in_their_expression() -> None:
    assert {item.passes for item in found("a = 1) OR (b = 1", "c = 2")} >= {
        frozenset({"m1"}),
        frozenset({"m2"}),
    }


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("a = b", "compares with b"),
        ("a = 1 OR a = 'x'", "compares a property with 'x' and 1"),
        ("NOT a = 1", "a NOT without brackets"),
        ("a", "doesn't compare a with a value"),
        ("a BETWEEN 1", "compares with nothing"),
        ("a = 1 ; b", "has ';'"),
        ('a = 1 AND "b" = 1', "has '\"'"),
        ("(a = 1", "syntax error"),
        ("a = 1e999", "above"),
        ("a = .", "can't be read"),
        ("b = '", "can't be read"),
        ("1 CONTAINS ;", "has ';'"),
        (" AND ".join(["a = 1"] * 60), "more than 200 words"),
        ("load_extension('x') = 1", "doesn't compare load_extension"),
        ("a = (SELECT 1)", "compares with (, whose value"),
        ("", "syntax error"),
    ],
)
def test_what_can_t_be_judged_is_said(expression: str, reason: str) -> None:
    with pytest.raises(Unjudged) as raised:
        found(expression, "a = 2")
    assert reason in str(raised.value)


def test_configured_queues_are_named_where_two_members_have_the_same_queue() -> None:
    """No restart helps there."""
    assert any("strategy with configured queues" in item for item in CHECKS["RC0302"].change)
