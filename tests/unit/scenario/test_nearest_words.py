"""What is said to be meant by a word that is not there: nothing, where a word of another meaning is alike."""

from __future__ import annotations

import pytest

from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from tests.unit.scenario.statements import STEPS, doubts, mistakes, text_of

TEXT = text_of("delivered: {to: a, count: 0}")


def said(text: str) -> str:
    with pytest.raises(InvalidScenario) as refused:
        parse_scenario(text, "x.yaml")
    return str(refused.value)


@pytest.mark.parametrize(
    ("check", "key", "meant"),
    [
        ("delivered: {group: g, count: 0}", "group", "to"),
        ("delivered: {consumer: a, count: 0}", "consumer", "to"),
        ("duplicated: {group: g, count: 0}", "group", "to"),
        ("undelivered: {to: g, count: 1}", "to", "group"),
        ("retry: {to: g, count: 1}", "to", "group"),
    ],
)
def test_another_words_key_for_whom_it_is_about(check: str, key: str, meant: str) -> None:
    text = said(text_of(check))
    assert f"unknown key `{key}`; did you mean `{meant}`?" in text
    assert "is missing" not in text


@pytest.mark.parametrize(
    ("client", "end"),
    [
        ("cpp", "or `java@4.9.4`; did you mean `python`?"),
        ("spring", "or `java@4.9.4`; a program of your own is `app: {jar: …}`"),
        ("jaba", "or `java@4.9.4`; did you mean `java`?"),
    ],
)
def test_names_of_clients_from_elsewhere(client: str, end: str) -> None:
    first = said(TEXT.replace("{orders: tagA}", f"{{orders: tagA}}, client: {client}", 1)).splitlines()[0]
    assert first.endswith(f"`{client}` is no client: write one of java, python, grpc, grpc-java, go, {end}")


def test_a_key_of_a_program_is_nothing_for_the_harness_s_own_client() -> None:
    (mistake,) = mistakes(TEXT.replace("{orders: tagA}", "{orders: tagA}, env: {A: b}", 1))
    assert mistake == "`env` is a key of `app`, a program of your own: the harness's clients have none"


def test_topics_of_rocketmq_s_own() -> None:
    declared = (
        "there is no topic `RMQ_SYS_TRACE_TOPIC`, which is one of RocketMQ's own: declare it under `topics` too, "
        "`RMQ_SYS_TRACE_TOPIC: {by_sending: true}`, with `names: as-written`"
    )
    assert mistakes(TEXT.replace("{orders: tagA}", "{RMQ_SYS_TRACE_TOPIC: '*'}", 1)) == [declared]
    sent = TEXT.replace(STEPS, f"{STEPS}  - send: {{topic: RMQ_SYS_TRACE_TOPIC, count: 1}}\n")
    assert mistakes(sent) == [declared]
    there = sent.replace("topics: {", "topics: {RMQ_SYS_TRACE_TOPIC: {by_sending: true}, ")
    added = "the run adds to this name, so it is not RocketMQ's own RMQ_SYS_TRACE_TOPIC: write `names: as-written`"
    assert doubts(there) == [added]
    assert doubts(there.replace("title: t", "title: t\nnames: as-written")) == []
