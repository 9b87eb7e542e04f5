"""`delete-topic`, `delete-group` and `suspend-consumer`: who takes part, and what the history tells of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.cluster import deleting
from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.history import History
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.steps import STEPS
from tests.unit.scenario.examples import scenario_text

START = "start: [a, b, c]"


class Asked:
    """Answers requests of RocketMQ's protocol, and takes them down."""

    def __init__(self, **codes: int) -> None:
        self.requests: list[tuple[str, int, dict[str, str]]] = []
        self._codes = {int(code.removeprefix("code_")): answer for code, answer in codes.items()}

    def __call__(self, address: str, code: int, fields: dict[str, str]) -> Any:
        self.requests.append((address, code, fields))
        return SimpleNamespace(code=self._codes.get(code, 0), remark="no")


class Context:
    """The servers of a run."""

    def __init__(self) -> None:
        self.history = History("run")
        self.names = SimpleNamespace(real=lambda name: f"{name}-m1")
        self.scenario = SimpleNamespace(brokers_of=lambda topic: ("broker-a",))
        nodes = [SimpleNamespace(role="nameserver", name="nameserver", address="n:1")]
        self.deleted: list[str] = []
        self.servers = SimpleNamespace(
            broker_addresses={"broker-a": "a:1", "broker-b": "b:1"},
            cluster=SimpleNamespace(nodes=nodes),
            down={},
            topic_deleted=self.deleted.append,
            group_deleted=self.deleted.append,
        )


def test_a_topic_is_deleted_on_its_brokers_then_at_the_name_server(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, context = Asked(code_202=17, code_105=17), Context()
    monkeypatch.setattr(remoting, "ask", asked)
    STEPS["delete-topic"].model_validate("orders").run(cast(Any, context))
    assert [(address, code) for address, code, _ in asked.requests] == [
        ("a:1", 215),
        ("n:1", 216),
        ("a:1", 202),
        ("n:1", 105),
    ]
    told = cast(Any, context.history.events[-1].body)
    assert told.then == {"broker-a": "17 TOPIC_NOT_EXIST", "nameserver": "17 TOPIC_NOT_EXIST"}
    assert context.deleted == ["orders"]


def test_a_group_is_deleted_with_its_own_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, context = Asked(), Context()
    monkeypatch.setattr(remoting, "ask", asked)
    STEPS["delete-group"].model_validate({"group": "g", "offsets": True}).run(cast(Any, context))
    fields = {"groupName": "g-m1", "removeOffset": "true", "cleanOffset": "true"}
    assert asked.requests[:2] == [("a:1", 207, fields), ("b:1", 207, fields)]
    deleted = {item["topic"] for _, code, item in asked.requests if code == 215}
    assert deleted == {"%RETRY%g-m1", "%DLQ%g-m1"}


def test_a_broker_that_refuses_ends_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remoting, "ask", Asked(code_207=16))
    with pytest.raises(PreconditionNotMet, match="broker-a refuses request 207: 16 NO_PERMISSION"):
        deleting.delete_group("g", {"broker-a": "a:1"}, offsets=False)


def test_only_who_runs_can_be_suspended() -> None:
    steps = ("suspend-consumer: a", "resume-consumer: a", "stop: a", "suspend-consumer: a")
    with pytest.raises(InvalidScenario, match="a was stopped in line 12; it must be running"):
        parse_scenario(scenario_text(START, *steps), "s.yaml")


def test_a_client_that_cannot_be_suspended_is_named() -> None:
    scenario = parse_scenario(scenario_text(START, "suspend-consumer: a"), "s.yaml")
    assert scenario.why_not_on("5.5.0") is None
    changed = scenario.model_copy(
        update={
            "consumers": {
                **scenario.consumers,
                "a": scenario.consumers["a"].model_copy(update={"api": "lite-pull"}),
            }
        }
    )
    assert "DefaultLitePullConsumer" in str(changed.why_not_on("5.5.0"))
