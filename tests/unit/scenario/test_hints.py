"""The hint at a send into a race for the stored subscription: where it is given, and where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.diagnostics import Diagnostic, render
from rocketchaos.harness.scenario.hints import hints
from tests.unit.library import library

ROOT = Path(__file__).parents[3]
DIFFERENT = "  a: {group: g, subscribe: {orders: tagA}}\n  b: {group: g, subscribe: {orders: tagB}}\n"
SEND = "  - send: {topic: orders, tag: tagA, count: 8}\n"


def hinted(steps: str, consumers: str = DIFFERENT, more: str = "expected: reproduced\n") -> list[Diagnostic]:
    text = (
        "name: x\ntitle: t\ntopics: {orders: {queues: 4}, bills: {queues: 1}}\n"
        f"consumers:\n{consumers}steps:\n{steps}"
        "anomaly:\n  - delivered: {to: g, count: 0}\nhealthy:\n  - delivered: {to: g, count: 8}\n"
        f"{more}"
    )
    return list(hints(parse_scenario(text, "x.yaml")))


def test_the_send_is_shown_with_what_differs_and_what_to_write() -> None:
    (hint,) = hinted("  - start: [a, b]\n" + SEND)
    assert (hint.line, hint.column, hint.length) == (9, 5, 4)
    assert hint.text == (
        "hint: the subscription that the broker holds for group g is still a race here, because its members "
        "subscribe differently (a 'tagA', b 'tagB'): write "
        "`- settle: {subscription: g, topic: orders, within: 60s}` before it"
    )
    assert "x.yaml:9:5: hint: " in render([hint])


def test_there_is_one_for_each_group_and_topic() -> None:
    assert len(hinted("  - start: [a, b]\n" + SEND + SEND)) == 1


def test_what_is_written_ends_it() -> None:
    settle = "  - settle: {subscription: g, topic: orders, within: 60s}\n"
    assert hinted("  - start: [a, b]\n" + settle + SEND) == []
    other = settle.replace("orders", "bills")
    consumers = DIFFERENT.replace("{orders: ", "{bills: '*', orders: ")
    assert len(hinted("  - start: [a, b]\n" + other + SEND, consumers)) == 1


def test_a_wait_does_not_end_it() -> None:
    assert len(hinted("  - start: [a, b]\n  - settle: {ownership: g}\n  - wait: 2s\n" + SEND)) == 1


@pytest.mark.parametrize(
    "consumers",
    [
        DIFFERENT.replace("tagB", "tagA"),
        DIFFERENT.replace("tagA", "'tagB || tagA'").replace("orders: tagB", "orders: 'tagA || tagB'"),
        DIFFERENT.replace("b: {group: g", "b: {group: h"),
        DIFFERENT.replace("{orders: tagB}", "{bills: tagB}"),
        DIFFERENT.replace("{orders: tagB}", "{orders: tagB, bills: '*'}"),
        DIFFERENT.replace("subscribe", "api: lite-pull, subscribe"),
        DIFFERENT.replace("subscribe", "api: pop, subscribe"),
        DIFFERENT.replace("subscribe", "client: python, subscribe"),
        DIFFERENT.replace("subscribe", "client: grpc, subscribe"),
        DIFFERENT.replace("subscribe", "post_subscription_when_pull: true, subscribe"),
        DIFFERENT.replace("subscribe", "strategy: by-config, queues: 0, subscribe"),
    ],
)
def test_no_hint_where_nobody_differs_or_the_stored_subscription_does_not_count(consumers: str) -> None:
    assert hinted("  - start: [a, b]\n" + SEND, consumers) == []


@pytest.mark.parametrize(
    "consumers",
    [
        DIFFERENT.replace("subscribe", "model: broadcasting, subscribe"),
        DIFFERENT.replace("b: {group: g, ", "b: {group: g, api: lite-pull, "),
        DIFFERENT.replace("orders: tagB", "orders: {sql: \"TAGS = 'tagB'\"}"),
    ],
)
def test_a_hint_where_the_pulls_of_one_member_go_by_the_stored_subscription(consumers: str) -> None:
    assert len(hinted("  - start: [a, b]\n" + SEND, consumers)) == 1


@pytest.mark.parametrize(
    "steps",
    [
        "  - start: a\n" + SEND + "  - start: b\n",
        "  - start: [a, b]\n  - stop: a\n" + SEND,
        "  - start: [a, b]\n  - kill: b\n" + SEND,
        "  - start: [a, b]\n  - pause: b\n" + SEND,
        "  - start: [a, b]\n  - subscribe: {consumer: b, topic: orders, expression: tagA}\n" + SEND,
        "  - start: [a, b]\n" + SEND.replace("tagA", "tagC"),
    ],
)
def test_no_hint_where_only_one_runs_or_all_agree_about_what_is_sent(steps: str) -> None:
    assert hinted(steps) == []


def test_a_hint_where_one_of_several_tags_is_wanted_by_one() -> None:
    assert len(hinted("  - start: [a, b]\n" + SEND.replace("tag: tagA", "tags: [tagC, tagB]"))) == 1


def test_a_hint_inside_other_steps_has_their_place() -> None:
    (hint,) = hinted("  - start: [a, b]\n  - repeat:\n      times: 2\n      steps:\n      " + SEND)
    assert (hint.line, hint.column) == (12, 11)


def test_no_hint_where_the_race_is_the_subject() -> None:
    counted = "tendency:\n  - outcome-distribution: {group: g, topic: orders, values_at_least: 1}\n"
    assert hinted("  - start: [a, b]\n" + SEND, more=counted + "expected: reproduced\n") == []
    assert hinted("  - start: [a, b]\n" + SEND, more="expected: measured\n") == []


def test_the_shipped_scenarios_are_free_of_hints() -> None:
    found = [hint for scenario in library() for hint in hints(scenario)]
    assert not found, render(found)


def test_validate_shows_it_and_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "harness" / "cli" / "new.yaml").read_text()
    file = tmp_path / "x.scenario.yaml"
    file.write_text(text)
    assert main(["validate", str(file)]) == 0
    assert capsys.readouterr().err == ""
    lines = [line for line in text.splitlines() if "settle: {subscription" not in line]
    file.write_text("\n".join(lines))
    assert main(["validate", str(file)]) == 0
    shown = capsys.readouterr()
    assert shown.out == "1 valid: my-scenario\n"
    assert f"{file}:22:5: hint: the subscription that the broker holds for group g is still" in shown.err
    assert "   22 |   - send: {topic: orders, tag: $holder.tag, count: 8, per_queue: 2}\n" in shown.err
