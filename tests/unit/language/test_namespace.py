"""A client's namespace: whole names in scenarios, the program's own names for its client."""

from __future__ import annotations

import re

import pytest
from pydantic import TypeAdapter, ValidationError

from rocketchaos.harness.language.namespace import inside, whole
from rocketchaos.harness.language.words import Namespace
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from tests.unit.scenario.examples import VALID

TEXT = """\
name: x
title: x
topics: {uat%orders: {}}
producer: {namespace: uat, group: uat%p}
consumers:
  a: {namespace: uat, group: uat%g, subscribe: {uat%orders: '*'}}
steps: [start: a, send: {topic: uat%orders, count: 1}]
anomaly: [{delivered: {to: a, count: 1}}]
healthy: [{delivered: {to: uat%g, count: 0}}]
"""


def test_its_names_go_without_it_and_come_back_with_it() -> None:
    assert inside("uat", "uat%orders-token") == "orders-token"
    assert whole("uat", "orders-token") == whole("uat", "uat%orders-token") == "uat%orders-token"
    assert inside(None, "uat%orders") == whole(None, "uat%orders") == "uat%orders"


def test_a_scenario_says_whole_names() -> None:
    scenario = parse_scenario(TEXT, "s.yaml")
    assert scenario.consumers["a"].namespace == scenario.producer.namespace == "uat"
    assert scenario.members("uat%g") == ("a",)


def test_a_namespace_has_any_printable_characters() -> None:
    namespaces = TypeAdapter(Namespace)
    for text in ("MQ_INST_18x7f", "${rocketmq.namespace}", "命名空间", "a\\b"):
        assert namespaces.validate_python(text) == text
    for text in ("", "a\nb", "a\x7f", "x" * 101):
        with pytest.raises(ValidationError):
            namespaces.validate_python(text)


def test_a_placeholder_that_nobody_has_filled_is_a_namespace_too() -> None:
    created = TEXT.replace("orders: {}", "orders: {by_sending: true}")
    text = re.sub(r"\buat(%\w+)?", lambda found: f'"${{ns}}{found[1] or ""}"', created)
    assert parse_scenario(text, "s.yaml").members("${ns}%g") == ("a",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("group: uat%g", "group: g"), "makes another group of `g`: .* `uat%g`"),
        (("subscribe: {uat%", "subscribe: {"), "makes another topic of `orders`: .* `uat%orders`"),
        (("group: uat%p", "group: p"), "makes another group of `p`"),
        (("{uat%orders: {}}", "{uat%orders: {}, x: {}}\ngroups: q"), ""),
        (("namespace: uat, group: uat%p", "namespace: uat, client: go"), ""),
        (("namespace: uat, group: uat%p", "namespace: uat, client: python"), "leave out `namespace: uat`"),
        (("a: {namespace: uat,", "a: {namespace: uat, client: grpc,"), "leave out `namespace: uat`"),
    ],
)
def test_another_name_is_corrected(change: tuple[str, str], message: str) -> None:
    text = TEXT.replace(*change)
    if not message:
        assert "uat%g" in parse_scenario(text, "s.yaml").groups
        return
    with pytest.raises(InvalidScenario, match=message):
        parse_scenario(text, "s.yaml")


def test_a_send_names_the_whole_topic() -> None:
    text = TEXT.replace("topics: {uat%orders: {}}", "topics: {uat%orders: {}, orders: {}}")
    text = text.replace("send: {topic: uat%orders", "send: {topic: orders")
    with pytest.raises(InvalidScenario, match="makes another topic of `orders`"):
        parse_scenario(text, "s.yaml")


@pytest.mark.parametrize(
    ("topics", "said", "as_written"),
    [
        ("{orders: {}}", "", False),
        ("{orders: {}}", "names: as-written", True),
        (f"{{orders: {{}}, {'x' * 100}: {{}}}}", "", False),
        (f"{{orders: {{}}, {'x' * 101}: {{}}}}", "", True),
        (f"{{orders: {{}}, {'x' * 101}: {{}}}}", "names: of-the-run", False),
    ],
)
def test_long_names_stay_as_they_are_written(topics: str, said: str, as_written: bool) -> None:
    text = VALID.replace("topics:\n  orders: {queues: 4}\n", f"topics: {topics}\n{said}\n")
    assert "topics: {" in text
    scenario = parse_scenario(text, "s.yaml")
    assert scenario.names_as_written is as_written
    assert scenario.needs_own_cluster is as_written


def test_a_topic_that_rocketmq_does_not_create_is_made_by_sending() -> None:
    with pytest.raises(InvalidScenario, match="RocketMQ creates no topic"):
        parse_scenario(VALID.replace("orders: {queues: 4}", f"orders: {{}}\n  {'x' * 128}: {{}}"), "s.yaml")
    parse_scenario(
        VALID.replace("orders: {queues: 4}", f"orders: {{}}\n  {'x' * 128}: {{by_sending: true}}"), "s.yaml"
    )
