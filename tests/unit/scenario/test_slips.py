"""Warnings of values that are hardly meant."""

from __future__ import annotations

import pytest

from rocketchaos.harness.scenario import parse_document
from rocketchaos.harness.scenario.slips import slips
from rocketchaos.harness.scenario.unreachable import doubtful
from tests.unit.scenario.statements import STEPS, doubts, text_of


def warned(
    consumers: str, *, topics: str = "{orders: {queues: 4}}", steps: str = "  - start: a\n"
) -> list[tuple[int, str]]:
    text = (
        f"name: x\ntitle: t\ntopics: {topics}\nconsumers:\n{consumers}"
        f"steps:\n{steps}"
        "anomaly:\n  - delivered: {to: g, count: 0}\nhealthy:\n  - delivered: {to: g, count: 8}\n"
    )
    scenario, document = parse_document(text, "x.yaml", reach=False)
    return [(slip.line or 0, slip.message) for slip in slips(document, scenario)]


def test_two_members_with_one_client_id() -> None:
    message = (
        "a and b are members of g with one client id, `{}`: both get the same queues, and other queues have "
        "no owner"
    )
    first = "  a: {group: g, client_id: 10.0.0.1@8, subscribe: {orders: '*'}}\n"
    second = first.replace("a:", "b:", 1)
    both = "  - start: [a, b]\n"
    assert warned(first + second, steps=both) == [(6, message.format("10.0.0.1@8"))]
    own_name = (
        "  a: {group: g, subscribe: {orders: '*'}}\n  b: {group: g, client_id: a, subscribe: {orders: '*'}}\n"
    )
    assert warned(own_name, steps=both) == [(6, message.format("a"))]
    assert warned(first + second.replace("group: g", "group: h"), steps=both) == []
    # One after the other, as in a deployment.
    assert warned(first + second, steps="  - start: a\n  - stop: a\n  - start: b\n") == []
    # Its client replaces DEFAULT: two ids, which no broker sees as they are written.
    replaced = warned((first + second).replace("10.0.0.1@8", "10.0.0.1@DEFAULT"), steps=both)
    assert [line for line, _ in replaced] == [5, 6]
    assert all("clustering consumer's pid in place of `DEFAULT`" in message for _, message in replaced)
    broadcasting = (first + second).replace("@8,", "@DEFAULT, model: broadcasting,")
    assert warned(broadcasting, steps=both) == [(6, message.format("10.0.0.1@DEFAULT"))]
    # These make ids of their own.
    assert warned(own_name.replace("group: g,", "group: g, client: python,"), steps=both) == []


@pytest.mark.parametrize(
    ("expression", "doubt"),
    [
        ("*", None),
        ("tagA", None),
        ("tagA || tagB", None),
        ("tagA ||", None),
        ("größe||订单", None),
        ("x" * 10_000, None),
        ("", "an empty expression is everything, as `*`"),
        ("||", "RocketMQ refuses `||` (subString split error)"),
        ("||||", "RocketMQ refuses `||||` (subString split error)"),
        ("|| ||", "`|| ||` names no tag: RocketMQ takes it, and brokers hand out nothing"),
        ("   ", "`   ` names no tag: RocketMQ takes it, and brokers hand out nothing"),
        ("tagA | tagB", "to RocketMQ `tagA | tagB` is one tag"),
        ("tagA,tagB", "to RocketMQ `tagA,tagB` is one tag"),
        (" * ", "to RocketMQ `*` is one tag"),
        ("* || tagA", "to RocketMQ `*` is one tag"),
    ],
)
def test_expressions_that_rocketmq_refuses_or_misreads(expression: str, doubt: str | None) -> None:
    shown = warned(f"  a: {{group: g, subscribe: {{orders: {expression!r}}}}}\n")
    assert len(shown) == (doubt is not None)
    assert all(message.startswith(doubt or "") for _, message in shown)


def test_steps_are_warned_of_too() -> None:
    text = (
        "name: x\ntitle: t\ntopics: {orders: {queues: 4}}\n"
        "consumers: {a: {group: g, subscribe: {orders: '*'}}}\nsteps:\n  - start: a\n"
        "  - subscribe: {consumer: a, topic: orders, expression: '||'}\n"
        "  - send: {topic: orders, tag: 'tagA || tagB', count: 8}\n"
        "anomaly:\n  - delivered: {to: g, count: 0}\nhealthy:\n  - delivered: {to: g, count: 8}\n"
    )
    scenario, document = parse_document(text, "x.yaml")
    assert [(item.line, item.message) for item in doubtful(document, scenario)] == [
        (7, "RocketMQ refuses `||` (subString split error)"),
        (8, "to RocketMQ `tagA || tagB` is one tag of this name"),
    ]


def test_programs_that_show_nothing() -> None:
    program = "  a: {group: g, subscribe: {orders: '*'}, app: {command: [./a]SEES}}\n"
    ((number, message),) = warned(program.replace("SEES", ""))
    assert (number, message.startswith("nothing shows which messages it handles")) == (5, True)
    assert "or as `main: CLASS` with its `classpath`" in message
    assert warned(program.replace("SEES", ", sees: {topic: orders}")) == []


