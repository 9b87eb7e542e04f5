"""`anomaly` and `healthy` held against each other: lists that can both hold, or neither."""

from __future__ import annotations

import pytest

from tests.unit.scenario.statements import STEPS, doubts, mistakes, text_of


def test_of_the_list_that_is_not_expected_it_is_a_warning_for_a_control_shares_its_anomaly() -> None:
    too_many = "delivered: {to: g, count: 9}"
    unexpected = text_of("log: {node: broker-a, matches: x, at_least: 1}", too_many)
    assert mistakes(unexpected) == []
    assert doubts(unexpected) == ["9 delivered: the steps send 8 such messages, and a repeat counts once"]
    control = text_of(too_many, expected="not-reproduced")
    assert (mistakes(control), doubts(control)) == ([], [])


@pytest.mark.parametrize(
    ("anomaly", "healthy", "outcome"),
    [
        ("delivered: {to: g, at_least: 3}", "delivered: {to: g, count: 5}", "not-reproduced"),
        ("delivered: {to: g, count: 3}", "delivered: {to: g, at_most: 5}", "reproduced"),
        ("latency: {at_most: 5s}", "latency: {at_least: 1s, at_most: 2s}", "not-reproduced"),
        (
            "track: {group: g, topic: orders, all: CONSUMED}",
            "track: {group: g, topic: orders, all: CONSUMED}\n  - offsets: {group: g, topic: orders, lag: 0}",
            "not-reproduced",
        ),
    ],
)
def test_a_list_that_holds_wherever_the_other_does_is_refused(
    anomaly: str, healthy: str, outcome: str
) -> None:
    (message,) = mistakes(text_of(anomaly, healthy))
    assert message.endswith(f"no run can ever be `{outcome}`")


def test_two_lists_that_are_the_same_allow_neither_outcome() -> None:
    check = "delivered: {to: g, count: 4}"
    assert mistakes(text_of(check, check)) == [
        "if `anomaly` holds, `healthy` holds too: no run can ever be `reproduced`",
        "if `healthy` holds, `anomaly` holds too: no run can ever be `not-reproduced`",
    ]


@pytest.mark.parametrize(
    "healthy",
    [
        "delivered: {to: g, at_most: 2}",
        "delivered: {to: a, count: 5}",
        "delivered: {to: g, count: 5, where: {client: python}}",
    ],
)
def test_lists_that_exclude_each_other_or_speak_of_different_things_are_left_alone(healthy: str) -> None:
    text = text_of("delivered: {to: g, at_least: 3, where: {client: java}}", healthy)
    assert (mistakes(text), doubts(text)) == ([], [])


def test_lists_that_can_both_hold_are_warned_of() -> None:
    text = text_of("delivered: {to: g, at_least: 3}", "delivered: {to: g, at_most: 5}")
    assert mistakes(text) == []
    assert doubts(text) == ["`anomaly` and `healthy` both hold with 3 to 5: such a run is inconclusive"]
    times = text_of("latency: {at_least: 800ms}", "latency: {at_most: 800ms}")
    assert doubts(times) == []


@pytest.mark.parametrize(
    ("anomaly", "healthy", "both"),
    [
        (
            "retry: {group: g, count: 2, after_at_least: 8s}",
            "retry: {group: g, after_at_most: 8s, count: 2}",
            "",
        ),
        (
            "retry: {group: g, count: 2, after_at_least: 8s}",
            "retry: {group: g, count: 2, after_at_most: 10s}",
            "2 and after 8s to 10s",
        ),
        ("latency: {at_least: 800ms}", "latency: {at_most: 2s}", "0.8s to 2s"),
    ],
)
def test_a_time_that_both_lists_allow_is_named_with_its_unit(anomaly: str, healthy: str, both: str) -> None:
    expected = [f"`anomaly` and `healthy` both hold with {both}: such a run is inconclusive"] if both else []
    assert [doubt for doubt in doubts(text_of(anomaly, healthy)) if "both hold" in doubt] == expected


BOTH = "`anomaly` and `healthy` both hold with {} delivered: such a run is inconclusive"


