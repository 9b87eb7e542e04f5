"""Whatever is done to a scenario's text: it is a scenario, or there is a clear refusal with places in the file."""

from __future__ import annotations

import copy
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketchaos.harness.scenario import InvalidScenario, parse_scenario, render
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.yaml_places import split_lines
from tests.unit.scenario.examples import NESTED, VALID

LINES = VALID.splitlines(keepends=True)
FRAGMENTS = [
    *("~", "*", "&a", "*a", "!!str", "!", "{", "}", "[", "]", ": ", "- ", "? ", "'", '"', "|", ">", "#", "%"),
    *(
        "\t",
        "\n",
        "\r",
        "\u2028",
        "\x85",
        "\ufeff",
        "\x00",
        "\ud800",
        "<<: ",
        "---\n",
        "...\n",
        "null",
        "true",
    ),
    *(
        "0x",
        "1e9",
        "-1",
        "0s",
        "9" * 5000,
        "$",
        "$holder",
        "$others.tag",
        "$x",
        "a",
        "g",
        "orders",
        "no",
        "重",
    ),
    *("{{{{{{{{{{{{{{{{{{{{{{{{", '"\\U00110000"', '"\\ud800"', "%YAML 1." + "9" * 5000 + "\n---\n"),
]
WORDS = [
    "start",
    "kill",
    "send",
    "bind",
    "settle",
    "observe",
    "delivered",
    "track",
    "steps",
    "also",
    "tendency",
    "repeats",
    "topics",
]


@st.composite
def changed(draw: st.DrawFn) -> str:
    """The valid scenario with one to four changes of lines, of characters or of words."""
    text = draw(st.sampled_from([VALID, NESTED]))
    for _ in range(draw(st.integers(1, 4))):
        text = draw(st.sampled_from(CHANGES))(draw, text)
    return text


def drop_lines(draw: st.DrawFn, text: str) -> str:
    lines = text.splitlines(keepends=True)
    first = draw(st.integers(0, len(lines)))
    return "".join(lines[:first] + lines[first + draw(st.integers(1, 5)) :])


def move_or_repeat_a_line(draw: st.DrawFn, text: str) -> str:
    lines = text.splitlines(keepends=True)
    lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(LINES)))
    return "".join(lines)


def indent_a_line(draw: st.DrawFn, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    index = draw(st.integers(0, len(lines) - 1))
    lines[index] = " " * draw(st.integers(0, 4)) + lines[index].lstrip(" ")
    return "".join(lines)


def cut_characters(draw: st.DrawFn, text: str) -> str:
    first = draw(st.integers(0, len(text)))
    return text[:first] + text[first + draw(st.integers(1, 12)) :]


def insert_a_fragment(draw: st.DrawFn, text: str) -> str:
    place = draw(st.integers(0, len(text)))
    return text[:place] + draw(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=3))) + text[place:]


def swap_a_word(draw: st.DrawFn, text: str) -> str:
    return text.replace(draw(st.sampled_from(WORDS)), draw(st.sampled_from([*WORDS, *FRAGMENTS])), 1)


CHANGES = [drop_lines, move_or_repeat_a_line, indent_a_line, cut_characters, insert_a_fragment, swap_a_word]


def scenario_or_refusal(text: str) -> None:
    """Parse it; every diagnostic must have its place within the text."""
    try:
        scenario = parse_scenario(text, "x.yaml")
    except InvalidScenario as invalid:
        check_diagnostics(text, invalid)
    else:
        assert isinstance(scenario, Scenario)
        assert all(scenario.line_of("steps", index) for index in range(len(scenario.steps)))


def check_diagnostics(text: str, invalid: InvalidScenario) -> None:
    lines = split_lines(text)
    assert invalid.diagnostics
    for diagnostic in invalid.diagnostics:
        assert 1 <= diagnostic.line <= len(lines)
        assert diagnostic.source_line == lines[diagnostic.line - 1]
        assert 1 <= diagnostic.column <= len(diagnostic.source_line) + 1
        assert diagnostic.length >= 1
        assert diagnostic.column + diagnostic.length <= len(diagnostic.source_line) + 2
    shown = render(invalid.diagnostics).split("\n")
    assert len(shown) == 3 * len(invalid.diagnostics)
    assert all(line.isprintable() for line in shown)


@settings(max_examples=2 * settings().max_examples)
@given(changed())
def test_changed_text(text: str) -> None:
    scenario_or_refusal(text)


@given(st.text(max_size=80))
def test_any_text(text: str) -> None:
    scenario_or_refusal(text)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10**20),
    st.floats(),
    st.sampled_from(["a", "g", "$holder", "$holder.tag", "orders", "40s", "", "x" * 100]),
    st.sampled_from([[], {}, ["a"], [["a"]], {"a": "b"}, {"start": "a"}, {"topic": "orders"}, {1: 2}]),
).map(copy.deepcopy)

KEYS = ["count", "tag", "group", "zzz", "at", "within", "bind", "start"]


@settings(max_examples=2 * settings().max_examples)
@given(st.data())
def test_changed_data(data: st.DataObject) -> None:
    """Values of a wrong kind at any place, keys that are missing, and keys that don't belong there."""
    document = yaml.safe_load(data.draw(st.sampled_from([VALID, NESTED])))
    for _ in range(data.draw(st.integers(1, 3))):
        change(document, data)
    scenario_or_refusal(
        yaml.safe_dump(document, default_flow_style=data.draw(st.booleans()), sort_keys=False)
    )


def change(place: Any, data: st.DataObject) -> None:
    """Walk down to somewhere, and change it there."""
    while True:
        if not place or not isinstance(place, dict | list):
            return
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and data.draw(st.integers(0, 4)) > 0:
            place = place[key]
            continue
        kind = data.draw(st.sampled_from(["value", "drop", "add"]))
        if kind == "value":
            place[key] = data.draw(VALUES)
        elif kind == "drop":
            del place[key]
        elif isinstance(place, dict):
            place[data.draw(st.sampled_from(KEYS))] = data.draw(VALUES)
        else:
            place.append(data.draw(VALUES))
        return
