from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from rocketchaos.harness.scenario import parse_scenario
from tests.unit.editor_schema import mistakes, schema
from tests.unit.library import some
from tests.unit.scenario.examples import SHIPPED, scenario_text


def test_it_is_a_schema_of_draft_2020_12() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert '"$id"' not in json.dumps(schema())
    assert schema()["title"] == "rocketchaos scenario"


def test_it_accepts_every_shipped_scenario() -> None:
    found = {file.name: mistakes(file.read_text("utf-8")) for file in some(SHIPPED)}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    "steps",
    [
        ["start: a"],
        ["start: [a, b]"],
        ["start: {consumers: a}", "wait: 5s", "wait: {duration: 500ms, because: of it}"],
        ["observe: then", "observe: {name: then}", "settle: {offsets: g, topic: orders, within: 1.5m}"],
        [
            "start: a",
            "bind: {holder: {member-of: g, whose-subscription-is-stored-for: orders}}",
            "kill: $holder",
        ],
    ],
)
def test_it_accepts_the_short_forms(steps: list[str]) -> None:
    assert mistakes(scenario_text(*steps)) == []
    assert mistakes(scenario_text(*steps, also="{delivered: {to: a, at_least: 1}}")) == []


def test_it_accepts_single_entries_in_place_of_lists() -> None:
    assert mistakes(scenario_text("start: a").replace("  - start", "  start") + "marks: quick\n") == []


@pytest.mark.parametrize(
    "check",
    [
        "{placed: {topics: orders, queues: 2}}",
        "{same-client: {groups: g}}",
        "{track-series: {group: g, topic: orders, sequence: CONSUMED}}",
        "{subscription: {group: g, topic: orders, expression: tagA, codes: 1}}",
    ],
)
def test_it_accepts_one_entry_in_place_of_a_list_as_the_reader_does(check: str) -> None:
    text = scenario_text("start: a", also=check)
    assert mistakes(text) == []
    parse_scenario(text, "example.scenario.yaml")


def test_it_accepts_one_argument_of_a_program() -> None:
    program = "{group: g, subscribe: {orders: tagA}, app: {jar: a.jar, args: $nameserver, jvm_args: -Xmx64m}}"
    assert mistakes(scenario_text("start: a").replace("{group: g, subscribe: {orders: tagA}}", program)) == []


@pytest.mark.parametrize("queues", ["two", "{}", "[two]"])
def test_it_refuses_another_entry_in_place_of_a_list(queues: str) -> None:
    assert mistakes(scenario_text("start: a", also=f"{{placed: {{topics: orders, queues: {queues}}}}}")) != []


@pytest.mark.parametrize(
    "step",
    [
        "strat: a",
        "{start: a, stop: a}",
        "start: {consumer: a}",
        "start: []",
        "wait: 5",
        "wait: 5 minutes",
        "send: {topic: orders, count: 0}",
        "send: {topic: orders, count: 1, tag: null}",
        "send: {topic: orders, count: 1, cuont: 1}",
        "bind: {}",
        "bind: {x: {member-of: g}}",
        "delivered: {to: a, count: 1}",
    ],
)
def test_it_refuses_what_the_language_refuses(step: str) -> None:
    assert mistakes(scenario_text("start: a", step)) != []


@pytest.mark.parametrize(
    "change",
    [
        ("name: example", "name: Example"),
        ("title: an", "titel: an"),
        ("  a: {", "  a b: {"),
        ("{orders: tagA}", "{}"),
        ("{queues: 4}", "{queues: 0}"),
        ("to: g, count: 8", "to: g, count: 8, because: lost"),
    ],
)
def test_it_refuses_wrong_keys_and_values(change: tuple[str, str]) -> None:
    text = scenario_text("start: a")
    assert mistakes(text) == []
    assert mistakes(text.replace(*change, 1)) != []


def test_every_property_is_described() -> None:
    """Editors show the description of a key, and of a word what it does."""
    described = [schema(), *schema()["$defs"].values()]
    properties: list[tuple[str, Any]] = [
        (name, property_) for item in described for name, property_ in item.get("properties", {}).items()
    ]
    assert len(properties) > 60
    assert [name for name, property_ in properties if not property_.get("description")] == []


def test_nothing_is_null_and_durations_have_units() -> None:
    assert "null" not in json.dumps(schema())
    assert schema()["$defs"]["Settle"]["properties"]["within"]["default"] == "60s"