def test_groups_that_rocketmq_refuses() -> None:
    lines = (
        "  a: {{group: {!r}, subscribe: {{orders: '*'}}}}\n  b: {{group: g, subscribe: {{orders: '*'}}}}\n"
    )
    assert warned(lines.format("%1|g_-")) == []
    for name in ("not legal!", "x" * 256):
        ((number, message),) = warned(lines.format(name))
        assert (number, message.startswith("RocketMQ refuses the group")) == (5, True)
    ((_, message),) = warned(lines.format("g") + "producer: {group: '192.168.1.1:9889'}\n")
    assert message.startswith("RocketMQ refuses the group `192.168.1.1:9889`")


def test_a_symptom_that_no_version_shows_says_what_was_tried() -> None:
    text = (
        "name: x\ntitle: t\nissue: apache/rocketmq#1\n"
        "symptom: {seen: gone, reported: r, texts: t, cause: c, remedy: d}\ntopics: {orders: {queues: 4}}\n"
        "consumers:\n  a: {group: g, subscribe: {orders: '*'}}\nsteps:\n  - start: a\n"
        "  - send: {topic: orders, count: 8}\n"
        "anomaly:\n  - delivered: {to: g, count: 0}\nhealthy:\n  - delivered: {to: g, count: 8}\n"
    )

    def messages(text: str) -> list[str]:
        scenario, document = parse_document(text, "x.yaml")
        return [slip.message for slip in slips(document, scenario)]

    assert messages(text) == []
    (message,) = messages(f"{text}expected: not-reproduced\n")
    assert "`symptom: {not_reproduced: …}`" in message
    said = text.replace("remedy: d", "remedy: d, not_reproduced: 4.9.4 and 5.5.0")
    assert messages(f"{said}expected: not-reproduced\n") == []


def test_a_broker_setting_that_older_brokers_ignore() -> None:
    consumer = "  a: {group: g, subscribe: {orders: '*'}}\n"
    cluster = "cluster: {broker: {timerWheelEnable: true, transactionCheckMax: 3}}\n"
    assert warned(consumer + cluster) == [
        (
            6,
            "brokers of 4.9.x have no setting `timerWheelEnable`, so a run on them ends with an error: "
            "`rocketmq: '>=5.0'` says that the scenario runs on newer ones alone",
        )
    ]
    assert warned(f"{consumer}{cluster}rocketmq: '>=5.0'\n") == []


def test_broker_settings_without_effect() -> None:
    consumer = "  a: {group: g, subscribe: {orders: '*'}}\n"
    cluster = (
        "cluster:\n  broker: {autoCreateTopicEnabled: false, flushDiskType: SYNC_FLUSH, deleteWhen: '04'}\n"
        "  one_broker: {broker-a: {brokerPermision: 4, fileReservedTime: never, longPollingEnable: no}}\n"
    )
    step = "  - start: a\n  - broker-config: {set: {neverHeardOf: 1, longPollingEnable: true}}\n"
    found = warned(consumer + cluster, steps=step)
    assert found == [
        (
            7,
            "brokers of 4.9.0 to 5.5.0 have no setting `autoCreateTopicEnabled`: a run ends with an error; did "
            "you mean `autoCreateTopicEnable`?",
        ),
        (
            8,
            "brokers of 4.9.0 to 5.5.0 have no setting `brokerPermision`: a run ends with an error; did you "
            "mean `brokerPermission`?",
        ),
        (8, "`fileReservedTime` needs a whole number: brokers ignore what they can't read"),
        (8, "`longPollingEnable` is `true` or `false`: brokers read any other text as `false`"),
        (11, "brokers of 4.9.0 to 5.5.0 have no setting `neverHeardOf`: a run ends with an error"),
    ]


@pytest.mark.parametrize(("text", "doubted"), [("SYNC", True), ("SYNC_FLUSH", False), ("sync_flush", True)])
def test_a_way_of_flushing_that_brokers_do_not_know(text: str, doubted: bool) -> None:
    consumer = "  a: {group: g, subscribe: {orders: '*'}}\n"
    found = warned(f"{consumer}cluster: {{broker: {{flushDiskType: {text}}}}}\n")
    doubt = "`flushDiskType` is `ASYNC_FLUSH` or `SYNC_FLUSH`: brokers ignore any other text"
    assert ((6, doubt) in found) is doubted


@pytest.mark.parametrize(
    ("command", "doubt"),
    [
        (
            "updateTopc -t <orders>",
            "mqadmin of 4.9.0 to 5.5.0 has no command `updateTopc`; did you mean `updateTopic`?",
        ),
        ("howMany", "mqadmin of 4.9.0 to 5.5.0 has no command `howMany`"),
        ("CLUSTERLIST", None),
        ("getLiteTopicInfo", None),
    ],
)
def test_a_command_that_mqadmin_does_not_have(command: str, doubt: str | None) -> None:
    found = doubts(
        text_of("delivered: {to: a, count: 0}", steps=f"{STEPS}  - mqadmin: {{as: x, command: {command}}}\n")
    )
    assert found == ([] if doubt is None else [doubt])
