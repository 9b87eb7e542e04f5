"""Checks of what only a certain step, or a certain client, brings about."""

from __future__ import annotations

import pytest

from rocketchaos.harness.scenario import parse_scenario
from tests.unit.scenario.statements import STEPS, doubts, mistakes, text_of

REPLIED = "no `send` to orders has a `request`: nothing is replied to"
NO_RECALL = "no step recalls a message of orders: write one, `recall: orders-1`"
RECALL = "no `recall` of orders has `may_be_refused: true`: a refusal would end the run"
SUBSCRIBE = "no `subscribe` of a to orders has `may_be_refused: true`: a refusal would end the run"
SEEK = "no `seek` of a to orders has `may_be_refused: true`: a refusal would end the run"
ONE_BY_ONE = (
    "a listener of {} gets at most 1 message at once: `batch_size` says how many (Java's and Go's push "
    "consumers)"
)


@pytest.mark.parametrize(
    ("check", "step", "mistake"),
    [
        (
            "transaction-checked: {topic: orders, at_least: 1}",
            "send: {topic: orders, count: 1, transaction: {state: unknown}}",
            "no `send` to orders has a `transaction`: brokers ask about nothing",
        ),
        ("replied: {topic: orders, count: 1}", "send: {topic: orders, count: 1, request: 3s}", REPLIED),
        ("recall-refused: {topic: orders, count: 0}", "recall: {messages: orders-1}", NO_RECALL),
        (
            "recall-refused: {topic: orders, count: 1}",
            "recall: {messages: orders-1, may_be_refused: true}",
            NO_RECALL,
        ),
        (
            "subscribe-refused: {consumer: a, topic: orders}",
            "subscribe: {consumer: a, topic: orders, expression: '*', may_be_refused: true}",
            SUBSCRIBE,
        ),
        (
            "seek-refused: {consumer: a, topic: orders}",
            "seek: {consumer: a, topic: orders, to: begin, may_be_refused: true}",
            SEEK,
        ),
    ],
)
def test_a_check_without_the_step_that_it_is_about(check: str, step: str, mistake: str) -> None:
    assert mistake in mistakes(text_of(check))
    # A control shares the list with its scenario, and a step inside another one counts.
    assert mistake not in mistakes(text_of(check, expected="not-reproduced"))
    inside = f"{STEPS}  - repeat: {{times: 2, steps: [{step}]}}\n"
    assert mistake not in mistakes(text_of(check, steps=inside))


def test_a_check_of_healthy_without_its_cause_is_warned_of() -> None:
    text = text_of("delivered: {to: a, count: 0}", "replied: {topic: orders, count: 0}")
    assert doubts(text) == [REPLIED]


def test_a_refusal_that_ends_the_run() -> None:
    recall = f"{STEPS}  - recall: orders-1\n"
    assert RECALL in mistakes(text_of("recall-refused: {topic: orders, count: 1}", steps=recall))
    assert RECALL not in mistakes(text_of("recall-refused: {topic: orders, count: 0}", steps=recall))
    other = f"{STEPS}  - subscribe: {{consumer: a, topic: bills, expression: '*', may_be_refused: true}}\n"
    assert SUBSCRIBE in mistakes(text_of("subscribe-refused: {consumer: a, topic: orders}", steps=other))


@pytest.mark.parametrize(
    ("check", "before", "after", "mistake"),
    [
        (
            "dashboard: {group: g, topic: orders, lag: 0}",
            "title: t",
            "title: t\ncluster: {dashboard: true}",
            "the cluster has no dashboard: write `cluster: {dashboard: true}`",
        ),
        (
            "reply-refused: {to: g, count: 1}",
            "subscribe: {orders: tagB}",
            "subscribe: {orders: tagB}, behaviour: {reply: true}",
            "no listener of g has `behaviour: {reply: true}`: none replies",
        ),
        (
            "batch: {to: a, at_least: 2}",
            "subscribe: {orders: tagA}",
            "subscribe: {orders: tagA}, batch_size: 2",
            ONE_BY_ONE.format("a"),
        ),
        (
            "batch: {to: g, count: 2}",
            "subscribe: {orders: tagB}",
            "subscribe: {orders: tagB}, api: lite-pull",
            ONE_BY_ONE.format("g"),
        ),
    ],
)
def test_a_check_without_the_client_that_it_is_about(
    check: str, before: str, after: str, mistake: str
) -> None:
    text = text_of(check)
    assert mistake in mistakes(text)
    assert mistake not in mistakes(text.replace(before, after, 1))
    # An ended run is read as it was.
    parse_scenario(text, "x.yaml", reach=False)


