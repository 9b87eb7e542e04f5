"""Which consumers get a process of their own."""

from __future__ import annotations

import pytest

from rocketchaos.harness.engine.placement import own_processes
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from tests.unit.scenario.examples import scenario_text

BIND = "bind: {holder: {member-of: g, whose-subscription-is-stored-for: orders}}"


@pytest.mark.parametrize(
    ("steps", "own"),
    [
        (["stop: a", "start: a"], set()),
        (["kill: a"], {"a"}),
        (["kill: [a, c]"], {"a", "c"}),
        (["pause: b", "resume: b"], {"b"}),
        (["restart: b"], {"b"}),
        (["terminate: [b, producer]"], {"b", "producer"}),
        (["kill: producer", "restart: producer"], {"producer"}),
        # A variable may stand for any member of the group of which it is bound.
        ([BIND, "kill: $holder"], {"a", "b"}),
        ([BIND, "pause: $others"], {"a", "b"}),
        ([BIND, "stop: $holder"], set()),
        # Steps inside of others count.
        (["repeat: {times: 2, steps: [{kill: c}, {start: c}]}"], {"c"}),
        (["parallel: [[{kill: a}], [{wait: 1s}]]"], {"a"}),
    ],
)
def test_where_a_step_acts_on_the_process(steps: list[str], own: set[str]) -> None:
    scenario = parse_scenario(scenario_text("start: [a, b, c]", *steps), "s.yaml")
    assert own_processes(scenario) == own


def test_where_the_scenario_asks_for_it() -> None:
    text = scenario_text("start: [a, b, c]").replace(
        "b: {group: g, subscribe: {orders: tagB}}", "b: {group: g, subscribe: {orders: tagB}, process: own}"
    )
    assert own_processes(parse_scenario(text, "s.yaml")) == {"b"}


def test_where_a_check_asks_for_its_log() -> None:
    text = scenario_text("start: [a, b, c]", also="[{log: {consumer: a, matches: x, at_least: 0}}]")
    assert own_processes(parse_scenario(text, "s.yaml")) == {"a"}


@pytest.mark.parametrize(
    "check",
    [
        "log: {producer: producer, matches: x, at_least: 0}",
        "log-lapse: {producer: producer, from: x, at_least: 0s}",
    ],
)
def test_where_a_check_asks_for_the_log_of_a_producer(check: str) -> None:
    scenario = parse_scenario(scenario_text("start: [a, b, c]", also=f"[{{{check}}}]"), "s.yaml")
    assert own_processes(scenario) == {"producer"}


def test_where_a_settle_waits_for_the_log_of_a_producer() -> None:
    text = scenario_text("start: [a, b, c]", "settle: {log: producer, matches: x}")
    assert own_processes(parse_scenario(text, "s.yaml")) == {"producer"}


def test_a_producer_that_says_its_client_id() -> None:
    text = scenario_text("start: [a, b, c]") + "producer: {client_id: 172.17.0.1@1}\n"
    assert own_processes(parse_scenario(text, "s.yaml")) == {"producer"}


def test_arguments_of_a_jvm_hold_for_one_client_alone() -> None:
    text = scenario_text("start: [a, b, c]").replace("c: {", "c: {jvm_args: -Xmx128m, ")
    scenario = parse_scenario(text + "producer: {jvm_args: [-Xmx128m, -Da=b]}\n", "s.yaml")
    assert own_processes(scenario) == {"c", "producer"}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("client: go, jvm_args: -Xmx128m", "can't do this: leave out `jvm_args`"),
        ("beside: a, jvm_args: -Xmx128m", "it is in the JVM of a: leave out `jvm_args` or `beside`"),
        ("app: {jar: a.jar}, jvm_args: -Xmx128m", "write `app: {jvm_args: …}`"),
        ("jvm_args: Xmx128m", r"not `Xmx128m`"),
    ],
)
def test_a_jvm_that_is_not_there_has_no_arguments(keys: str, said: str) -> None:
    text = scenario_text("start: [a, b, c]").replace("c: {", f"c: {{{keys}, ")
    with pytest.raises(InvalidScenario, match=said):
        parse_scenario(text, "s.yaml")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("client: go, jvm_args: -Xmx128m", "go has no JVM: leave out `jvm_args`"),
        ("beside: first, jvm_args: -Xmx128m", "it is in the JVM of first"),
    ],
)
def test_a_producer_without_a_jvm_of_its_own_has_no_arguments(keys: str, said: str) -> None:
    text = scenario_text("start: [a, b, c]") + f"producers: {{first: {{}}, second: {{{keys}}}}}\n"
    with pytest.raises(InvalidScenario, match=said):
        parse_scenario(text, "s.yaml")


def test_one_client_id_in_several_processes() -> None:
    text = scenario_text("start: [a, b, c]").replace("c: {", "c: {client_id: a, ")
    assert own_processes(parse_scenario(text, "s.yaml")) == {"a", "c"}
    beside = text.replace("c: {", "c: {beside: a, ")
    assert own_processes(parse_scenario(beside, "s.yaml")) == set()
    assert parse_scenario(beside, "s.yaml").leaders == {"a": "a", "c": "a"}
