"""A program that makes another client while it runs: the consumer has its id from then on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.clients.consumer import Consumer
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.history import History
from rocketchaos.harness.language.consumer_spec import Consumer as ConsumerSpec
from rocketchaos.harness.rocketmq.timing_profiles import PROFILES


@pytest.fixture
def history() -> History:
    return History("run")


SEES = {"log": "(?P<key>.)"}


class Process:
    """Its process; `during` is done while it is asked to start."""

    pid, process, alive = 7, "own", True

    def __init__(self) -> None:
        self.during: Any = lambda: None
        self.subscribe: Any = {"orders": "tagA"}
        self.model = "clustering"

    def wait_ready(self, _limit_s: float) -> None:
        pass

    def request(self, _do: str, _limit_s: float, /, **_with: Any) -> dict[str, Any]:
        self.during()
        return {"client_id": "first@t", "subscribe": self.subscribe, "model": self.model, "versions": {}}


def consumer_of(app: dict[str, Any], history: History, process: Process, **more: Any) -> Consumer:
    spec = {"group": "g", **({} if "jar" in app else {"subscribe": {"orders": "tagA"}}), "app": app}
    return Consumer(
        "a",
        ConsumerSpec.model_validate(spec),
        history=history,
        timing=PROFILES["compressed"],
        rocketmq="4.9.4",
        spawn=lambda *_: cast(Any, process),
        real=str,
        servers=dict,
        instance="t",
        topics=("orders",),
        queues=lambda _topic: [],
        set_request_mode=lambda *_: None,
        **more,
    )


def ids(history: History) -> list[str]:
    return [event.data["client_id"] for event in history.events if event.kind == "consumer-started"]


@pytest.mark.parametrize("while_it_starts", [False, True])
def test_a_jar_tells_its_next_client(history: History, while_it_starts: bool) -> None:
    process = Process()
    consumer = consumer_of({"jar": "a.jar"}, history, process)
    if while_it_starts:
        process.during = lambda: consumer.begun_anew({"client_id": "next@t", "versions": {}})
    consumer.start()
    if not while_it_starts:
        assert consumer.client_id == "first@t"
        consumer.begun_anew({"client_id": "next@t", "versions": {}})
    assert consumer.client_id == "next@t"
    assert ids(history) == ["first@t", "next@t"]


def test_a_command_is_recognized_where_the_broker_no_longer_knows_its_client(history: History) -> None:
    process = Process()
    answer = process.request("", 0)
    consumer = consumer_of(
        {"command": ["./a"], "sees": SEES},
        history,
        process,
        before_launch=lambda: lambda _worker, _limit_s: answer,
        client_among=lambda _worker, connections: connections[0]["client_id"],
    )
    other, first = SimpleNamespace(client_id="next@t"), SimpleNamespace(client_id="first@t")
    consumer.recognize([vars(other)])
    assert ids(history) == []
    consumer.start()
    consumer.recognize([vars(other), vars(first)])
    assert consumer.client_id == "first@t"
    consumer.recognize([vars(other)])
    assert consumer.client_id == "next@t"
    assert ids(history) == ["first@t", "next@t"]


def test_a_jar_s_own_topics_are_its_own_word_and_only_those_of_the_scenario_are_asked_about(
    history: History,
) -> None:
    process = Process()
    process.subscribe = {"orders": "tagA", "refunds": "*"}
    consumer = consumer_of({"jar": "a.jar"}, history, process)
    assert consumer.topics == ()
    consumer.start()
    assert (consumer.subscriptions, consumer.topics) == ({"orders": "tagA"}, ("orders",))


def test_a_jar_s_word_while_it_runs_counts_also_if_it_comes_before_the_answer_to_its_start(
    history: History,
) -> None:
    process = Process()
    consumer = consumer_of({"jar": "a.jar"}, history, process)

    def says() -> None:
        consumer.current.report("program-subscription", {"subscribe": {"refunds": "*"}})
        consumer.current.report("subscribed", {"topic": "orders", "expression": "tagB"})

    process.during = says
    consumer.start()
    assert consumer.subscriptions == {"orders": "tagB"}
    consumer.current.report("unsubscribed", {"topic": "orders"})
    assert (consumer.subscriptions, consumer.topics) == ({}, ("orders",))


def test_a_program_that_broadcasts_and_a_scenario_that_says_nothing_of_it_are_an_error(
    history: History,
) -> None:
    process = Process()
    process.model = "broadcasting"
    with pytest.raises(
        EnvironmentNotReady, match="a is broadcasting, and the scenario says clustering"
    ) as found:
        consumer_of({"jar": "a.jar"}, history, process).start()
    assert "`model: broadcasting`" in found.value.hint
    assert ids(history) == []


def test_a_subscription_that_neither_the_program_nor_the_scenario_says_is_an_error(history: History) -> None:
    process = Process()
    process.subscribe = None
    with pytest.raises(EnvironmentNotReady, match="doesn't say to what it subscribes") as found:
        consumer_of({"jar": "a.jar"}, history, process).start()
    assert "`subscribe: {orders: '*'}`" in found.value.hint
    consumer_of({"command": ["./a"], "sees": SEES}, history, process).start()
    assert ids(history) == ["first@t"]