def test_offsets_that_no_broker_has_are_doubted() -> None:
    doubt = (
        "the members of h consume by broadcasting: no broker has offsets of the group, and its lag is 8, as if "
        "it had consumed nothing"
    )
    text = text_of("offsets: {group: h, topic: orders, lag: 0}")
    assert doubt in doubts(text)
    assert doubt not in doubts(text.replace("lag: 0", "lag: 8"))
    assert doubt not in doubts(text.replace("expected: reproduced", "expected: not-reproduced"))
    assert doubt not in doubts(text.replace(", model: broadcasting", ""))


def test_one_message_at_once_is_a_batch() -> None:
    assert not mistakes(text_of("batch: {to: a, at_least: 1}"))


@pytest.mark.parametrize(("word", "what"), [("dead-letter", "dead letters"), ("retry", "retries")])
def test_failures_of_listeners_that_succeed_are_doubted(word: str, what: str) -> None:
    doubt = f"every listener of g succeeds, so it has no {what}: `behaviour: {{fail: …}}`"
    text = text_of(f"{word}: {{group: g, at_least: 1}}")
    assert doubt in doubts(text)
    assert doubt not in doubts(text.replace("expected: reproduced", "expected: not-reproduced"))
    assert doubt not in doubts(text.replace("at_least: 1", "count: 0", 1))
    for consumer in ("behaviour: {fail: 1}", "behaviour: block", "api: pop", "settings: {consumeTimeout: 1}"):
        assert doubt not in doubts(text.replace("{orders: tagA}", f"{{orders: tagA}}, {consumer}", 1))
    sent = f"{STEPS}  - send: {{topic: '%DLQ%g', count: 1}}\n"
    assert doubt not in doubts(text_of(f"{word}: {{group: g, at_least: 1}}", steps=sent))


@pytest.mark.parametrize(
    ("check", "step", "lacks"),
    [
        ("undelivered: {group: g, count: 1, because: dead-letter}", "", "dead letters"),
        ("undelivered: {group: g, count: 1, because: in-retry}", "", "retries"),
        ("delivered: {to: a, count: 0}", "settle: {dead_letters: g}", "dead letters"),
        ("delivered: {to: a, count: 0}", "settle: {retried: g}", "retries"),
        ("delivered: {to: a, count: 0}", "settle: {retried: a}", "retries"),
    ],
)
def test_what_comes_after_a_failure_is_doubted_without_one(check: str, step: str, lacks: str) -> None:
    text = text_of(check, steps=f"{STEPS}  - {step}\n" if step else STEPS)
    doubt = f"every listener of g succeeds, so it has no {lacks}: `behaviour: {{fail: …}}`"
    assert doubt in doubts(text)
    assert doubt not in doubts(text.replace("{orders: tagA}", "{orders: tagA}, behaviour: {fail: 1}", 1))


def test_dead_letters_of_any_group_need_one_listener_that_fails() -> None:
    text = text_of("undelivered: {count: 1, because: dead-letter}").replace(", model: broadcasting", "")
    doubt = "every listener of all groups succeeds, so they have no dead letters: `behaviour: {fail: …}`"
    assert doubt in doubts(text)
    assert doubt not in doubts(text.replace("{orders: '*'}", "{orders: '*'}, behaviour: {fail: 1}", 1))
    assert doubt not in doubts(text.replace("because: dead-letter", "because: in-flight"))
