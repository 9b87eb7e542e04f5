"""The words' own documentation, and durations."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from rocketchaos.assertions import CHECKS
from rocketchaos.harness.language.words import DurationMs, Word, parse_duration_ms
from rocketchaos.harness.reference.language import language_reference
from rocketchaos.harness.reference.schema import duration
from rocketchaos.harness.scenario.model import ClusterNeeds, Consumer, Scenario, Topic
from rocketchaos.harness.scenario.scalars import NumberTooLongError, scalar
from rocketchaos.harness.steps import STEPS
from rocketchaos.harness.steps.bind import Selector
from tests.unit.scenario.examples import SCENARIOS

WORDS: list[type[Word]] = [*STEPS.values(), *CHECKS.values()]
MODELS: list[type[BaseModel]] = [Scenario, Topic, Consumer, ClusterNeeds, Selector, *WORDS]
DURATION: TypeAdapter[int] = TypeAdapter(DurationMs)


def fields() -> Iterator[tuple[str, str | None]]:
    for model in MODELS:
        for name, field in model.model_fields.items():
            yield f"{model.__name__}.{name}", field.description


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_word_says_what_it_is(model: type[BaseModel]) -> None:
    # Its own: a class without a docstring would inherit pydantic's or its base's.
    assert inspect.cleandoc(vars(model).get("__doc__") or "").strip()


def test_every_field_says_what_it_is() -> None:
    assert [name for name, description in fields() if not (description or "").strip()] == []


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.word)
def test_a_shorthand_names_a_field(word: type[Word]) -> None:
    assert word.shorthand is None or word.shorthand in word.model_fields


def test_the_language_reference_is_up_to_date() -> None:
    written = (SCENARIOS / "LANGUAGE.md").read_text("utf-8")
    assert written == language_reference(), (
        "run: python -m rocketchaos.harness.reference.language > scenarios/LANGUAGE.md"
    )


def test_the_language_reference_has_every_word_and_field() -> None:
    text = language_reference()
    for model in MODELS:
        for name, field in model.model_fields.items():
            assert f"| `{field.alias or name}` |" in text
    assert all(f"### `{word.word}`\n" in text for word in WORDS)


UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


@given(
    st.integers(0, 999_999_999),
    st.integers(0, 999),
    st.sampled_from(["", " "]),
    st.sampled_from(sorted(UNITS)),
)
def test_a_duration_is_its_number_times_its_unit(whole: int, part: int, space: str, unit: str) -> None:
    assert parse_duration_ms(f"{whole}{space}{unit}") == whole * UNITS[unit]
    assert parse_duration_ms(f"{whole}.{part:03}{space}{unit}") == pytest.approx(
        (whole + part / 1000) * UNITS[unit], abs=0.5
    )


@given(st.integers(0, 10**9))
def test_a_duration_as_the_schema_writes_it_is_read_back(milliseconds: int) -> None:
    assert parse_duration_ms(duration(milliseconds)) == milliseconds


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.text())))
def test_anything_else_is_no_duration(value: object) -> None:
    with pytest.raises(ValidationError) as refused:
        DURATION.validate_python(value)
    (error,) = refused.value.errors()
    assert error["msg"].startswith("a duration needs a number and a unit: write `")


@pytest.mark.parametrize(
    "text", ["٣s", "1e3s", "-1s", "+1s", "1 s ", "1\ts", ".5s", "1.s", "9" * 400 + "s", "1S", "s"]
)
def test_what_only_looks_like_a_duration(text: str) -> None:
    with pytest.raises(ValidationError):
        DURATION.validate_python(text)


@pytest.mark.parametrize("text", ["9223372036854775807ms", "1234567890 h", "0.1234567s"])
def test_a_duration_with_too_many_digits_is_called_that(text: str) -> None:
    with pytest.raises(
        ValidationError, match="a duration has at most 9 digits, and at most 6 after its point"
    ):
        DURATION.validate_python(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("", None), ("~", None), ("null", None), ("Null", None), ("NULL", None), ("nUll", "nUll")),
        *(("true", True), ("False", False), ("TRUE", True), ("tRUE", "tRUE")),
        *((word, word) for word in ("yes", "no", "on", "off", "y", "n", "Yes", "NO", "ON")),
        *(("0", 0), ("-17", -17), ("+3", 3), ("007", 7), ("0o17", 15), ("0x1F", 31), ("0b1", "0b1")),
        *(("1_000", "1_000"), ("1:30", "1:30"), ("190:20:30", "190:20:30"), ("2024-01-01", "2024-01-01")),
        *(("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("-1.5E-1", -0.15)),
        *((".", "."), ("1.2.3", "1.2.3"), ("4.9.8-beta", "4.9.8-beta")),
        *(
            (".inf", float("inf")),
            ("-.INF", float("-inf")),
            ("inf", "inf"),
            ("٣", "٣"),
            ("=", "="),
            ("<<", "<<"),
        ),
    ],
)
def test_plain_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    found = scalar(text)
    assert found == value
    assert type(found) is type(value)


@given(st.integers(19, 6000))
def test_numbers_have_an_end(digits: int) -> None:
    for text in ("9" * digits, "-" + "9" * digits, "0x" + "f" * digits):
        with pytest.raises(NumberTooLongError):
            scalar(text)
