"""Warnings of settings and keys that look like typing mistakes."""

from __future__ import annotations

import pytest

from tests.unit.scenario.statements import STEPS, doubts, mistakes, text_of

TEXT = text_of("delivered: {to: a, count: 0}")


@pytest.mark.parametrize(
    ("behaviour", "doubt"),
    [
        ("{block: orders-9}", "no message has the key `orders-9`: the steps send 8 to orders"),
        ("{block: [orders-8, orders-0]}", "no message has the key `orders-0`: the steps send 8 to orders"),
        ("{fail: 1, only: order-1}", "no message has the key `order-1`: no topic is called so"),
        ("{slow: 1s, only: bills-1}", "no message has the key `bills-1`: the steps send 0 to bills"),
        ("{block: all}", None),
        ("block", None),
        ("{fail: 1, only: [orders-1, orders-8]}", None),
    ],
)
def test_keys_of_messages_that_are_never_sent(behaviour: str, doubt: str | None) -> None:
    text = TEXT.replace("{orders: tagA}", f"{{orders: tagA}}, behaviour: {behaviour}", 1)
    assert doubts(text) == ([] if doubt is None else [doubt])
    unseen = "  - mqadmin: {as: x, command: sendMessage -t <orders>}\n"
    assert not [item for item in doubts(text.replace(STEPS, STEPS + unseen)) if "no message" in item]


@pytest.mark.parametrize(
    ("line", "doubt"),
    [
        (
            "orderMessageEnabel: true",
            "name servers of 4.9.0 to 5.5.0 have no setting `orderMessageEnabel`: a run ends with an error; "
            "did you mean `orderMessageEnable`?",
        ),
        ("orderMessageEnable: yes", "`orderMessageEnable` is `true` or `false`: name servers read any other"),
        ("waitSecondsForService: soon", "`waitSecondsForService` needs a whole number: name servers ignore"),
        ("serverWorkerThreads: 4", None),
        ("fileReservedTime: 4", "name servers of 4.9.0 to 5.5.0 have no setting `fileReservedTime`"),
    ],
)
def test_lines_of_namesrv_conf_without_effect(line: str, doubt: str | None) -> None:
    found = doubts(TEXT.replace("title: t", f"title: t\ncluster: {{namesrv: {{{line}}}}}"))
    assert len(found) == (doubt is not None)
    assert all(item.startswith(doubt or "") for item in found)


def test_attributes_that_no_topic_has() -> None:
    text = TEXT.replace("orders: {queues: 4}", "orders: {queues: 4, settings: {cleanup.polizy: COMPACTION}}")
    assert doubts(text) == [
        "topics of 5.0.0 to 5.5.0 have no attribute `cleanup.polizy`; did you mean `cleanup.policy`?"
    ]
    assert doubts(text.replace("cleanup.polizy", "cleanup.policy")) == []
    step = "  - topic-config: {topic: orders, set: {queue.kind: BatchCQ}}\n"
    (doubt,) = doubts(TEXT.replace(STEPS, STEPS + step))
    assert doubt.startswith(
        "topics of 5.0.0 to 5.5.0 have no attribute `queue.kind`; did you mean `queue.type`"
    )


def test_a_property_that_no_topic_has_is_told_with_the_attributes() -> None:
    text = TEXT.replace("orders: {queues: 4}", "orders: {queues: 4, settings: {xyzzy: 1}}")
    (mistake,) = mistakes(text)
    assert mistake == (
        "TopicConfig has no property `xyzzy`: it has `order`, `perm`, `readQueueNums`, `topicSysFlag`, "
        "`writeQueueNums`, and of 5.x the attributes `message.type`, `queue.type`, `cleanup.policy`, "
        "`reserve.time`, `lite.topic.expiration`"
    )
