from __future__ import annotations

import pytest

from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.scenario import InvalidScenario, load_scenario, parse_scenario
from rocketchaos.harness.scenario.yaml_places import split_lines
from tests.unit.scenario.examples import FIRST_STEP_LINE, SCENARIOS, VALID, scenario_text

START = "start: [a, b]"
BIND = "bind: {holder: {member-of: g, whose-subscription-is-stored-for: orders}}"

SEND = "send: {topic: orders, tag: tagA, count: 1}"


def test_the_example_of_the_design() -> None:
    scenario = load_scenario(SCENARIOS / "tags" / "same-group-different-tags.scenario.yaml")
    assert scenario.title.startswith("Same group, different tags: half of")
    assert scenario.groups == ("g",)
    assert scenario.members("g") == ("a", "b")
    assert scenario.expected_in(None, None) is OutcomeKind.REPRODUCED
    assert [check.claim for _, _, check in scenario.checks()] == [
        *("B01", None, "B07", "H01", None, None),
        *("B04", "B04", None, "B05", "C02", "A01"),
    ]


@pytest.mark.parametrize("owner", ["payments", "@acme/payments", "Ann Other <ann@example.org>"])
def test_an_owner_is_a_team_or_a_person(owner: str) -> None:
    assert parse_scenario(f'owner: "{owner}"\n{VALID}', "x.yaml").owner == owner


@pytest.mark.parametrize("owner", ["' '", "[a, b]", '"a\\nb"'])
def test_an_owner_is_one_line_of_text(owner: str) -> None:
    with pytest.raises(InvalidScenario, match="owner"):
        parse_scenario(f"owner: {owner}\n{VALID}", "x.yaml")


def test_a_scenario_knows_the_lines_of_its_steps_and_checks() -> None:
    scenario = parse_scenario(VALID, "x.yaml")
    lines = split_lines(VALID)
    for index, step in enumerate(scenario.steps):
        assert lines[(scenario.line_of("steps", index) or 0) - 1].startswith(f"  - {step.word}:")
    for section, index, check in scenario.checks():
        assert lines[(scenario.line_of(section, index) or 0) - 1].startswith(f"  - {check.word}:")


def test_a_single_entry_stands_for_a_list_and_has_its_line() -> None:
    text = scenario_text(START).replace("  - start: [a, b]", "  start: [a, b]")
    scenario = parse_scenario(text, "x.yaml")
    assert [step.word for step in scenario.steps] == ["start"]
    assert scenario.line_of("steps", 0) == FIRST_STEP_LINE - 1
    assert scenario.line_of("anomaly", 0) == FIRST_STEP_LINE + 1


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_of_all_systems(line_end: str) -> None:
    scenario = parse_scenario(scenario_text(START).replace("\n", line_end), "x.yaml")
    assert scenario.line_of("steps", 0) == FIRST_STEP_LINE


def test_words_of_yaml_1_1_are_text() -> None:
    text = scenario_text("start: [on, off]").replace("  a:", "  on:").replace("  b:", "  off:")
    text = text.replace("to: a", "to: on").replace("tagA", "no").replace("tagB", "2024-01-01")
    text = text.replace("group: g", "group: y").replace("to: g", "to: y").replace("'*'", "1:30")
    scenario = parse_scenario(text, "x.yaml")
    assert [consumer.subscribe["orders"] for consumer in scenario.consumers.values()] == [
        "no",
        "2024-01-01",
        "1:30",
    ]
    assert scenario.groups == ("y", "h")


ALLOWED = {
    "the same variable in turn": [START, BIND, "kill: $holder", "start: $holder", "stop: $others"],
    "who was meant is unknown": [START, BIND, "kill: $holder", "start: a", "kill: [a, b]"],
    "the others may be who was killed": [START, BIND, "kill: a", "start: $others", "stop: $holder"],
    "bound anew": [START, BIND, "kill: $holder", BIND, "kill: $holder"],
    "pause, then kill": [START, "pause: a", "kill: a", "start: a", "pause: a", "resume: a", "stop: a"],
    "another variable may be the same": [
        START,
        BIND,
        BIND.replace("holder", "x"),
        "kill: $x",
        "start: $holder",
    ],
    "settle after all have left": [START, "stop: [a, b]", "settle: {ownership: g}"],
    "one member is enough": ["start: a", "settle: {ownership: g}", "start: b"],
    "the producer too": [
        START,
        "kill: producer",
        "restart: producer",
        SEND,
        "pause: producer",
        "resume: producer",
    ],
    "sending while it is killed beside": [START, f"parallel: [[{{{SEND}}}], [{{kill: producer}}]]"],
    "time and text": [START, "wait: {duration: 1.5s, because: it is the point}", "wait: 1h", "observe: x-1"],
}


def test_no_consumer_is_called_producer() -> None:
    text = (
        scenario_text("start: producer").replace("  a: {", "  producer: {").replace("to: a,", "to: producer,")
    )
    with pytest.raises(
        InvalidScenario, match="`producer` is the name of the producer: give the consumer another"
    ):
        parse_scenario(text, "x.yaml")


@pytest.mark.parametrize("steps", ALLOWED.values(), ids=list(ALLOWED))
def test_no_false_alarm(steps: list[str]) -> None:
    assert len(parse_scenario(scenario_text(*steps), "x.yaml").steps) == len(steps)


REFUSED = {
    "by the variable": ([START, BIND, "kill: $holder", "pause: $holder"], 4, "$holder was killed in line 11"),
    "not of another group": ([START, BIND, "kill: $holder", "kill: c"], 4, "c has not been started"),
    "settle of the other group": ([START, "settle: {ownership: h}"], 2, "no member of group `h` (c)"),
    "bind of the other group": ([START, BIND.replace("-of: g", "-of: h")], 2, "no member of group `h`"),
    "no start of the producer": ([START, "kill: producer", SEND], 3, "the producer was killed in line 10"),
    "no route of the producer": (
        [START, "pause: producer", "settle: {route: orders}"],
        3,
        "`settle`: the producer is paused since line 10: `restart` or `resume` it before",
    ),
    "several states": (
        [START, BIND, "pause: $holder", "start: a"],
        4,
        "a may be paused or running; it must be",
    ),
}


@pytest.mark.parametrize(("steps", "step", "message"), REFUSED.values(), ids=list(REFUSED))
def test_impossible_orders(steps: list[str], step: int, message: str) -> None:
    with pytest.raises(InvalidScenario) as refused:
        parse_scenario(scenario_text(*steps), "x.yaml")
    (item,) = refused.value.diagnostics
    assert item.line == FIRST_STEP_LINE + step - 1
    assert message in item.message


@pytest.mark.parametrize(("groups", "declared"), [("[g]", False), ("g", False), ("{g: {}}", True)])
def test_groups_that_are_only_named_are_not_declared(groups: str, declared: bool) -> None:
    text = (
        "name: n\ntitle: t\ntopics: {orders: {queues: 1}}\ngroups: "
        + groups
        + """
steps: [{pull: {as: p, group: g, topic: orders, queue: 0, offset: 0}}]
anomaly: [{pull: {of: p, code: 0}}]
healthy: [{pull: {of: p, code: 1}}]
"""
    )
    assert parse_scenario(text, "n.scenario.yaml").bare_groups["g"].is_declared is declared
