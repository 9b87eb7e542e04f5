"""Members that disagree, on recorded answers of 4.9.4 and 5.5.0."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.output.text import text
from rocketchaos.harness.diagnose.reproduction import written
from rocketchaos.harness.language.tags import hash_code
from tests.unit.diagnose.broker_edits import V5, all_hashes, no_topic, other_topic, pops_on, second_broker
from tests.unit.diagnose.member_edits import (
    ALIKE,
    asking,
    client_property,
    languages,
    popping_members,
    wants,
)
from tests.unit.diagnose.reports import BROKER, codes, diagnosed, members
from tests.unit.diagnose.test_reproduction import planted_at

BOTH = pytest.mark.parametrize("recorded", ["mismatch-4.9.4.json", "mismatch-5.5.0.json"])


def _wants(expression: str) -> Any:
    def change(document: Any) -> None:
        for item in document["subscriptionSet"]:
            if not item["topic"].startswith("%RETRY%"):
                item["subString"] = expression

    return change


@BOTH
def test_different_tags_are_one_finding_with_the_share_that_is_lost(recorded: str) -> None:
    report = diagnosed(recorded)
    assert codes(report) == {"RC0101"}
    (finding,) = report.findings
    assert "holds `tagB` of host-3@instance-1, version of 20" in finding.sentence
    assert "12 (75 %) reach no listener" in finding.effect
    assert "may have been delivered" in finding.effect
    assert all(item.passed and not item.certain for item in finding.messages)
    assert {item.exchange.code for item in finding.evidence} == {203, 307}
    assert not report.undetermined


@pytest.mark.parametrize("most", [8, 20])
def test_long_lists_of_tags_are_held_against_each_other(most: int) -> None:
    tags = [f"t{number:02}" for number in range(1, most + 1)]
    report = diagnosed("mismatch-5.5.0.json", wants("||".join(tags), "||".join([*tags[1:-1], "other"])))
    (sentence,) = (finding.sentence for finding in report.findings if finding.check.code == "RC0101")
    assert ("not all want `other`, `t01` and `t20`" in sentence) == (most == 20)
    assert ("not all want" in sentence) == (most == 20)


def test_reading_names_the_tags_of_which_only_the_hash_is_known() -> None:
    texts = iter(["*", "tagB"])
    (finding,) = diagnosed("mismatch-5.5.0.json", (307, lambda it: _wants(next(texts))(it))).findings
    assert {item.tag for item in finding.messages} == {f"hash {hash_code('tagA')}"}
    assert "`--read-messages` names the tags" in finding.effect


@BOTH
def test_the_order_of_tags_is_no_difference(recorded: str) -> None:
    texts = iter(["tagA||tagB", "tagB || tagA"])
    report = diagnosed(recorded, (307, lambda document: _wants(next(texts))(document)))
    assert "RC0101" not in codes(report)
    assert "RC0101" in {item.check.code for item in report.ruled_out}


@BOTH
def test_a_broker_that_holds_what_nobody_wants(recorded: str) -> None:
    report = diagnosed(recorded, (307, _wants("tagC")), looks=16)
    assert "RC0102" in codes(report)
    early = diagnosed(recorded, (307, _wants("tagC")), looks=2)
    assert "RC0102" in {item.check.code for item in early.undetermined}


@BOTH
def test_a_member_that_does_not_tell_is_never_fine(recorded: str) -> None:
    def silence(document: Any) -> Any:
        return {} if document["mqTable"] and len(document["subscriptionSet"]) else document

    report = diagnosed(recorded, (307, silence))
    assert {"RC0101", "RC0107", "RC0208"} <= {item.check.code for item in report.undetermined}
    assert not {"RC0101", "RC0107"} & {item.check.code for item in report.ruled_out}


@BOTH
def test_nanoseconds_are_named_as_such(recorded: str) -> None:
    def nanoseconds(document: Any) -> None:
        for item in document["subscriptionTable"].values():
            item["subVersion"] *= 1_000_000

    report = diagnosed(recorded, (203, nanoseconds))
    (finding,) = [
        entry for entry in report.findings if entry.check.code == "RC0105" and "%" not in entry.topic
    ]
    assert "nanoseconds" in finding.sentence


@pytest.mark.parametrize(
    ("expressions", "level"), [(("tagA", "tagA"), Level.INFO), (("tagA", "tagB"), Level.WARNING)]
)
def test_nanoseconds_of_go_members_next_to_others_are_told_by_their_languages(
    expressions: tuple[str, str], level: Level
) -> None:
    """Measured on 5.5.0: a group of Go and Java members that agree had two warnings, RC0105 and RC0203."""

    def nanoseconds(document: Any) -> None:
        for item in document["subscriptionTable"].values():
            item["subVersion"] *= 1_000_000

    report = diagnosed(
        "mismatch-4.9.4.json", wants(*expressions), languages("GO", "JAVA"), (203, nanoseconds)
    )
    levels = {item.check.code: item.level for item in report.findings if "%" not in item.topic}
    assert (levels["RC0105"], levels["RC0203"]) == (level, Level.WARNING)


def test_a_member_that_does_not_answer_next_to_go_raises_no_second_warning() -> None:
    """Whether it wants the same is undetermined, under RC0101."""

    def nanoseconds(document: Any) -> None:
        for item in document["subscriptionTable"].values():
            item["subVersion"] *= 1_000_000

    def silence(document: Any) -> Any:
        return {} if '"queueId": 3' in str(list(document["mqTable"])) else document

    report = diagnosed("mismatch-4.9.4.json", languages("GO", "JAVA"), (307, silence), (203, nanoseconds))
    (finding,) = [item for item in report.findings if item.check.code == "RC0105" and "%" not in item.topic]
    assert finding.level is Level.INFO
    assert "RC0101" in {item.check.code for item in report.undetermined}


@BOTH
def test_different_topics_explain_queues_without_an_owner(recorded: str) -> None:
    def other_topic(document: Any) -> None:
        if any(
            "queueId" in key and "%RETRY%" not in key and '"queueId": 0' in key for key in document["mqTable"]
        ):
            return
        document["mqTable"] = {}
        document["subscriptionSet"] = [
            item for item in document["subscriptionSet"] if "%RETRY%" in item["topic"]
        ]

    report = diagnosed(recorded, (307, other_topic))
    assert codes(report) == {"RC0106"}


@BOTH
def test_different_topics_of_members_that_broadcast_delay_messages_and_lose_none(recorded: str) -> None:
    """Measured on 4.9.4 by sending a message a second for 80 s: the median came 14 s late, the last 29 s."""
    first = iter([True, False])

    def change(document: Any) -> None:
        document["properties"]["messageModel"] = "BROADCASTING"
        if next(first):
            document["subscriptionSet"] = [
                item for item in document["subscriptionSet"] if "%RETRY%" in item["topic"]
            ]

    (finding,) = diagnosed(recorded, (307, change)).findings
    assert (finding.check.code, finding.level) == ("RC0106", Level.WARNING)
    assert "messages come late" in finding.effect
    assert not finding.messages


def test_a_member_that_wants_sql_gets_whatever_the_broker_lets_pass() -> None:
    def change(document: Any) -> None:
        _wants("tagB")(document)
        if '"queueId": 3' in str(list(document["mqTable"])):
            for item in document["subscriptionSet"]:
                item.update({"subString": "a = 1", "expressionType": "SQL92"})

    findings = diagnosed("mismatch-4.9.4.json", (307, change)).findings
    finding = next(item for item in findings if item.check.code == "RC0101")
    assert "one that wants SQL92 gets whatever passes" in finding.effect


@BOTH
def test_which_messages_are_lost_is_unknown_where_their_tags_have_one_hash(recorded: str) -> None:
    def held(document: Any) -> None:
        for topic, item in document["subscriptionTable"].items():
            if not topic.startswith("%RETRY%"):
                item["subString"] = "BB"

    report = diagnosed(recorded, wants("Aa", "BB"), (203, held), all_hashes(hash_code("Aa")))
    (finding,) = [item for item in report.findings if item.check.code == "RC0101"]
    assert not finding.messages
    assert "`Aa` and `BB` have the same hash" in finding.effect
    assert "--read-messages" in finding.effect
    # Of a hash that only one of the tags has, it is known.
    report = diagnosed(recorded, wants("Aa", "tagB"), (203, held), all_hashes(hash_code("Aa")))
    (finding,) = [item for item in report.findings if item.check.code == "RC0101"]
    assert {item.fate for item in finding.messages} == {"filtered-by-client"}


@pytest.mark.parametrize("both", [True, False])
def test_a_class_that_filters_is_no_tag_and_what_it_drops_is_not_foretold(both: bool) -> None:
    """Seen on 4.9.4: without a filter server a member's pulls fail, so that messages wait and none is dropped."""
    turn = iter([True, both])

    def by_class(document: Any) -> None:
        own = next(item for item in document["subscriptionSet"] if "%" not in item["topic"])
        mode = next(turn)
        own.update(classFilterMode=mode, subString="com.acme.Mine*" if mode else "*", tagsSet=[], codeSet=[])

    def held(document: Any) -> None:
        for item in document["subscriptionTable"].values():
            item.update(classFilterMode=both, subString="com.acme.Mine*" if both else "*")

    report = diagnosed("mismatch-4.9.4.json", (307, by_class), (203, held))
    assert codes(report) == (set() if both else {"RC0101"})
    for finding in report.findings:
        assert "`com.acme.Mine*` (a class that filters)" in finding.sentence
        assert "filter server" in finding.effect
        assert not finding.messages
        assert "a class chooses" in str(written(report.views[finding.group], finding))


