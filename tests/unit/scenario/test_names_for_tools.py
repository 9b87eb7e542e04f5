"""Warnings of names without angle brackets, in what RocketMQ gets as it is."""

from __future__ import annotations

import pytest

from tests.unit.scenario.statements import STEPS, doubts, text_of

ASKED = "ask: {as: x, node: broker-a, code: 38, "


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("mqadmin: {as: x, command: consumerProgress -g g}", "<g>"),
        ("mqadmin: {as: x, command: topicRoute --topic orders}", "<orders>"),
        ("mqadmin: {as: x, command: 'topicStatus -t %DLQ%g'}", "%DLQ%<g>"),
        (ASKED + "fields: {consumerGroup: g}}", "<g>"),
        (ASKED + """body: '{"topic": "orders"}'}""", "<orders>"),
    ],
)
def test_a_name_of_the_scenarios_own_is_warned_of(step: str, name: str) -> None:
    text = text_of("delivered: {to: a, count: 0}", steps=f"{STEPS}  - {step}\n")
    (doubt,) = [doubt for doubt in doubts(text) if "RocketMQ knows no" in doubt]
    plain = name.replace("<", "").replace(">", "")
    assert doubt == (
        f"RocketMQ knows no `{plain}`, because the run adds to this name: write `{name}`, or "
        "`names: as-written` in the scenario"
    )
    as_written = text.replace("title: t", "title: t\nnames: as-written")
    assert not [doubt for doubt in doubts(as_written) if "RocketMQ knows no" in doubt]


@pytest.mark.parametrize(
    "step",
    [
        "mqadmin: {as: x, command: consumerProgress -g <g>}",
        "mqadmin: {as: x, command: consumerProgress -g other}",
        "mqadmin: {as: x, command: sendMessage -t <orders> -p orders}",
        "mqadmin: {as: x, command: orders g}",
        ASKED + "fields: {consumerGroup: <g>, g: '1'}}",
        ASKED + "body: g}",
    ],
)
def test_other_texts_are_fine(step: str) -> None:
    text = text_of("delivered: {to: a, count: 0}", steps=f"{STEPS}  - {step}\n")
    assert not [doubt for doubt in doubts(text) if "RocketMQ knows no" in doubt]
