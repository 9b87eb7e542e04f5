"""Response codes in scenarios: by name or by number."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from rocketchaos.harness.rocketmq.response_codes import ResponseCode, in_words, pull_in_words

CODE: TypeAdapter[int] = TypeAdapter(ResponseCode)


@pytest.mark.parametrize(
    ("said", "code"), [("SUCCESS", 0), ("FOUND", 0), ("PULL_OFFSET_MOVED", 21), (14, 14)]
)
def test_a_code_is_said_by_name_or_number(said: str | int, code: int) -> None:
    assert CODE.validate_python(said) == code


def test_found_is_said_of_a_pull_alone() -> None:
    assert (in_words(0), pull_in_words(0)) == ("0 SUCCESS", "0 FOUND")
    assert in_words(21) == pull_in_words(21) == "21 PULL_OFFSET_MOVED"
    assert in_words(4711) == "4711"


@pytest.mark.parametrize(
    ("said", "advice"), [("pull_offset_moved", "`PULL_OFFSET_MOVED`"), ("xyz", "a number says any code")]
)
def test_an_unknown_name_is_refused_with_a_way_out(said: str, advice: str) -> None:
    with pytest.raises(ValidationError, match=advice):
        CODE.validate_python(said)
