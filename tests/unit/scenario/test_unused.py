"""Warnings of names that nothing uses."""

from __future__ import annotations

import pytest

from rocketchaos.harness.scenario import parse_document
from rocketchaos.harness.scenario.unused import unused

TEXT = """\
name: x
title: t
topics: {orders: {queues: 4}, audit: {queues: 1}}
consumers:
  a: {group: g, subscribe: {orders: '*'}}
  b: {group: g, subscribe: {orders: '*'}}
steps:
  - start: STARTED
  - send: {topic: orders, count: 8}
  - mqadmin: {as: tool, command: "COMMAND"}
anomaly:
  - delivered: {to: g, count: 0}
healthy:
  - delivered: {to: g, count: 8}
"""


def warned(started: str = "[a, b]", command: str = "updateTopic -t <audit>", text: str = TEXT) -> list[str]:
    filled = text.replace("STARTED", started).replace("COMMAND", command)
    scenario, document = parse_document(filled, "x.yaml")
    return [f"{item.line}: {item.message}" for item in unused(document, scenario)]


def test_a_consumer_that_no_step_starts() -> None:
    assert warned() == []
    assert warned("a") == ["6: no step starts b: write `- start: b`"]
    inside = TEXT.replace("- start: STARTED", "- parallel: [[start: a], [start: b]]")
    assert warned(text=inside) == []


def test_a_topic_that_nothing_uses() -> None:
    command = "resetOffsetByTime -g <g> -t <orders> -s now"
    assert warned(command=command) == ["3: nothing subscribes to audit, and no step uses it"]
    written = TEXT.replace("COMMAND", command)
    assert (
        warned(text=written.replace("  - mqadmin", "  - send: {topic: audit, count: 1}\n  - mqadmin")) == []
    )
    # A control keeps the topics of its scenario.
    assert warned(text=written.replace("title: t", "title: t\nmarks: [control]")) == []


@pytest.mark.parametrize(
    ("command", "reads"),
    [
        ("consumerProgress -g <g> -t <audit>", True),
        ("queryMsgByUniqueKey -t <audit> -i <orders-1>", True),
        ("topicStatus -t <audit>", True),
        ("printMsg -t <audit>", True),
        ("updateTopic -t <audit> -r 8", False),
        ("checkMsgSendRT -t <audit>", False),
        ("deleteSubGroup -g <g> -t <audit>", False),
        ("resetOffsetByTime -g <g> -t <audit> -s now", False),
    ],
)
def test_an_answer_that_no_check_reads(command: str, reads: bool) -> None:
    expected = ["10: no check reads `tool`: write one, `mqadmin: {of: tool, …}`"]
    assert warned(command=command) == (expected if reads else [])
    assert warned(command=command, text=f"{TEXT}also:\n  - mqadmin: {{of: tool, has: x}}\n") == []


def test_a_pull_that_no_check_reads() -> None:
    pull = "  - pull: {as: one, group: g, topic: audit, queue: 0, offset: 0}\n  - mqadmin"
    text = TEXT.replace("  - mqadmin", pull)
    assert warned(text=text) == ["10: no check reads `one`: write one, `pull: {of: one, …}`"]
    assert warned(text=text.replace("as: one, ", "")) == []