@pytest.mark.parametrize(("popping", "level"), [((), Level.ERROR), ((BROKER,), Level.WARNING)])
def test_members_that_ask_brokers_divide_queues_where_all_brokers_say_pull(
    popping: tuple[str, ...], level: Level
) -> None:
    """Measured on 5.5.0: two queues of the topic that one member lacks had no owner, and 16 messages waited."""
    changes = (V5, second_broker(), asking, (307, other_topic), pops_on(*popping))
    report = diagnosed("mismatch-4.9.4.json", *changes)
    (finding,) = [item for item in report.findings if item.check.code == "RC0106"]
    assert finding.level is level
    assert ("POP" in finding.effect) is bool(popping)


def test_retry_topics_that_members_ask_brokers_for_are_no_different_topics() -> None:
    """A member of setClientRebalance(false) subscribes to one for each topic, also where it pulls."""
    turn = iter([True, False])

    def change(document: Any) -> None:
        if next(turn):
            document["properties"]["clientRebalance"] = "false"
            more = {**document["subscriptionSet"][0], "topic": "%RETRY%group-1_topic-1", "subString": "*"}
            document["subscriptionSet"].append(more)

    report = diagnosed("mismatch-4.9.4.json", ALIKE, (307, change))
    assert "RC0106" not in codes(report)


