"""The checks of raw requests, of the queues that messages went to, of clients and of when things happened."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from rocketchaos.assertions import CHECKS
from rocketchaos.assertions.base import Answer
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds
from rocketchaos.harness.diagnose.checks import CHECKS as DIAGNOSIS_CHECKS
from rocketchaos.harness.language.diagnosis_codes import CODES
from tests.unit.history_builder import HistoryBuilder, scenario_of

TEXT = """\
name: asked
title: raw requests
topics: {orders: {queues: 4}, bills: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
  b: {group: h, subscribe: {orders: tagA}}
steps: [{start: [a, b]}]
anomaly: [{delivered: {to: g, count: 1}}]
healthy: [{delivered: {to: g, count: 0}}]
"""
SCENARIO = scenario_of(TEXT)
YES, NO, UNKNOWN = Holds.YES, Holds.NO, Holds.UNKNOWN


def answer(made: HistoryBuilder, word: str, **fields: Any) -> Answer:
    return CHECKS[word].model_validate(fields).evaluate(RunView(SCENARIO, made.events))


def begun() -> HistoryBuilder:
    return HistoryBuilder().begin(SCENARIO)


def ended(made: HistoryBuilder) -> HistoryBuilder:
    made.add("harness", "moment-observed", moment="end")
    return made


def asked(**changes: Any) -> HistoryBuilder:
    made = begun()
    data = {"name": "ids", "of": "broker-a", "request": 38, "code": 0, "status": "0 SUCCESS", "remark": "",
            "fields": {}, "text": '{"consumerIdList":["a","b"]}'}  # fmt: skip
    made.add("harness", "asked", **{**data, **changes})
    return made


@pytest.mark.parametrize(
    ("fields", "holds"),
    [
        ({"code": 0, "has": ['"a"', '"b"'], "lacks": '"c"'}, YES),
        ({"has": ['"a"', '"c"']}, NO),
        ({"lacks": ['"c"', '"a"']}, NO),
        ({"code": "CONSUMER_NOT_ONLINE"}, NO),
        ({"remark": "no"}, NO),
    ],
)
def test_an_answer_is_held_against_everything_that_is_given(fields: dict[str, Any], holds: Holds) -> None:
    assert answer(asked(), "answer", of="ids", **fields).holds is holds


def test_of_a_request_that_was_not_sent_nothing_is_known() -> None:
    assert answer(begun(), "answer", of="ids", code=0).holds is UNKNOWN


def placed(*queues: int, topic: str = "orders", tag: str = "tagA") -> HistoryBuilder:
    made = begun()
    for number, queue in enumerate(queues, 1):
        made.add("producer", "sent", key=f"{topic}-{number}", topic=topic, tag=tag, broker="broker-a",
                 queue_id=queue, queue_offset=0)  # fmt: skip
    return ended(made)


def test_queues_of_two_brokers_with_one_id_are_different() -> None:
    made = begun()
    for number, broker in enumerate(("broker-a", "broker-b"), 1):
        made.add("producer", "sent", key=f"orders-{number}", topic="orders", tag="tagA", broker=broker,
                 queue_id=0, queue_offset=0)  # fmt: skip
    ended(made)
    assert answer(made, "placed", topics="orders", queues_at_most=1).holds is NO
    found = answer(made, "placed", topics="orders", queues_at_least=2)
    assert found.holds is YES
    assert "2 queues of broker-a, broker-b" in found.observed
    found = answer(made, "placed", topics="orders", most_at_most=1)
    assert found.holds is YES
    assert "; most to broker-a:0: 1 of 2" in found.observed
    found = answer(made, "placed", topics="orders", brokers=["broker-a", "broker-b"])
    assert found.holds is YES
    assert found.observed.endswith("; 1 on broker-a, 1 on broker-b")


@pytest.mark.parametrize(
    ("fields", "holds"),
    [
        ({"queues": [1, 2]}, YES),
        ({"queues": [1, 2], "each": 2}, NO),
        ({"queues": [1, 2, 3]}, NO),
        ({"queues_at_least": 2}, YES),
        ({"queues_at_least": 3}, NO),
        ({"queues_at_most": 1}, NO),
        ({"most_at_least": 2}, YES),
        ({"most_at_least": 3}, NO),
        ({"most_at_most": 2}, YES),
        ({"most_at_most": 1}, NO),
        ({"number": 1, "queues": [2], "each": 1}, YES),
        ({"number": 4, "queues_at_least": 1}, UNKNOWN),
        ({"tag": "tagB", "queues_at_least": 1}, UNKNOWN),
    ],
)
def test_messages_are_counted_by_their_queues(fields: dict[str, Any], holds: Holds) -> None:
    assert answer(placed(2, 1, 2), "placed", topics="orders", **fields).holds is holds


def clients(of_g: tuple[str, str], *of_h: tuple[str, str]) -> HistoryBuilder:
    made = begun()
    for group, known in (("g", [of_g]), ("h", of_h)):
        made.add("harness", "subscription-observed", group=group, broker="broker-a", moment="end",
                 clients=[item for item, _ in known], addresses=[where for _, where in known])  # fmt: skip
    return ended(made)


def test_one_client_has_one_id_and_one_connection() -> None:
    item, other = ("x", "host:1"), ("x", "host:2")
    assert answer(clients(item, item), "same-client", groups=["g", "h"]).holds is YES
    assert answer(clients(item, other), "same-client", groups=["g", "h"]).holds is NO
    assert answer(clients(item, other), "same-client", groups=["g", "h"], same=False).holds is NO
    assert answer(clients(item, ("y", "host:2")), "same-client", groups=["g", "h"], same=False).holds is YES
    assert answer(clients(item), "same-client", groups=["g", "h"]).holds is UNKNOWN
    assert answer(ended(begun()), "same-client", groups=["g", "h"]).holds is UNKNOWN


def killed(dropped_after_s: float | None) -> HistoryBuilder:
    made = begun()
    made.start(SCENARIO, "a")
    made.add("harness", "subscription-observed", group="g", broker="broker-a", clients=["a@t"])
    made.at(10).add("harness", "fault-effective", fault="kill", target="a")
    if dropped_after_s is not None:
        made.at(10 + dropped_after_s)
        made.add("harness", "subscription-observed", group="g", broker="broker-a", clients=[])
    return ended(made.at(30))


@pytest.mark.parametrize(
    ("after_s", "fields", "holds"),
    [
        (1, {"at_most": "2s"}, YES),
        (3, {"at_most": "2s"}, NO),
        (3, {"at_least": "2s"}, YES),
        (1, {"at_least": "2s"}, NO),
        (None, {"at_most": "2s"}, NO),
        (None, {"at_most": "2m"}, UNKNOWN),
        (None, {"at_least": "2s"}, UNKNOWN),
    ],
)
def test_a_member_is_dropped_with_the_first_look_without_it(
    after_s: float | None, fields: dict[str, Any], holds: Holds
) -> None:
    assert answer(killed(after_s), "dropped", consumer="a", **fields).holds is holds


def test_a_member_that_starts_anew_was_not_dropped_before_its_old_client_was() -> None:
    made = begun()
    made.start(SCENARIO, "a")
    made.add("harness", "subscription-observed", group="g", broker="broker-a", clients=["a@t"])
    made.at(10).add("harness", "fault-effective", fault="kill", target="a")
    made.at(11).add("harness", "subscription-observed", group="g", broker="broker-a", clients=["a@t"])
    made.at(12).add("a", "consumer-started", client_id="another@t", group="g", client="java", pid=201)
    made.at(15).add("harness", "subscription-observed", group="g", broker="broker-a", clients=["another@t"])
    found = answer(ended(made.at(30)), "dropped", consumer="a", at_most="2s")
    assert (found.holds, found.observed) == (NO, "after 5000 ms")


def test_of_a_member_that_never_went_nothing_is_known() -> None:
    made = begun()
    made.start(SCENARIO, "a")
    assert answer(ended(made), "dropped", consumer="a", at_most="2s").holds is UNKNOWN


def lines(*times: str) -> HistoryBuilder:
    made = begun()
    for time in times:
        made.add("broker-a", "log-line", of="broker-a", pattern="x", time=f"2025-01-01 00:{time}", text="x")
    return ended(made)


def test_lines_are_apart_by_the_times_that_the_server_wrote() -> None:
    fields = {"node": "broker-a", "from": "x"}
    made = lines("00:00,500", "00:30,500", "00:30,500", "01:00,700")
    assert answer(made, "log-lapse", **fields, at_least="29s", at_most="31s").holds is YES
    assert answer(made, "log-lapse", **fields, at_least="30100ms").holds is NO
    assert answer(made, "log-lapse", **fields, at_most="30100ms").holds is NO
    assert answer(made, "log-lapse", **fields, at_most="31s", times=3).holds is UNKNOWN
    assert answer(lines("00:00"), "log-lapse", **fields, at_most="31s").holds is UNKNOWN


def test_lines_are_counted_from_one_observation_to_another() -> None:
    made = begun()
    for moment, count in (("before", 2), ("end", 5)):
        made.add("broker-a", "log-observed", of="broker-a", pattern="x", count=count, moment=moment)
        made.add("harness", "moment-observed", moment=moment)
    fields = {"node": "broker-a", "matches": "x"}
    assert answer(made, "log", **fields, count=5).holds is YES
    assert answer(made, "log", **fields, since="before", count=3).holds is YES
    assert answer(made, "log", **fields, since="before", at_least=4).holds is NO
    assert answer(made, "log", **fields, since="never", count=3).holds is UNKNOWN


@pytest.mark.parametrize("stated", ["request type 309", " request type 309"])
def test_a_blank_before_a_remark_hides_nothing(stated: str) -> None:
    # As RocketMQ says it, with a blank that no page shows.
    made = asked(code=3, status="3 REQUEST_CODE_NOT_SUPPORTED", remark=" request type 309 not supported")
    assert answer(made, "answer", of="ids", remark=stated).holds is Holds.YES
    assert answer(made, "answer", of="ids", remark="type 309").holds is Holds.NO
    with pytest.raises(ValueError, match="remark"):
        answer(made, "answer", of="ids", remark=" ")


def test_what_mqadmin_finds_is_reported_of_the_moment_at_which_it_was_asked() -> None:
    made = begun()
    made.add("harness", "consumer-status-observed", group="g", alike=False, members=["a"], moment="end")
    ended(made)
    assert answer(made, "consumer-status", group="g", alike=False).holds is YES
    assert answer(made, "consumer-status", group="g", alike=True).holds is NO
    assert answer(made, "consumer-status", group="g", alike=True, at="before").holds is UNKNOWN


@pytest.mark.parametrize(
    ("word", "fields"),
    [
        ("answer", {"of": "ids"}),
        ("placed", {"topics": "orders"}),
        ("dropped", {"consumer": "a"}),
        ("log-lapse", {"node": "broker-a", "from": "x"}),
        ("log-lapse", {"node": "broker-a", "from": "(", "at_most": "1s"}),
        ("answer", {"of": "ids", "has": "("}),
    ],
)
def test_a_check_that_states_nothing_or_no_expression_is_refused(word: str, fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CHECKS[word].model_validate(fields)


def _diagnosed(*codes: str, level: str = "error", undetermined: tuple[str, ...] = ()) -> HistoryBuilder:
    made = begun()
    findings = [{"code": code, "level": level, "topic": "orders", "sentence": "so it is"} for code in codes]
    made.add(
        "harness", "diagnosis-observed", group="g", findings=findings, undetermined=list(undetermined), looks=1,
        seconds=0.2, moment="end",
    )  # fmt: skip
    ended(made)
    return made


def test_a_diagnosis_is_held_against_the_codes_that_must_be_found() -> None:
    right = {"group": "g", "finds": ["RC0101"], "nothing_else": True}
    assert answer(_diagnosed("RC0101"), "diagnose", **right).holds is YES
    assert answer(_diagnosed(), "diagnose", **right).holds is NO
    assert answer(_diagnosed("RC0101", "RC0301"), "diagnose", **right).holds is NO
    assert answer(_diagnosed("RC0101", "RC0301"), "diagnose", group="g", finds=["RC0101"]).holds is YES
    assert answer(_diagnosed("RC0303", level="info"), "diagnose", group="g", nothing_else=True).holds is YES
    assert answer(_diagnosed(undetermined=("RC0101",)), "diagnose", **right).holds is UNKNOWN
    assert answer(_diagnosed("RC0101", undetermined=("RC0301",)), "diagnose", **right).holds is UNKNOWN
    assert answer(_diagnosed(undetermined=("RC0301",)), "diagnose", **right).holds is NO
    assert (
        answer(_diagnosed(undetermined=("RC0301",)), "diagnose", group="g", nothing_else=True).holds
        is UNKNOWN
    )
    assert answer(_diagnosed("RC0101"), "diagnose", **right, at="before").holds is UNKNOWN


def test_a_diagnosis_names_codes_that_there_are() -> None:
    with pytest.raises(ValidationError, match="there is no code 'RC0199'; did you mean RC0"):
        answer(_diagnosed(), "diagnose", group="g", finds=["RC0199"])
    assert tuple(DIAGNOSIS_CHECKS) == CODES


@pytest.mark.parametrize(
    ("brokers", "holds"),
    [
        (["broker-a", "broker-b"], Holds.YES),
        (["broker-b", "broker-a"], Holds.YES),
        (["broker-a"], Holds.NO),
        (["broker-c"], Holds.NO),
    ],
    ids=str,
)
def test_the_brokers_to_which_messages_went(brokers: list[str], holds: Holds) -> None:
    made = begun()
    for number, broker in enumerate(("broker-a", "broker-b"), start=1):
        made.add(
            "producer", "sent", topic="orders", key=f"orders-{number}", tag=None, broker=broker, queue_id=0
        )
    assert answer(ended(made), "placed", topics="orders", brokers=brokers).holds is holds
