"""What the fields of a consumer come to: settings of the client, and what its worker is told."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from rocketchaos.harness.clients.consumer_options import rare_options, start_options
from rocketchaos.harness.language.consumer_spec import Consumer
from rocketchaos.harness.language.expressions import SqlExpression, as_data, from_data
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from rocketchaos.harness.workers.worker_kinds import KINDS


def consumer(**fields: Any) -> Consumer:
    return Consumer.model_validate({"group": "g", "subscribe": {"orders": "tagA"}, **fields})


def test_without_fields_it_is_as_rocketmq_has_it_but_for_where_it_begins() -> None:
    plain = consumer()
    assert plain.properties == {}
    assert plain.traits.filters_by == "stored"
    assert not plain.needs_own_process
    assert start_options(plain) == {
        "api": "push",
        "model": "clustering",
        "listener": "concurrent",
        "consume_from": "first-offset",
        "strategy": {"name": "average", "queues": [], "rooms": []},
        "behaviour": {"fail": 0, "block": (), "slow_ms": 0},
        "retry_delay_level": 0,
    }


def test_settings_have_rocketmqs_names() -> None:
    chosen = consumer(
        threads=3,
        batch_size=8,
        max_reconsume_times=0,
        pull_threshold_for_queue=10,
        pull_interval="3s",
        pull_retry_after="200s",
        post_subscription_when_pull=True,
    )
    assert chosen.properties == {
        "consumeThreadMin": 3,
        "consumeThreadMax": 3,
        "consumeMessageBatchMaxSize": 8,
        "maxReconsumeTimes": 0,
        "pullThresholdForQueue": 10,
        "pullInterval": 3_000,
        "pullTimeDelayMillsWhenException": 200_000,
        "postSubscriptionWhenPull": True,
    }
    assert chosen.traits.filters_by == "own"


@pytest.mark.parametrize(
    ("behaviour", "text"),
    [
        ("succeed", {"fail": 0, "block": (), "slow_ms": 0}),
        ("block", {"fail": 0, "block": "all", "slow_ms": 0}),
        ({"block": "all"}, {"fail": 0, "block": "all", "slow_ms": 0}),
        ({"block": "orders-1"}, {"fail": 0, "block": ("orders-1",), "slow_ms": 0}),
        (
            {"fail": 2, "slow": "50ms", "block": ["x", "y"]},
            {"fail": 2, "block": ("x", "y"), "slow_ms": 50},
        ),
        ({"fail": 2, "only": "x"}, {"fail": 2, "block": (), "slow_ms": 0, "only": ("x",)}),
    ],
)
def test_behaviours(behaviour: Any, text: dict[str, Any]) -> None:
    assert start_options(consumer(behaviour=behaviour))["behaviour"] == text


def test_sql_is_text_to_those_who_ask_for_text() -> None:
    both = consumer(subscribe={"orders": {"sql": "a = 1"}, "bills": "tagA"})
    assert both.expressions == {"orders": "a = 1", "bills": "tagA"}
    assert both.subscribe["orders"] == SqlExpression(sql="a = 1")
    for expression in both.subscribe.values():
        assert from_data(as_data(expression)) == expression


def test_what_keeps_files_where_its_process_does_has_a_process_of_its_own() -> None:
    assert consumer(model="broadcasting").needs_own_process
    assert consumer(process="own").needs_own_process


def test_lite_pull_pulls_with_its_own_expression() -> None:
    assert consumer(api="lite-pull").traits.filters_by == "own"


@pytest.mark.parametrize(
    "fields",
    [
        {"strategy": "by-config"},
        {"queues": [1]},
        {"strategy": "machine-room"},
        {"rooms": ["east"]},
        {"api": "lite-pull", "listener": "orderly"},
        {"api": "lite-pull", "post_subscription_when_pull": True},
        {"api": "lite-pull", "behaviour": {"fail": 1}},
        {"api": "lite-pull", "max_reconsume_times": 0},
        {"api": "simple"},
        {"api": "pull", "behaviour": {"fail": 1}},
        {"api": "pull", "pull_threshold_for_queue": 10},
        {"api": "pop", "listener": "orderly"},
        {"api": "pop", "model": "broadcasting"},
        {"api": "pop", "strategy": "average-by-circle"},
        {"api": "pop", "retry_delay_level": 1},
        {"api": "pop", "consume_from": "timestamp"},
        {"client": "python", "heartbeat_v2": True},
        {"client": "go", "through": "proxy"},
        {"client": "go", "pull_retry_after": 100},
        {"behaviour": {"only": "orders-1"}},
        {"listener": "orderly", "retry_delay_level": 0},
        {"model": "broadcasting", "strategy": "average-by-circle"},
        {"model": "broadcasting", "retry_delay_level": 1},
    ],
)
def test_what_can_not_be_meant_together(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        consumer(**fields)


@pytest.mark.parametrize(
    ("fields", "rocketmq", "reason"),
    [
        ({"api": "pop"}, "5.0.0", None),
        ({"api": "pop"}, "4.9.4", "`api: pop` is what brokers of RocketMQ 4.9.4 can't do: >=5.0 can"),
        (
            {"api": "pop", "client": "java@4.9.7"},
            "5.5.0",
            "`api: pop` is what the client 4.9.7 can't do: >=5.0 can",
        ),
        ({"api": "lite-pull", "client": "java@4.9.3"}, "5.5.0", None),
        (
            {"api": "lite-pull", "client": "java@5.3.3"},
            "4.9.4",
            "DefaultLitePullConsumer 5.3.3 asks for what RocketMQ 4.9.4 doesn't have: >=5.0 does",
        ),
        ({"api": "pull", "client": "java@5.5.0"}, "4.9.3", None),
        ({"heartbeat_v2": True}, "5.1.3", None),
        ({"heartbeat_v2": True, "client": "java@5.5.0"}, "4.9.4", None),
        ({"heartbeat_v2": True}, "5.1.1", "`heartbeat_v2` is what the client 5.1.1 can't do: >=5.1.3 can"),
    ],
)
def test_which_versions_can_do_it(fields: dict[str, Any], rocketmq: str, reason: str | None) -> None:
    assert consumer(**fields).why_not_on(rocketmq) == reason


def test_what_is_stated_of_clients_is_there() -> None:
    for kind in CLIENT_KINDS.values():
        assert {kind.worker, kind.shared_worker or kind.worker} <= set(KINDS)
        for api in kind.apis.values():
            assert set(api.lacks) <= set(Consumer.model_fields)


def test_heartbeats_v2_are_a_setting() -> None:
    assert consumer(heartbeat_v2=True).properties == {"useHeartbeatV2": True}


def test_a_member_that_shares_takes_from_all_queues() -> None:
    queues = [("broker-a", 0), ("broker-a", 1)]
    assert consumer(api="pop").share(queues, ["1", "2"], "2", "orders") == tuple(queues)
    assert consumer(api="pull").share(queues, ["1", "2"], "2", "orders") == (("broker-a", 1),)


def test_class_filters_and_the_default_instance_go_to_java_alone() -> None:
    assert rare_options(consumer()) == {}
    chosen = consumer(subscribe={"orders": "*"}, filter_class="com.example.Any")
    assert rare_options(chosen) == {"filter_class": "com.example.Any"}
    shared = consumer(model="broadcasting", instance="default")
    assert rare_options(shared) == {"offsets_of_host": True}
    assert rare_options(consumer(instance="default")) == {}
    simple = consumer(client="grpc", api="simple", invisible="20s", behaviour={"change_invisible": "3s"})
    assert rare_options(simple) == {"invisible_ms": 20_000}
    assert start_options(simple)["behaviour"]["change_invisible_ms"] == 3000
    assert rare_options(consumer(client="grpc", api="simple", await_duration="5s")) == {"await_ms": 5000}
    with pytest.raises(ValidationError, match="`await_duration` needs `api: simple`"):
        consumer(client="grpc", await_duration="5s")


def test_only_a_listener_without_auto_commit_gets_what_it_commits() -> None:
    by_hand = {"auto_commit": False, "commit": "orders-4"}
    options = start_options(consumer(listener="orderly", behaviour=by_hand))
    assert options["behaviour"] == {"fail": 0, "block": (), "slow_ms": 0, **by_hand, "commit": ("orders-4",)}
    never = start_options(consumer(listener="orderly", behaviour={"auto_commit": False}))
    assert never["behaviour"]["commit"] == ()
    assert "auto_commit" not in start_options(consumer(listener="orderly"))["behaviour"]
    for api in ("lite-pull", "pull"):
        assert start_options(consumer(api=api, behaviour=by_hand))["behaviour"]["commit"] == ("orders-4",)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, ("a", "run")),
        ({"client_id": "172.17.0.2"}, ("172.17.0.2", "run")),
        ({"client_id": "172.17.0.2@1"}, ("172.17.0.2", "1")),
        ({"client_id": "127.0.0.1@8#DEFAULT"}, ("127.0.0.1", "8#DEFAULT")),
        ({"client_id": "10.0.0.1@1@unit"}, ("10.0.0.1", "1@unit")),
        ({"instance": "default"}, ("a", "DEFAULT")),
    ],
)
def test_client_ids_are_as_in_production(fields: dict[str, Any], text: tuple[str, str]) -> None:
    chosen = consumer(**fields)
    assert chosen.client_id_in("a", "run") == text
    assert chosen.needs_own_process is (text[1] not in ("run", "DEFAULT"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"filter_class": "com.example.Any"}, "it subscribes to `\\*`"),
        ({"instance": "default", "client_id": "10.0.0.1@8"}, "leave out `instance`"),
        ({"client": "python", "client_id": "10.0.0.1@8"}, "client_id: 10.0.0.1@8"),
        ({"client": "python", "settings": {"consumeTimeout": 1}}, "settings"),
        ({"threads": 2, "settings": {"consumeThreadMax": 1}}, "says `consumeThreadMax`"),
        ({"client_id": "@8"}, "a client id is an address"),
        ({"client_id": "a\nb"}, "a client id is an address"),
        ({"beside": "a", "process": "own"}, "can't be `beside`"),
        ({"client": "grpc", "pull_interval": "3s"}, "pull_interval"),
        ({"api": "lite-pull", "pull_retry_after": "3s"}, "pull_retry_after"),
    ],
    ids=str,
)
def test_what_can_not_be_meant_together_is_reported(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        consumer(**fields)


def test_settings_by_rocketmqs_names_are_given_as_they_stand() -> None:
    chosen = consumer(threads=2, settings={"consumeTimeout": 1, "consumeTimestamp": "20260101000000"})
    assert chosen.properties == {
        "consumeThreadMin": 2,
        "consumeThreadMax": 2,
        "consumeTimeout": 1,
        "consumeTimestamp": "20260101000000",
    }
    newer = consumer(settings={"pullBatchSizeInBytes": 1000})
    assert newer.why_not_on("5.0.0") is None
    assert "what the client 4.9.4 can't have: >=5.0 can" in str(newer.why_not_on("4.9.4"))
