"""`send-refused`: what it answers, and where it can't."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from rocketchaos.assertions.send_refused import SendRefused
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from tests.unit.history_builder import HistoryBuilder, scenario_of
from tests.unit.scenario.examples import scenario_text

SEND = "send: {topic: orders, count: 2, may_fail: true}"


@pytest.mark.parametrize(
    ("stated", "holds"),
    [
        ({"count": 2}, Holds.YES),
        ({"count": 1}, Holds.NO),
        ({"count": 1, "code": 16}, Holds.YES),
        ({"count": 2, "code": 16}, Holds.NO),
        ({"at_least": 1, "exception": "MQBrokerException", "because": "forbidden"}, Holds.YES),
        ({"at_least": 1, "exception": "MQBrokerException", "because": "busy"}, Holds.NO),
        ({"count": 1, "exception": "RemotingTooMuchRequestException"}, Holds.YES),
    ],
    ids=str,
)
def test_it_counts_what_was_refused_so(stated: dict[str, Any], holds: Holds) -> None:
    scenario = scenario_of(scenario_text("start: a", SEND))
    made = HistoryBuilder().begin(scenario)
    check = SendRefused(topic="orders", **stated)
    assert check.evaluate(RunView(scenario, made.events)).holds is Holds.UNKNOWN  # not observed
    message = {"topic": "orders", "tag": None}
    by_broker = {"error": "MQBrokerException: sending is forbidden", "code": 16}
    made.add(
        "producer", "send-failed", key="orders-1", **message, **by_broker, exceptions=["MQBrokerException"]
    )
    by_client = {"error": "MQClientException: no turn", "code": None}
    causes = ["MQClientException", "RemotingTooMuchRequestException"]
    made.add("producer", "send-failed", key="orders-2", **message, **by_client, exceptions=causes)
    made.add("harness", "moment-observed", moment="end")
    assert check.evaluate(RunView(scenario, made.events)).holds is holds


@pytest.mark.parametrize(
    ("stated", "holds"),
    [
        ({"count": 2, "status": "FLUSH_DISK_TIMEOUT"}, Holds.YES),
        ({"count": 1, "status": "FLUSH_DISK_TIMEOUT"}, Holds.NO),
        ({"at_least": 1, "status": "FLUSH_SLAVE_TIMEOUT"}, Holds.NO),
        ({"count": 0}, Holds.YES),
    ],
    ids=str,
)
def test_what_was_stored_without_certainty_counts_by_its_status(stated: dict[str, Any], holds: Holds) -> None:
    scenario = scenario_of(scenario_text("start: a", SEND))
    made = HistoryBuilder().begin(scenario)
    for number, status in enumerate(("FLUSH_DISK_TIMEOUT", "SEND_OK", "FLUSH_DISK_TIMEOUT"), 1):
        stored = {"status": status, "broker": "broker-a", "queue_id": 0, "queue_offset": number - 1}
        made.add("producer", "sent", topic="orders", key=f"orders-{number}", tag=None, **stored)
    made.add("harness", "moment-observed", moment="end")
    check = SendRefused(topic="orders", **stated)
    assert check.evaluate(RunView(scenario, made.events)).holds is holds


def test_a_message_is_either_stored_or_refused() -> None:
    with pytest.raises(ValidationError, match="was stored, not refused"):
        SendRefused(topic="orders", at_least=1, status="FLUSH_DISK_TIMEOUT", code=10)


def test_a_refusal_that_would_end_the_run_is_reported() -> None:
    also = "[{send-refused: {topic: orders, at_least: 1}}]"
    parse_scenario(scenario_text("start: a", SEND, also=also), "x.yaml")
    with pytest.raises(InvalidScenario, match="has `may_fail: true`: a refusal would end the run"):
        parse_scenario(scenario_text("start: a", SEND.replace(", may_fail: true", ""), also=also), "x.yaml")


def test_the_half_of_a_transaction_is_stored_with_a_status_of_its_own() -> None:
    scenario = scenario_of(scenario_text("start: a", SEND))
    made = HistoryBuilder().begin(scenario)
    for number, status in enumerate(["SLAVE_NOT_AVAILABLE", "SEND_OK"], 1):
        half = {"topic": "orders", "key": f"orders-{number}", "tag": None, "how": "commit", "status": status}
        made.add("producer", "send-accepted", **half)
    made.add("harness", "moment-observed", moment="end")
    view = RunView(scenario, made.events)
    for count, holds in ((1, Holds.YES), (0, Holds.NO)):
        assert (
            SendRefused(topic="orders", count=count, status="SLAVE_NOT_AVAILABLE").evaluate(view).holds
            is holds
        )