@pytest.mark.parametrize("sent", ["tag A", "tagA"])
def test_a_tag_with_a_blank_that_messages_have_is_meant_so(sent: str) -> None:
    changes = (wants("tag A", "tag A"), all_hashes(hash_code(sent)))
    held = (
        203,
        lambda document: (
            [
                item.update(subString="tag A", tagsSet=["tag A"], codeSet=[hash_code("tag A")])
                for topic, item in document["subscriptionTable"].items()
                if "%" not in topic
            ]
            and None
        ),
    )
    assert ("RC0107" in codes(diagnosed("mismatch-4.9.4.json", *changes, held))) is (sent == "tagA")


def test_the_proof_of_the_one_member_among_many_that_differs_comes_first() -> None:
    """Only the first proofs are printed: the one host that was forgotten is the one to look for."""
    report = diagnosed("mismatch-4.9.4.json", ALIKE, members(20), wants(*["tagA || tagB"] * 19, "tagA"))
    (finding,) = [item for item in report.findings if item.check.code == "RC0101"]
    odd = finding.evidence[0].says
    assert "wants `tagA`," in odd
    assert odd in text(report)
    assert finding.sentence.index("tagA || tagB") < finding.sentence.index("wants `tagA`;")


def test_the_proof_of_the_one_member_among_many_that_lacks_a_topic_comes_first() -> None:
    turn = iter([*[False] * 19, True])

    def lose(document: Any) -> None:
        if next(turn):
            document["subscriptionSet"] = [
                item for item in document["subscriptionSet"] if "%RETRY%" in item["topic"]
            ]

    report = diagnosed("mismatch-4.9.4.json", ALIKE, members(20), (307, lose))
    (finding,) = [item for item in report.findings if item.check.code == "RC0106"]
    assert "%RETRY%" in finding.evidence[0].says


@pytest.mark.parametrize("carries", ["true", "false"])
def test_pulls_that_bring_their_own_subscription_are_not_refused_after_a_heartbeat(carries: str) -> None:
    """As those of DefaultLitePullConsumer do: only the share of the member that lacks the topic is lost."""
    turn = iter([False, True])
    lose = (307, lambda document: no_topic(document) if next(turn) else None)
    changes = (ALIKE, client_property("postSubscriptionWhenPull", carries), lose)
    (finding,) = [
        item for item in diagnosed("mismatch-4.9.4.json", *changes).findings if item.topic == "topic-1"
    ]
    assert finding.check.code == "RC0106"
    assert "no member consumes the messages in their queues" in finding.effect
    assert ("heartbeat" in finding.effect) is (carries == "false")


@pytest.mark.parametrize(
    ("popping", "effect", "scenario"),
    [
        (
            1,
            "Some members pop, others pull. Each side filters by its own subscription",
            "some members pop, others",
        ),
        (2, "Members share all queues (POP)", ""),
    ],
)
def test_members_that_pop_beside_members_that_pull_do_not_share_all_queues(
    popping: int, effect: str, scenario: str
) -> None:
    """Measured on 5.5.0: a gRPC member with tagA and a Java member with tagB each got all that they want."""
    report = diagnosed("mismatch-4.9.4.json", popping_members(popping))
    finding = next(item for item in report.findings if item.check.code == "RC0101")
    assert finding.effect.startswith(effect)
    documents = written(report.views[finding.group], finding)
    assert documents.startswith(scenario) if isinstance(documents, str) else not scenario


def test_one_id_of_two_processes_leaves_open_what_the_other_wants() -> None:
    """Measured on 5.3.3 with other tags: "all members want `tagA`" was said of the one process that was asked."""

    def holds_another(document: Any) -> None:
        for item in document["subscriptionTable"].values():
            item.update(subString="tagZ", tagsSet=["tagZ"], subVersion=item["subVersion"] + 10)

    report = diagnosed("mismatch-4.9.4.json", ALIKE, *planted_at("RC0201").changes, (203, holds_another))
    assert "RC0102" not in {item.check.code for item in report.findings}
    assert not {"RC0101", "RC0102", "RC0106", "RC0107", "RC0206"} & {
        item.check.code for item in report.ruled_out
    }
    (reason,) = [item.reason for item in report.undetermined if item.check.code == "RC0101"]
    assert reason.endswith("the one that was asked doesn't want `tagZ`, which brokers hold")
