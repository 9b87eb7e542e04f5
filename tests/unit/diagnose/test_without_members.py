"""A group that the user named, and of which no broker knows a member: offline, or behind a proxy."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.output.text import text
from tests.unit.diagnose.broker_edits import offset, proxies_topic
from tests.unit.diagnose.reports import Change, codes, diagnosed, unanswered

OFFLINE = unanswered(203, 206)
NO_TOPIC = 17


def _version(name: str) -> Change:
    return 28, lambda document: document["table"].update(brokerVersionDesc=name)


@pytest.mark.parametrize("recorded", ["mismatch-4.9.4.json", "mismatch-5.5.0.json"])
def test_a_group_is_offline_where_no_proxy_has_made_its_topic(recorded: str) -> None:
    report = diagnosed(recorded, OFFLINE, proxies_topic(NO_TOPIC), *offset(lambda _look: 1))
    (finding,) = [item for item in report.findings if item.check.code == "RC0210"]
    assert finding.level is Level.WARNING
    assert "behind" in finding.sentence
    assert "no topic DefaultHeartBeatSyncerTopic" in [item.says for item in finding.evidence]
    assert "RC0210" not in {item.check.code for item in report.undetermined}
    assert "asks a proxy as well" not in text(report)


@pytest.mark.parametrize(
    "changes",
    [
        (proxies_topic(0),),
        (proxies_topic(1),),
        (),  # as in bundles that an earlier version has written
        (proxies_topic(NO_TOPIC), _version("V5_0_0")),
        (proxies_topic(NO_TOPIC), unanswered(28, None)),
        (proxies_topic(NO_TOPIC), unanswered(203, None)),
        (proxies_topic(NO_TOPIC), unanswered(203, 1)),
    ],
)
def test_a_group_that_a_proxy_may_serve_is_undetermined(changes: tuple[Any, ...]) -> None:
    report = diagnosed("mismatch-5.5.0.json", OFFLINE, *changes)
    assert "RC0210" not in codes(report)
    (item,) = [item for item in report.undetermined if item.check.code == "RC0210"]
    assert "or its members use a proxy" in item.reason


def test_a_proxy_that_was_asked_is_told_and_only_another_may_serve_the_group() -> None:
    """Measured on 5.5.0: a proxy that has just started doesn't know its members yet."""
    report = diagnosed("grpc-5.5.0.json", OFFLINE)
    (item,) = [item for item in report.undetermined if item.check.code == "RC0210"]
    assert item.reason.startswith("no broker and no proxy that was asked knows a member of it")
    assert "or its members use another proxy" in item.reason


def test_a_group_that_no_one_named_is_left_out() -> None:
    report = diagnosed("mismatch-4.9.4.json", OFFLINE, proxies_topic(NO_TOPIC), groups=None)
    assert "RC0210" not in codes(report)
    assert "RC0210" not in {item.check.code for item in report.undetermined}


def test_a_group_that_the_user_names_as_well_is_not_meant_by_another_name() -> None:
    """Measured on 5.5.0: `--group bothg --group dlqreader` said of bothg `did you mean dlqreader?`."""
    other = (201, lambda document: document.update(subscriptionGroupTable={"group-7": {}}))
    for groups, says in ((("group-9",), True), (("group-9", "group-7"), False)):
        report = diagnosed("mismatch-4.9.4.json", other, unanswered(203, 206), groups=groups)
        reasons = [
            item.reason
            for item in report.undetermined
            if (item.check.code, item.group) == ("RC0210", "group-9")
        ]
        assert len(reasons) == 1
        assert ("did you mean that?" in reasons[0]) is says


@pytest.mark.parametrize("prefix", ["%RETRY%", "%DLQ%"])
def test_a_topic_of_a_group_is_no_group_of_another_namespace(prefix: str) -> None:
    def known(document: Any) -> None:
        document["subscriptionGroupTable"] = {"group-7": {}}

    report = diagnosed("mismatch-4.9.4.json", OFFLINE, (201, known), groups=(f"{prefix}group-7",))
    (reason,) = [item.reason for item in report.undetermined if item.check.code == "RC0210"]
    assert f"; {prefix}group-7 is a topic of group-7: did you mean that?" in reason
    assert "namespace" not in reason


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (16, "no broker that was asked tells who is online"),
        (206, "no broker that was asked knows a member of it"),
    ],
)
def test_a_broker_that_refuses_the_question_is_not_said_to_know_no_member(answer: int, said: str) -> None:
    """Measured on 5.4.0 with access control, without a key: `no broker knows a member`, and two were online."""
    report = diagnosed("mismatch-5.5.0.json", unanswered(203, answer))
    (item,) = [item for item in report.undetermined if item.check.code == "RC0210"]
    assert item.reason.startswith(said)
    assert ("either no member is online" in item.reason) is (answer == 206)
