"""Statements that a scenario's own numbers rule out, or make empty: refused, or warned of, with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.rocketmq.client_kinds import client_choice
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.load import read_yaml
from rocketchaos.harness.scenario.unreachable import doubtful
from rocketchaos.harness.scenario.unused import unused
from tests.unit.library import library
from tests.unit.scenario.statements import STEPS, doubts, mistakes, text_of


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


def test_what_holds_whatever_is_sent_is_refused() -> None:
    (message,) = mistakes(text_of("delivered: {to: g, at_least: 3}", "delivered: {to: a, count: 4}"))
    assert message.endswith("no run can ever be `not-reproduced`")


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
    failing = text_of(check).replace("{orders: tagA}", "{orders: tagA}, behaviour: {fail: 1}", 1)
    assert doubts(failing) == [doubt]


def test_files_of_which_none_expires_are_warned_of() -> None:
    text = text_of("delivered: {to: g, count: 8}").replace(
        "steps:\n", "steps:\n  - expire-files: {topic: orders}\n"
    )
    (doubt,) = doubts(text)
    assert doubt.startswith(
        "the brokers have no fileReservedTime and no mappedFileSizeCommitLog: files have 1 GiB"
    )
    assert not doubts(f"cluster: {{broker: {{fileReservedTime: 0, mappedFileSizeCommitLog: 65536}}}}\n{text}")


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
    read = parse_scenario(text_of("delivered: {to: g, count: 9}"), "x.yaml", reach=False)
    assert [check.word for _, _, check in read.checks()]


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
    for scenario in library():
        document, _ = read_yaml(scenario.source, scenario.file)
        # What people report may be a slip of theirs.
        exempt = scenario.symptom is not None or scenario.name in WARNED_OF
        warned = (
            []
            if exempt
            else [item.text for item in (*doubtful(document, scenario), *unused(document, scenario))]
        )
        assert warned == [], scenario.file


def test_a_property_that_the_java_client_refuses_is_named_unless_the_send_may_fail() -> None:
    def of(properties: str, more: str = "") -> list[str]:
        steps = f"  - send: {{topic: orders, tag: tagA, count: 8, properties: {properties}{more}}}\n"
        return doubts(text_of("delivered: {to: g, count: 8}", steps=STEPS + steps))

    (warning,) = of('{MAX_RECONSUME_TIMES: "1", a: "1"}')
    assert "refuses the property `MAX_RECONSUME_TIMES`" in warning
    (warning,) = of('{TIMER_DELAY_SEC: "9"}')
    assert "refuses the property `TIMER_DELAY_SEC`" in warning
    old, java, go = (client_choice(text) for text in ("java@4.9.4", "java", "go"))
    assert "TIMER_DELAY_SEC" not in old.refuses_properties("") | java.refuses_properties("<5")
    assert "TIMER_DELAY_SEC" in java.refuses_properties(">=4.9.4")
    assert "UNIQ_KEY" in old.refuses_properties("")
    assert go.refuses_properties("") == frozenset()
    assert of('{MAX_RECONSUME_TIMES: "1"}', ", may_fail: true") == []
    assert of('{CHECK_IMMUNITY_TIME_IN_SECONDS: "60", a: "1"}') == []


@pytest.mark.parametrize(("key", "warned"), [("A-1", False), ("A B", True)])
def test_a_key_with_a_blank_is_two_keys(key: str, warned: bool) -> None:
    steps = f"  - send: {{topic: orders, tag: tagA, count: 8, keys: ['{key}']}}\n"
    found = doubts(text_of("delivered: {to: g, count: 8}", steps=STEPS + steps))
    assert [item.startswith("`A B` is 2 keys to RocketMQ") for item in found] == [True] * warned
