"""Topics whose newest messages no member wants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from rocketchaos.harness.diagnose.checks.unwanted import variants
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.fate import Entry
from rocketchaos.harness.diagnose.finding import Finding, Level
from rocketchaos.harness.diagnose.reproduction import written
from rocketchaos.harness.diagnose.reproduction.subscriptions import unwanted_tag
from rocketchaos.harness.language.tags import hash_code
from tests.unit.diagnose.broker_edits import all_hashes
from tests.unit.diagnose.member_edits import wants
from tests.unit.diagnose.reports import codes, diagnosed


def _found(wanted: str, tags_code: int) -> list[Finding]:
    changes = wants(wanted), (203, _holds(wanted)), all_hashes(tags_code)
    return [
        item for item in diagnosed("mismatch-4.9.4.json", *changes).findings if item.check.code == "RC0108"
    ]


def _holds(wanted: str) -> Any:
    def change(document: Any) -> None:
        for topic, item in document["subscriptionTable"].items():
            if not topic.startswith("%RETRY%"):
                item.update(subString=wanted, codeSet=[hash_code(wanted)])

    return change


@pytest.mark.parametrize(
    ("sent", "level", "words"),
    [
        (hash_code("TagA"), Level.WARNING, "have the tag `TagA`"),
        (hash_code("tagA "), Level.WARNING, "have the tag `tagA `"),
        (0, Level.INFO, "have no tag"),
        (hash_code("other"), Level.INFO, "has it"),
    ],
)
def test_a_tag_that_the_producer_writes_otherwise_is_a_warning(sent: int, level: Level, words: str) -> None:
    (finding,) = _found("tagA", sent)
    assert (finding.level, words in finding.sentence) == (level, True)


@pytest.mark.parametrize(("wanted", "sent"), [("tagA", "tagA"), ("*", "tagA"), ("tagA,tagB", "tagA")])
def test_what_members_want_and_what_another_check_explains_is_not_found(wanted: str, sent: str) -> None:
    assert _found(wanted, hash_code(sent)) == []


@pytest.mark.parametrize(
    ("sent", "step", "wanted_by_control"),
    [
        (hash_code("TagA"), {"tag": "TagA"}, "TagA"),
        (hash_code("something"), {"tag": "other"}, "other"),
        (0, {}, "*"),
    ],
)
def test_it_is_written_with_the_tag_that_the_producer_sends(
    sent: int, step: dict[str, str], wanted_by_control: str
) -> None:
    changes = wants("tagA"), (203, _holds("tagA")), all_hashes(sent)
    report = diagnosed("mismatch-4.9.4.json", *changes)
    (finding,) = [item for item in report.findings if item.check.code == "RC0108"]
    scenario, control = written(report.views[finding.group], finding)
    (sends,) = [item["send"] for item in scenario["steps"] if "send" in item]
    assert {name: value for name, value in sends.items() if name in ("tag", "tags")} == step
    assert {item["subscribe"]["t1"] for item in scenario["consumers"].values()} == {"tagA"}
    assert {item["subscribe"]["t1"] for item in control["consumers"].values()} == {wanted_by_control}
    assert ("messages without a tag" in scenario["title"]) == (not sent)


def test_the_most_frequent_tag_is_written_where_messages_were_read() -> None:
    read = [
        Entry(number, hash_code(tag), tag)
        for number, tag in enumerate(["paid", "new", "paid", "a b", "a b", "a b"])
    ]
    assert unwanted_tag(read[:3], {"created"}) == "paid"
    assert unwanted_tag(read, {"created"}) == "other"  # a tag with a blank is not written
    assert unwanted_tag(read, {"Paid"}) == "paid"  # written like a wanted one


def test_capitals_and_blanks_are_tried() -> None:
    assert {"TAGA", "taga", "TagA", " tagA", "tagA "} <= variants({"tagA"})
    assert "tagA" not in variants({"tagA"})


def test_a_queue_that_was_not_asked_may_have_what_members_want() -> None:
    def without_queue_0(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
        return [item for item in exchanges if item.code != 321 or item.fields["queueId"] != "0"]

    changes = wants("tagA"), (203, _holds("tagA")), all_hashes(hash_code("TagA")), without_queue_0
    report = diagnosed("mismatch-4.9.4.json", *changes)
    assert "RC0108" not in codes(report)
