"""SQL92 that is only written otherwise is the same; all else differs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import Any

import pytest

from rocketchaos.harness.diagnose.meaning import meaning
from rocketchaos.harness.diagnose.model import TAG, Subscription
from rocketchaos.harness.diagnose.reproduction import written
from rocketchaos.harness.diagnose.reproduction.told_apart import messages
from rocketchaos.harness.diagnose.sql import canonical
from rocketchaos.harness.diagnose.sql_judge import Judge, Unjudged
from rocketchaos.harness.language.tags import SQL
from tests.unit.diagnose.broker_edits import settings
from tests.unit.diagnose.member_edits import sql
from tests.unit.diagnose.reports import Change, codes, diagnosed

RECORDED = "mismatch-5.5.0.json"


SAME = [
    ("a = 1", "a=1"),
    ("a > 1 and b = 'x'", "( b = 'x' ) AND a>1"),
    ("a between 1 and 2 and b = 1", "b = 1 AND (a BETWEEN 1 AND 2)"),
    ("x in ('b', 'a')", "x IN ('a','b')"),
    ("a = 1 or b = 2 and c = 3", "(c = 3 and b = 2) OR a = 1"),
    ("a = 1 -- old\n", "a /* new */ = 1"),
    ("not (a = 1)", "NOT ( a=1 )"),
    ("(a = 1 or b = 2) or c = 3", "a = 1 or (c = 3 or b = 2)"),
    ("a = 1 and (b = 2 and (c = 3))", "a = 1 and b = 2 and c = 3"),
    ("a > 1 and 'x' = b", "1 < a and b = 'x'"),
    ("'x' = b or c = 1", "c = 1 or b = 'x'"),
    ("not (1 < a)", "not (a > 1)"),
    ("a between 1 and 5", "a >= 1 AND a <= 5"),
    ("b = 1 and a between -1 and 5", "a <= 5 and b = 1 and a >= -1"),
    ("a not between 1 and 5", "5 < a or a < 1"),
    ("a between b and c or not (a between 1 and 2)", "not (a >= 1 and a <= 2) or (a >= b and a <= c)"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_sql_that_is_only_written_otherwise_is_the_same(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("TAGS = 'tagA'", "tagA"),
        ("('tagA' = TAGS)", "tagA"),
        ("TAGS in ('tagB', 'tagA')", "tagA || tagB"),
        ("TAGS = 'tagA' OR TAGS IN ('tagB','tagC')", "tagC||tagB||tagA"),
        ("TAGS = 'it''s'", "it's"),
    ],
)
def test_sql_of_tags_alone_means_these_tags(text: str, tags: str) -> None:
    by_sql = Subscription("t", text, SQL, 0, frozenset())
    assert meaning(by_sql) == meaning(Subscription("t", tags, TAG, 0, frozenset()))


@pytest.mark.parametrize(
    "text",
    [
        "TAGS <> 'tagA'",
        "not (TAGS = 'tagA')",
        "TAGS not in ('tagA')",
        "TAGS = 'tagA' AND a = 1",
        "TAGS = 'tagA' OR a = 1",
        "tags = 'tagA'",
        "TAGS = tagA",
        "TAGS = 1",
        "TAGS = 'tagA' AND TAGS = 'tagB'",
        "TAGS = 'x' OR TAGS = 'a' AND TAGS = 'b'",
        "TAGS in ('tagA'",
        "TAGS = ''",
    ],
)
def test_sql_of_more_than_tags_stays_sql(text: str) -> None:
    assert meaning(Subscription("t", text, SQL, 0, frozenset()))[0] == SQL


def test_a_member_by_sql_and_one_by_its_tag_agree() -> None:
    def change(document: Any) -> None:
        for item in document["subscriptionSet"]:
            if not item["topic"].startswith("%RETRY%"):
                wanted = next(turn)
                item.update(subString=wanted, expressionType=SQL if "=" in wanted else TAG, tagsSet=[])

    for first, differs in (("TAGS = 'tagB'", False), ("TAGS = 'tagA'", True)):
        turn = cycle([first, "tagB"])
        found = codes(diagnosed("mismatch-4.9.4.json", (307, change), settings(enablePropertyFilter="true")))
        assert ("RC0101" in found) is differs


@pytest.mark.parametrize(("one", "other"), [pair for pair in SAME if " between b and c" not in pair[0]])
def test_no_message_tells_them_apart(one: str, other: str) -> None:
    wanted = {
        name: Subscription("t", text, SQL, 0, frozenset()) for name, text in (("m1", one), ("m2", other))
    }
    found = messages(wanted, ["tagA"])
    assert found
    assert {item.passes for item in found} == {frozenset(wanted)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a = 1", "A = 1"),
        ("1 <> a", "a <> 1"),
        ("not (1 = a)", "not (a = 1)"),
        ("not (c = 1 and 'x' = b)", "not (c = 1 and b = 'x')"),
        ("a = 'x'", "a = 'X'"),
        ("a = 'x y'", "a = 'x  y'"),
        ("a = 'x--y'", "a = 'x--z'"),
        ("a > 1", "a > 2"),
        ("a is null", "a is not null"),
        ("a = 1 or b = 2 and c = 3", "(a = 1 or b = 2) and c = 3"),
        ("not (a = 1)", "not a = 1"),
        ("a = 1 and (b = 2 or c = 3)", "a = 1 and b = 2 or c = 3"),
        ("a = 1 and (b = 2 or c = 3 and d = 4)", "a = 1 and b = 2 and d = 4 or c = 3"),
        ("a < 1", "1 < a"),
        ("not (a = 1 and b = 2)", "not (a = 1) and b = 2"),
        ("a between 1 and 2", "a between 2 and 1"),
        ("a between 1 and 2", "a > 1 and a < 2"),
        ("not a between 1 and 2", "not (a between 1 and 2)"),
        ("-a between 1 and 2", "a between 1 and 2"),
        ("x not in ('a')", "x in ('a')"),
        ("a = 'it''s'", "a = 'its'"),
    ],
)
def test_sql_that_says_something_else_differs(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize(
    "text", ["", "a BETWEEN", "a BETWEEN 1 AND", "BETWEEN BETWEEN 1 AND 2", "a NOT BETWEEN 1"]
)
def test_sql_that_no_broker_can_read_stays_as_it_is(text: str) -> None:
    assert canonical(text) == text


def test_sql_of_a_stranger_may_nest_as_it_likes() -> None:
    assert canonical("(" * 5000 + "a" + ")" * 5000)


def _by_sql(*expressions: str) -> tuple[Change, ...]:
    turn = cycle(expressions)

    def members(document: Any) -> None:
        sql(document["subscriptionSet"])
        expression = next(turn)
        for item in document["subscriptionSet"]:
            if not item["topic"].startswith("%RETRY%"):
                item["subString"] = expression

    enabled = settings(enablePropertyFilter="true")
    return (307, members), (203, lambda document: sql(document["subscriptionTable"].values())), enabled


def test_members_whose_sql_has_other_blanks_agree() -> None:
    assert codes(diagnosed(RECORDED, *_by_sql("a=1", "(a = 1)"))) == set()
    assert codes(diagnosed(RECORDED, *_by_sql("a=1", "a = 2"))) == {"RC0101"}


def _read(exchanges: Any, stored_ms: Sequence[int] = ()) -> Any:
    """Messages are read; every second one of a queue has the amount that both members want."""
    for item in exchanges:
        yield item
        if item.code != 321:
            continue
        yield replace(item, fields={**item.fields, "count": "128"})
        for offset, entry in enumerate(item.document["queueData"]):
            matched = {"a = 1": offset % 2 == 1, "a >= 1": True}
            place = {"offset": str(entry["physicOffset"]), "topic": item.fields["topic"]}
            yield replace(
                item, code=33, fields=place, body=json.dumps([[offset, "tagA", matched, *stored_ms]])
            )


def test_messages_that_were_read_tell_what_the_holder_s_sql_drops() -> None:
    (finding,) = diagnosed(RECORDED, *_by_sql("a >= 1", "a = 1"), _read, read_messages=True).findings
    assert finding.check.code == "RC0101"
    assert [(item.tag, item.first, item.last, item.count, item.fate) for item in finding.messages] == [
        ("a >= 1", 0, 2, 2, "filtered-by-broker")
    ] * 4
    assert "Of the 16 newest messages that a member wants, 8 (50 %) reach no listener" in finding.effect


def test_what_passed_under_the_subscriptions_of_now_is_certain() -> None:
    def judged(stored_ms: int) -> tuple[bool, str]:
        reading = partial(_read, stored_ms=[stored_ms])
        (finding,) = diagnosed(RECORDED, *_by_sql("a >= 1", "a = 1"), reading, read_messages=True).findings
        return all(item.certain for item in finding.messages), finding.effect

    certain, effect = judged(10**13)
    assert certain
    assert "may have been delivered" not in effect
    certain, effect = judged(1)
    assert not certain
    assert "passed while other subscriptions were held may have been delivered" in effect


def test_without_reading_it_is_said_how_to_know_which_are_lost() -> None:
    (finding,) = diagnosed(RECORDED, *_by_sql("a >= 1", "a = 1")).findings
    assert finding.messages == ()
    assert "`--read-messages` shows which ones are lost" in finding.effect


@pytest.mark.parametrize(("wanted", "scenario"), [("a > 10", True), ("a IS NULL", False)])
def test_sql_of_all_members_that_matches_no_message_is_told_where_messages_are_read(
    wanted: str, scenario: bool
) -> None:
    def want(subscriptions: Iterable[Any]) -> None:
        for item in subscriptions:
            if not item["topic"].startswith("%RETRY%"):
                item.update(subString=wanted, expressionType=SQL)

    def unmatched(exchanges: Any, known: bool = True) -> Any:
        for item in _read(exchanges):
            if item.code != 33:
                yield item
                continue
            (message,) = json.loads(item.body)
            yield replace(item, body=json.dumps([[*message[:2], {wanted: False} if known else {}]]))

    members = (307, lambda document: want(document["subscriptionSet"]))
    held = (203, lambda document: want(document["subscriptionTable"].values()))
    changes = members, held, settings(enablePropertyFilter="true")
    report = diagnosed(RECORDED, *changes, unmatched, read_messages=True)
    (finding,) = report.findings
    assert finding.check.code == "RC0108"
    assert (
        f"all members want `{wanted}` (SQL92), and none of the 16 newest messages matches it"
        in finding.sentence
    )
    assert sum(evidence.exchange.code == 33 for evidence in finding.evidence) == 4
    document = written(report.views[finding.group], finding)
    assert isinstance(document, str) is not scenario
    if scenario:
        assert [item["subscribe"]["t1"] for item in document[0]["consumers"].values()] == [
            {"sql": wanted}
        ] * 2
        assert "tag" not in next(step["send"] for step in document[0]["steps"] if "send" in step)
        assert {item["subscribe"]["t1"] for item in document[1]["consumers"].values()} == {"*"}
    # A message that can't be judged may match.
    assert codes(diagnosed(RECORDED, *changes, partial(unmatched, known=False), read_messages=True)) == set()


def test_sql_of_tags_alone_that_matches_no_message_is_shown_by_their_hashes() -> None:
    def want(subscriptions: Iterable[Any]) -> None:
        for item in subscriptions:
            if not item["topic"].startswith("%RETRY%"):
                item.update(subString="TAGS = 'other'", expressionType=SQL)

    report = diagnosed(
        RECORDED,
        (307, lambda document: want(document["subscriptionSet"])),
        (203, lambda document: want(document["subscriptionTable"].values())),
        settings(enablePropertyFilter="true"),
    )
    (finding,) = report.findings
    assert finding.check.code == "RC0108"
    assert sum(evidence.exchange.code == 321 for evidence in finding.evidence) == 4


def test_a_message_is_judged_by_its_own_properties() -> None:
    judge = Judge(["a > 1 AND b = 'x'", "c IS NULL", "d = TRUE", "e < 1.5"])
    sent = {"a": "2", "b": "x", "d": "TRUE", "e": "1.25"}
    assert judge.of_message(sent) == [True, True, True, True]
    assert judge.of_message({**sent, "a": "1", "c": "", "d": "no", "e": "2"}) == [False] * 4
    assert judge.of_message({}) == [False, True, False, False]


@pytest.mark.parametrize("properties", [{"a": "x"}, {"a": "1.5"}, {"a": "1_0"}, {"a": " 1"}, {"a": "9" * 30}])
def test_a_message_whose_property_has_another_type_is_not_judged(properties: dict[str, str]) -> None:
    with pytest.raises(Unjudged):
        Judge(["a > 1"]).of_message(properties)
    # `1 = a` is false of a message without `a`, which SQLite doesn't know.
    with pytest.raises(Unjudged):
        Judge(["NOT (1 = a)"]).of_message({})


def test_the_proof_tells_tags_from_sql_of_the_same_text() -> None:
    """Measured on 5.1.4: all three proofs read `a = 1`, and nothing showed the difference."""
    report = diagnosed(RECORDED, *_by_sql("a = 1"), (307, _one_by_tag()))
    (finding,) = [item for item in report.findings if item.check.code == "RC0101"]
    says = [item.says for item in finding.evidence]
    assert sum("wants `a = 1` (SQL92), in version" in item for item in says) == 1
    assert sum("wants `a = 1`, in version" in item for item in says) == 1
    assert any("holds `a = 1` (SQL92) of version" in item for item in says)


def _one_by_tag() -> Callable[[Any], None]:
    """The first member's expression is a tag."""
    kinds = cycle(["TAG", "SQL92"])

    def change(document: Any) -> None:
        kind = next(kinds)
        for item in document["subscriptionSet"]:
            if "%" not in item["topic"]:
                item["expressionType"] = kind

    return change