@pytest.mark.parametrize(
    ("anomaly", "healthy", "doubt"),
    [
        ("undelivered: {group: g, at_most: 5}", "delivered: {to: g, at_least: 5}", "healthy anomaly"),
        ("undelivered: {group: g, at_most: 3}", "delivered: {to: g, at_least: 5}", "both"),
        ("undelivered: {group: g, at_least: 1}", "delivered: {to: g, at_least: 4}", BOTH.format("4 to 7")),
        ("undelivered: {group: g, at_least: 4}", "delivered: {to: g, count: 4}", "healthy anomaly"),
        ("undelivered: {group: g, count: 4}", "delivered: {to: g, at_most: 6}", "anomaly healthy"),
        (
            "undelivered: {group: g, because: filtered-by-client, at_least: 2}",
            "delivered: {to: g, at_least: 6}",
            BOTH.format("6"),
        ),
        (
            "undelivered: {group: g, because: lost, count: 0}",
            "delivered: {to: g, at_least: 6}",
            BOTH.format("6 to 8"),
        ),
        ("delivered: {to: a, at_least: 1}", "delivered: {to: g, at_least: 4}", BOTH.format("4 to 8")),
        (
            "delivered: {to: g, tag: tagA, at_least: 1}",
            "delivered: {to: g, at_most: 6}",
            BOTH.format("1 to 6"),
        ),
        (
            "undelivered: {group: g, tag: tagA, at_most: 3}",
            "delivered: {to: g, at_least: 1, tag: tagA}",
            "both",
        ),
    ],
)
def test_lists_that_count_the_same_messages_by_other_words_are_held_against_each_other(
    anomaly: str, healthy: str, doubt: str
) -> None:
    text = text_of(anomaly, healthy)
    assert mistakes(text) == []
    by_list = {
        name: f"if `{name}` holds, `{then}` holds too: no run can ever be `{outcome}`"
        for name, then, outcome in (
            ("healthy", "anomaly", "not-reproduced"),
            ("anomaly", "healthy", "reproduced"),
        )
    }
    expected = {"healthy anomaly": [by_list["healthy"]], "anomaly healthy": [by_list["anomaly"]]}
    both = [by_list["healthy"], by_list["anomaly"]]
    assert doubts(text) == (both if doubt == "both" else expected.get(doubt, [doubt]))


def test_only_what_is_sent_between_its_observations_counts() -> None:
    steps = STEPS + "  - observe: back\n  - send: {topic: orders, tag: tagA, count: 4}\n"
    lost, all_came = "undelivered: {group: g, sent_after: back, at_least: 1}", "sent_after: back, count: 4}"
    assert doubts(text_of(lost, "delivered: {to: g, " + all_came, steps=steps)) == []
    most = "delivered: {to: g, sent_after: back, at_least: 2}"
    assert doubts(text_of(lost, most, steps=steps)) == [BOTH.format("2 to 3")]


@pytest.mark.parametrize(
    ("anomaly", "healthy"),
    [
        ("undelivered: {group: g, at_least: 5}", "delivered: {to: g, at_least: 4}"),
        ("undelivered: {group: g, because: dead-letter, at_least: 2}", "delivered: {to: g, at_least: 6}"),
        ("undelivered: {group: g, tag: tagA, at_least: 1}", "delivered: {to: g, tag: tagB, at_least: 1}"),
        ("undelivered: {at_least: 1}", "delivered: {to: g, at_least: 4}"),
        ("undelivered: {group: h, at_least: 1}", "delivered: {to: g, at_least: 4}"),
        ("delivered: {to: a, at_least: 5}", "delivered: {to: g, at_most: 4}"),
        ("delivered: {to: a, at_least: 1}", "delivered: {to: b, at_least: 1}"),
        ("undelivered: {group: g, tag: tagA, count: 3}", "undelivered: {group: g, count: 0}"),
        ("delivered: {to: g, tag: tagA, at_most: 2}", "delivered: {to: g, at_least: 7}"),
        ("delivered: {to: g, at_least: 1, from_queues_of: a}", "delivered: {to: g, at_least: 1}"),
    ],
)
def test_words_that_count_other_messages_or_exclude_each_other_are_left_alone(
    anomaly: str, healthy: str
) -> None:
    # A dead letter needs a listener that fails.
    text = text_of(anomaly, healthy).replace("{orders: tagA}", "{orders: tagA}, behaviour: {fail: 1}", 1)
    assert (mistakes(text), doubts(text)) == ([], [])


def test_messages_of_a_topic_that_the_group_has_not_are_not_undelivered() -> None:
    steps = STEPS + "  - send: {topic: bills, count: 8}\n"
    text = text_of("undelivered: {group: g, at_most: 4}", "delivered: {to: g, at_least: 5}", steps=steps)
    assert doubts(text) == [BOTH.format("5 to 16")]


@pytest.mark.parametrize(
    ("item", "other", "refused"),
    [
        ("delivered: {to: g, at_least: 5}", "delivered: {to: g, at_most: 3}", True),
        ("delivered: {to: a, at_least: 5}", "delivered: {to: g, at_most: 3}", True),
        ("undelivered: {group: g, at_least: 4}", "delivered: {to: g, at_least: 5}", True),
        ("undelivered: {group: g, at_most: 3}", "delivered: {to: g, at_most: 4}", False),
        ("undelivered: {group: g, count: 0}", "delivered: {to: g, count: 4}", False),
        ("latency: {at_least: 2s}", "latency: {at_most: 1s}", True),
        ("undelivered: {group: g, because: stranded, count: 4}", "delivered: {to: g, count: 8}", True),
    ],
)
def test_checks_of_one_list_that_exclude_each_other(item: str, other: str, refused: bool) -> None:
    text = text_of(f"{item}\n  - {other}")
    said = mistakes(text) if refused else doubts(text)
    assert len(said) == 1
    assert said[0].endswith(" exclude each other: the list never holds")
    fitting = text_of("delivered: {to: g, at_least: 4}\n  - undelivered: {group: g, at_least: 4}")
    assert (mistakes(fitting), doubts(fitting)) == ([], [])


def test_a_listener_may_have_got_what_is_lost() -> None:
    text = text_of("delivered: {to: g, count: 8}\n  - undelivered: {group: g, because: lost, at_least: 1}")
    assert (mistakes(text), doubts(text)) == ([], [])
