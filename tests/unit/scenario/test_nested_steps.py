"""`repeat` and `parallel` are read like everything else: places, names, order, schema."""

from __future__ import annotations

import pytest

from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.scenario.yaml_places import split_lines
from rocketchaos.harness.steps.base import Step, every_step
from tests.unit.editor_schema import mistakes
from tests.unit.scenario.examples import FIRST_STEP_LINE, scenario_text

BIND = "bind: {holder: {member-of: g, whose-subscription-is-stored-for: orders}}"
TREE = """\
repeat:
      times: 3
      steps:
        - start: [a, b]
        - parallel:
            - - wait: 1s
              - observe: seen
            - wait: 2s
        - stop: [a, b]\
"""


def test_steps_inside_others_know_their_lines() -> None:
    text = scenario_text(
        TREE, "parallel: [[wait: 3s, wait: 4s], wait: 5s]", "repeat: {times: 2, steps: {wait: 6s}}"
    )
    scenario = parse_scenario(text, "x.yaml")
    lines = split_lines(text)

    def look(step: Step, indices: tuple[int, ...]) -> None:
        line = scenario.line_of("steps", *indices)
        assert line is not None
        assert f"{step.word}:" in lines[line - 1]
        for branch, inner in enumerate(step.inner()):
            for index, item in enumerate(inner):
                look(item, (*indices, branch, index))

    for index, step in enumerate(scenario.steps):
        look(step, (index,))
    assert [step.word for step in every_step(scenario.steps)] == [
        *("repeat", "start", "parallel", "wait", "observe", "wait", "stop"),
        *("parallel", "wait", "wait", "wait", "repeat", "wait"),
    ]
    assert scenario.line_of("steps", 0, 0, 1, 0, 1) == FIRST_STEP_LINE + 6


def test_observations_of_a_repeat_are_there_once_for_each_iteration() -> None:
    for name in ("seen", "seen-1", "seen-3"):
        text = scenario_text(TREE, also=f"{{offsets: {{group: g, topic: orders, lag: 0, at: {name}}}}}")
        assert [check.at for check in parse_scenario(text, "x").also] == [name]
    with pytest.raises(InvalidScenario, match="no observation `seen-4`"):
        parse_scenario(
            scenario_text(TREE, also="{offsets: {group: g, topic: orders, lag: 0, at: seen-4}}"), "x"
        )


@pytest.mark.parametrize("times", [1, 2])
def test_variables_of_a_repeat_are_known_after_it(times: int) -> None:
    steps = f"repeat: {{times: {times}, steps: [start: [a, b], {BIND}, stop: [a, b]]}}"
    text = scenario_text(steps, "start: $holder", also="{delivered: {to: $others, count: 1}}")
    scenario = parse_scenario(text, "x")
    assert [step.word for step in scenario.steps] == ["repeat", "start"]


ALLOWED = {
    "once is not twice": ["repeat: {times: 1, steps: [start: [a, b]]}"],
    "killed and started again": ["start: [a, b]", "repeat: {times: 9, steps: [kill: a, start: a]}"],
    "settle beside the start": ["parallel: [[settle: {ownership: g}], [start: a]]", "stop: a"],
    "each branch its own": [
        "start: [a, b]",
        "parallel: [[stop: a, start: a], [kill: b]]",
        "stop: a",
        "start: b",
    ],
    "who comes first is not known": ["start: a", "parallel: [[kill: a], [start: a]]", "stop: a"],
    "a variable may be anybody": [
        "start: [a, b]",
        BIND,
        "parallel: [[kill: $holder], [pause: a]]",
        "kill: b",
    ],
    "bound in a branch, used after": ["start: [a, b]", f"parallel: [[{BIND}], [wait: 1s]]", "kill: $holder"],
    "parallel in repeat in parallel": [
        "start: [a, b]",
        "parallel: [[repeat: {times: 2, steps: [parallel: [[stop: a], [wait: 1s]], start: a]}], [wait: 1s]]",
        "stop: a",
    ],
}


@pytest.mark.parametrize("steps", ALLOWED.values(), ids=list(ALLOWED))
def test_no_false_alarm(steps: list[str]) -> None:
    text = scenario_text(*steps)
    assert len(parse_scenario(text, "x.yaml").steps) == len(steps)
    assert not mistakes(text)


@pytest.mark.parametrize(
    "step",
    [
        "repeat: {times: 2}",
        "repeat: {times: 2, steps: []}",
        "repeat: {times: 2, steps: [strat: a]}",
        "repeat: {times: 1001, steps: {wait: 1s}}",
        "parallel: [[wait: 1s]]",
        "parallel: [[], [wait: 1s]]",
        "parallel: [[wait: 1], [wait: 1s]]",
        "parallel: [delivered: {to: a, count: 1}, wait: 1s]",
    ],
)
def test_the_schema_refuses_what_the_language_refuses(step: str) -> None:
    text = scenario_text("start: a", step)
    assert mistakes(text)
    with pytest.raises(InvalidScenario):
        parse_scenario(text, "x.yaml")
