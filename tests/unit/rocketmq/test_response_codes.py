"""Response codes in scenarios: by name or by number."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from rocketchaos.harness.rocketmq.response_codes import ResponseCode

CODE: TypeAdapter[int] = TypeAdapter(ResponseCode)


@pytest.mark.parametrize(
    ("said", "code"), [("SUCCESS", 0), ("FOUND", 0), ("PULL_OFFSET_MOVED", 21), (14, 14)]
)
def test_a_code_is_said_by_name_or_number(said: str | int, code: int) -> None:
    assert CODE.validate_python(said) == code


@pytest.mark.parametrize(
    ("said", "advice"), [("pull_offset_moved", "`PULL_OFFSET_MOVED`"), ("xyz", "a number says any code")]
)
def test_an_unknown_name_is_refused_with_a_way_out(said: str, advice: str) -> None:
    with pytest.raises(ValidationError, match=advice):
        CODE.validate_python(said)
