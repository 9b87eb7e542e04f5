"""Statements that a scenario's own numbers rule out, or make empty: refused, or warned of, with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.plan.library import shipped
from rocketchaos.harness.plan.selection import load_all
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.scenario.load import read_yaml
from rocketchaos.harness.scenario.unreachable import doubtful

STEPS = """\
  - start: [a, b]
  - send: {topic: orders, tags: [tagA, tagB], count: 8, per_queue: 2}
"""


def text_of(
    anomaly: str,
    healthy: str = "log: {node: broker-a, matches: x, count: 0}",
    *,
    steps: str = STEPS,
    expected: str = "reproduced",
) -> str:
    return (
        "name: x\ntitle: t\ntopics: {orders: {queues: 4}, bills: {queues: 1}, "
        "new: {queues: 1, by_sending: true}}\n"
        "consumers:\n  a: {group: g, subscribe: {orders: tagA}}\n  b: {group: g, subscribe: {orders: tagB}}\n"
        "  one: {group: h, subscribe: {orders: '*'}, model: broadcasting}\n"
        f"steps:\n{steps}anomaly:\n  - {anomaly}\nhealthy:\n  - {healthy}\nexpected: {expected}\n"
    )


def mistakes(text: str) -> list[str]:
    try:
        parse_scenario(text, "x.yaml")
    except InvalidScenario as invalid:
        return [diagnostic.message for diagnostic in invalid.diagnostics]
    return []


def doubts(text: str) -> list[str]:
    document, _ = read_yaml(text, "x.yaml")
    return [item.message for item in doubtful(document, parse_scenario(text, "x.yaml"))]


@pytest.mark.parametrize(
    ("possible", "impossible"),
    [
        ("delivered: {to: g, count: 8}", "delivered: {to: g, count: 9}"),
        ("delivered: {to: g, at_least: 8}", "delivered: {to: g, at_least: 9}"),
        ("delivered: {to: g, at_most: 9}", "delivered: {to: g, count: 100}"),
        ("delivered: {to: g, tag: tagA, count: 4}", "delivered: {to: g, tag: tagA, count: 5}"),
        ("delivered: {to: g, count: 8, topic: orders}", "delivered: {to: g, count: 1, topic: bills}"),
        ("undelivered: {count: 16}", "undelivered: {count: 17}"),
        ("undelivered: {group: g, count: 8}", "undelivered: {group: g, count: 9}"),
        ("duplicated: {count: 24}", "duplicated: {count: 25}"),
        ("duplicated: {to: a, count: 8}", "duplicated: {to: a, count: 9}"),
        (
            "several-owners: {group: g, topic: orders, count: 4}",
            "several-owners: {group: g, topic: orders, count: 5}",
        ),
        ("placed: {topics: orders, queues: [3]}", "placed: {topics: orders, queues: [9]}"),
        ("placed: {topics: orders, queues_at_least: 4}", "placed: {topics: orders, queues_at_least: 5}"),
        (
            "placed: {topics: orders, queues: [0, 1, 2, 3], each: 2}",
            "placed: {topics: orders, queues: [0, 1], each: 5}",
        ),
        (
            "placed: {topics: orders, number: 8, queues: [1]}",
            "placed: {topics: orders, number: 9, queues: [1]}",
        ),
        ("offsets: {group: g, topic: orders, lag: 8}", "offsets: {group: g, topic: orders, lag: 100}"),
        ("ownership: {of: a, topic: orders, queues: [3]}", "ownership: {of: a, topic: orders, queues: [9]}"),
    ],
)
def test_a_number_that_no_run_can_come_to_is_refused(possible: str, impossible: str) -> None:
    assert mistakes(text_of(possible)) == []
    assert len(mistakes(text_of(impossible))) == 1


@pytest.mark.parametrize(
    "steps",
    [
        STEPS + "  - repeat: {times: 3, steps: [{send: {topic: orders, tag: tagA, count: 4}}]}\n",
        STEPS
        + "  - parallel:\n    - [send: {topic: orders, count: 6}]\n    - [send: {topic: orders, count: 6}]\n",
        STEPS.replace("count: 8, per_queue: 2", "count: 20, per_queue: 5"),
    ],
    ids=["repeat", "parallel", "per_queue"],
)
def test_all_that_is_sent_counts(steps: str) -> None:
    assert mistakes(text_of("delivered: {to: g, count: 20}", steps=steps)) == []
    assert mistakes(text_of("delivered: {to: g, count: 21}", steps=steps)) == [
        "21 delivered: the steps send 20 such messages, and a repeat counts once"
    ]


def test_where_a_variable_says_the_tag_any_may_be_meant() -> None:
    bind = "  - bind: {holder: {member-of: g, whose-subscription-is-stored-for: orders}}\n"
    start, send = STEPS.splitlines(keepends=True)
    steps = start + bind + send.replace("tags: [tagA, tagB]", "tag: $holder.tag")
    assert mistakes(text_of("delivered: {to: g, tag: tagA, count: 8}", steps=steps)) == []
    assert len(mistakes(text_of("delivered: {to: g, tag: tagA, count: 9}", steps=steps))) == 1
    tags = start + bind + send
    assert mistakes(text_of("delivered: {to: g, tag: $holder.tag, count: 8}", steps=tags)) == []


def test_a_topic_made_by_sending_has_as_many_queues_as_it_gets() -> None:
    steps = STEPS + "  - send: {topic: new, count: 8}\n"
    assert mistakes(text_of("placed: {topics: new, queues: [0, 5]}", steps=steps)) == []


def test_messages_of_raw_requests_count_for_a_lag() -> None:
    steps = STEPS + "  - ask: {as: raw, node: broker-a, code: 10}\n"
    assert mistakes(text_of("offsets: {group: g, topic: orders, lag: 100}", steps=steps)) == []


def test_as_many_values_as_bindings() -> None:
    bind = "  - bind: {holder: {member-of: g, whose-subscription-is-stored-for: orders}}\n"
    check = "outcome-distribution: {{of: $holder, values_at_least: {}}}"
    assert mistakes(text_of(check.format(2), steps=STEPS + bind)) == [
        "2 different values: $holder is bound 1 times"
    ]
    twice = STEPS + "  - repeat:\n      times: 2\n      steps:\n      " + bind
    assert mistakes(text_of(check.format(2), steps=twice)) == []


@pytest.mark.parametrize(
    ("possible", "impossible"),
    [
        ("delivered: g, count: 8", "delivered: g, count: 9"),
        ("delivered: g, topic: orders", "delivered: g, topic: bills, count: 1"),
    ],
)
def test_a_condition_that_never_comes_true_is_refused(possible: str, impossible: str) -> None:
    check = "delivered: {to: g, count: 8}"
    assert mistakes(text_of(check, steps=f"{STEPS}  - settle: {{{possible}}}\n")) == []
    (message,) = mistakes(text_of(check, steps=f"{STEPS}  - settle: {{{impossible}}}\n"))
    assert message.endswith("so it never settles")


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
    assert (mistakes(text_of(anomaly, healthy)), doubts(text_of(anomaly, healthy))) == ([], [])


def test_messages_of_a_topic_that_the_group_has_not_are_not_undelivered() -> None:
    steps = STEPS + "  - send: {topic: bills, count: 8}\n"
    text = text_of("undelivered: {group: g, at_most: 4}", "delivered: {to: g, at_least: 5}", steps=steps)
    assert doubts(text) == [BOTH.format("5 to 16")]


def test_what_holds_whatever_is_sent_is_refused() -> None:
    (message,) = mistakes(text_of("delivered: {to: g, at_least: 3}", "delivered: {to: a, count: 4}"))
    assert message.endswith("no run can ever be `not-reproduced`")


@pytest.mark.parametrize(
    ("item", "other", "refused"),
    [
        ("delivered: {to: g, at_least: 5}", "delivered: {to: g, at_most: 3}", True),
        ("delivered: {to: a, at_least: 5}", "delivered: {to: g, at_most: 3}", True),
        ("undelivered: {group: g, at_least: 4}", "delivered: {to: g, at_least: 5}", True),
        ("undelivered: {group: g, at_most: 3}", "delivered: {to: g, at_most: 4}", False),
        ("undelivered: {group: g, count: 0}", "delivered: {to: g, count: 4}", False),
        ("latency: {at_least: 2s}", "latency: {at_most: 1s}", True),
    ],
)
def test_checks_of_one_list_that_exclude_each_other(item: str, other: str, refused: bool) -> None:
    text = text_of(f"{item}\n  - {other}")
    said = mistakes(text) if refused else doubts(text)
    assert len(said) == 1
    assert said[0].endswith(" exclude each other: the list never holds")
    fitting = text_of("delivered: {to: g, at_least: 4}\n  - undelivered: {group: g, at_least: 4}")
    assert (mistakes(fitting), doubts(fitting)) == ([], [])


@pytest.mark.parametrize(
    ("check", "doubt"),
    [
        ("dead-letter: {group: g, count: 9}", "9 dead letters: the steps send 8 messages"),
        ("delivered: {to: g, at_least: 0}", "`at_least` of 0 holds whatever comes"),
        (
            "delivered: {to: g, at_most: 8}",
            "`at_most` of 8 holds whatever comes: there can't be more than 8",
        ),
        (
            "undelivered: {group: g, tag: tagA, at_most: 5}",
            "`at_most` of 5 holds whatever comes: there can't be more than 4",
        ),
        ("latency: {at_least: 0ms}", "`at_least` of 0 holds whatever comes"),
        ("placed: {topics: orders, queues_at_least: 1}", "`queues_at_least` of 1 holds whatever comes"),
        (
            "retry: {group: g, reconsume_times: 1, count: 9}",
            "9 retries of reconsumeTimes 1: the steps send 8 such messages, each of which has one",
        ),
    ],
)
def test_what_is_hardly_meant_is_warned_of(check: str, doubt: str) -> None:
    assert doubts(text_of(check)) == [doubt]


@pytest.mark.parametrize(
    "check",
    [
        "delivered: {to: g, count: 0, tag: tagX}",
        "undelivered: {group: g, at_most: 3, topic: bills}",
        "duplicated: {to: g, count: 0, topic: bills}",
        "latency: {to: g, at_most: 1s, tag: tagX}",
        "order: {topic: bills}",
        "offset-falls: {group: g, topic: bills, count: 0}",
        "retry: {group: g, count: 0, topic: bills}",
        "track: {group: g, topic: orders, tag: tagX, all: CONSUMED}",
        "track-series: {group: g, topic: orders, tag: tagX, sequence: [CONSUMED]}",
    ],
)
def test_a_statement_about_messages_that_no_step_sends_is_refused(check: str) -> None:
    refused = ["the steps send no such message: the answer is always unknown"]
    assert mistakes(text_of(check)) == refused
    sent = STEPS + "".join(
        f"  - send: {{topic: {item}, tag: tagX, count: 2}}\n" for item in ("orders", "bills")
    )
    assert mistakes(text_of(check, steps=sent)) == []
    bind = "  - bind: {holder: {member-of: g, whose-subscription-is-stored-for: orders}}\n"
    by_variable = STEPS + bind + sent.removeprefix(STEPS).replace("tag: tagX", "tag: $holder.tag")
    assert mistakes(text_of(check, steps=by_variable)) == []


@pytest.mark.parametrize("check", ["dead-letter: {group: g, count: 0}", "offset-falls: {group: g, count: 0}"])
def test_where_nothing_is_sent_nothing_is_given_up_and_no_offset_runs_back(check: str) -> None:
    text = text_of(check, steps="  - start: [a, b]\n")
    assert (mistakes(text), doubts(text)) == (
        [],
        ["the steps send no such message: the answer is always unknown"],
    )


def test_one_message_has_no_order() -> None:
    steps = STEPS + "  - send: {topic: bills, count: %d}\n"
    assert mistakes(text_of("order: {topic: bills}", steps=steps % 2)) == []
    assert mistakes(text_of("order: {topic: bills}", steps=steps % 1)) == [
        "the steps send one message to bills, which has no order: the answer is always unknown"
    ]


def test_where_nothing_is_sent_at_all_numbers_are_warned_of() -> None:
    text = text_of("delivered: {to: g, count: 1}", steps="  - start: [a, b]\n")
    assert mistakes(text) == []
    assert doubts(text) == ["1 delivered: the steps send 0 such messages, and a repeat counts once"]


def test_a_lag_beyond_all_messages_is_no_condition() -> None:
    check = "delivered: {to: g, count: 8}"
    settle = "  - settle: {{offsets: g, topic: orders, lag: {}}}\n"
    assert doubts(text_of(check, steps=STEPS + settle.format(8))) == []
    assert doubts(text_of(check, steps=STEPS + settle.format(9))) == [
        "lag 9: the steps send 8 messages to orders, so it settles at once"
    ]


def test_a_run_that_is_over_is_read_as_it_was() -> None:
    parse_scenario(text_of("delivered: {to: g, count: 9}"), "x.yaml", reach=False)


def test_validate_warns_with_place_and_reason_and_the_file_is_valid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.scenario.yaml"
    file.write_text(text_of("delivered: {to: g, at_least: 0}"))
    assert main(["validate", str(file)]) == 0
    said = capsys.readouterr()
    assert f"{file}:12:5: warning: `at_least` of 0 holds whatever comes" in said.err
    assert "1 valid: x" in said.out


WARNED_OF = {"two-bars-alone-deliver-nothing"}
"""What `validate` warns of is their subject."""


def test_no_shipped_scenario_is_warned_of() -> None:
    for scenario in load_all(sorted(shipped().values())):
        document, _ = read_yaml(scenario.source, scenario.file)
        # What people report may be a slip of theirs.
        exempt = scenario.symptom is not None or scenario.name in WARNED_OF
        warned = [] if exempt else [item.text for item in doubtful(document, scenario)]
        assert warned == [], scenario.file
