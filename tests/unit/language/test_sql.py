from __future__ import annotations

import pytest

from rocketchaos.harness.language.sql import sql_matches


@pytest.mark.parametrize(
    ("sql", "value", "matches"),
    [
        # As brokers of 4.9.4 answered to pulls of such messages.
        ("a = 1", "1", True),
        ("a = 1", "+1", True),
        ("a = 1", "01", True),
        ("a = 1", "1.0", False),
        ("a = 1", " 1", False),
        ("a = 1", "2", False),
        ("a = 1", "x", False),
        ("a = 1", "4294967297", False),
        ("a = 1", None, False),
        ("a = '1'", "1", True),
        ("a = '1'", "+1", False),
        ("a = '1'", "01", False),
        ("a = '1'", None, False),
        # And as their parser has it.
        ("  a=1 ", "1", True),
        ("a = 0", "-0", True),
        ("a = ''", "x", False),
    ],
)
def test_plain_sql_matches_as_brokers_have_it(sql: str, value: str | None, matches: bool) -> None:
    assert sql_matches(sql, {} if value is None else {"a": value}) is matches


@pytest.mark.parametrize(
    "sql",
    [
        "a = 1 OR a = 2",
        "a > 0",
        "a <> 1",
        "a = 01",
        "a = 1.5",
        "a = -1",
        "a = 99999999999999999999",
        "a = 'it''s'",
        "a = b",
        "1 = a",
        "TAGS = 'tagA'",
        "not = 1",
        "nULL = 1",
        "a IS NOT NULL",
        "a = 1 -- so it is",
        "",
    ],
)
def test_of_all_other_sql_nothing_is_known(sql: str) -> None:
    assert sql_matches(sql, {"a": "1", "TAGS": "tagA", "not": "1", "nULL": "1"}) is None
