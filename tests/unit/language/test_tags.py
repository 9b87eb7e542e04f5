from __future__ import annotations

import pytest

from rocketchaos.harness.language.expressions import text_of
from rocketchaos.harness.language.tags import broker_matches, client_matches, first_tag, hash_code, tags_of


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("tagA", 3552231),
        ("tagB", 3552232),
        ("A", 65),
        ("Aa", 2112),
        ("BB", 2112),
        ("payment", -786681338),
        ("polygenelubricants", -2147483648),
        ("", 0),
        ("😀", 1772899),
    ],
)
def test_hash_code_is_javas(text: str, code: int) -> None:
    assert hash_code(text) == code


def test_the_broker_compares_hashes_and_the_client_text() -> None:
    codes = [hash_code("Aa")]
    assert broker_matches("Aa", codes, "BB")
    assert not client_matches("Aa", "BB")


def test_everything_matches_a_star() -> None:
    assert broker_matches("*", [], None)
    assert client_matches("*", "tagA")


def test_a_star_with_blanks_is_a_tag() -> None:
    assert tags_of(" * ") == {"*"}
    assert not broker_matches(" * ", [hash_code("*")], "tagA")
    assert not client_matches(" * ", "tagA")


def test_what_names_no_tag_is_everything_to_clients_and_nothing_to_brokers() -> None:
    for expression in ("|| ||", " ", "||\t"):
        assert tags_of(expression) == frozenset()
        assert client_matches(expression, "tagA")
        assert not broker_matches(expression, [], "tagA")
    assert broker_matches("", [], "tagA")
    assert text_of("") == "*"


def test_blanks_are_javas() -> None:
    assert tags_of("\u00a0tagA || \x01tagB") == {"\u00a0tagA", "tagB"}
    assert first_tag("|| tagB || tagA") == "tagB"
    assert first_tag("*") is first_tag("|| ||") is None


def test_a_message_without_tag_matches_no_tag() -> None:
    assert not broker_matches("tagA", [hash_code("tagA")], None)
    assert not client_matches("tagA", None)


def test_tags_of_an_expression() -> None:
    assert tags_of("tagA || tagB||  tagC") == {"tagA", "tagB", "tagC"}
