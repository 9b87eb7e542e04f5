"""A broker that answers nothing: what it may hide is undetermined, and never "fine"."""

from __future__ import annotations

from dataclasses import replace

from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.output.text import text
from tests.unit.diagnose.member_edits import ALIKE
from tests.unit.diagnose.reports import codes, diagnosed, each, second_broker, unknown

RECORDED = "mismatch-4.9.4.json"
OF_GROUP = {
    "RC0209",
    "RC0406",
    "RC0407",
    "RC0408",
    "RC0501",
    "RC0503",
    "RC0504",
    "RC0505",
    "RC0506",
    "RC0701",
}
OF_CLUSTER = {"RC0804", "RC0805", "RC0806"}


def hung(item: Exchange) -> Exchange:
    """The second broker, which takes connections and says nothing."""
    if not item.address.endswith("2"):
        return item
    return replace(item, answer_code=None, body="", error="no answer within 3 s")


def test_what_a_broker_without_an_answer_may_hide_is_undetermined() -> None:
    report = diagnosed(RECORDED, ALIKE, second_broker(), each(hung))
    assert not codes(report)
    assert unknown(report) >= OF_GROUP | OF_CLUSTER | {"RC0803"}
    assert not {item.check.code for item in report.ruled_out} & (OF_GROUP | OF_CLUSTER)
    said = " ".join(text(report).split())
    assert "undetermined for group group-1 because brokers don't answer: RC0102, RC0209, RC0406" in said
    assert "undetermined for the cluster because brokers don't answer: RC0804, RC0805, RC0806" in said
    assert "broker-2 doesn't report its delayed messages: no answer within 3 s" in said


def test_a_broker_without_the_topic_hides_nothing_of_its_group() -> None:
    report = diagnosed(RECORDED, ALIKE, second_broker(has_topic=False), each(hung))
    assert not unknown(report) & {"RC0501", "RC0506"}
    assert unknown(report) >= OF_CLUSTER
