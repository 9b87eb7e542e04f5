from __future__ import annotations

import pytest

from rocketchaos.harness.rocketmq import timers as timers_module
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from rocketchaos.harness.rocketmq.client_traits import Api, ClientKind, ClientTimer, by_api
from rocketchaos.harness.rocketmq.timers import timers_ms
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED, FAITHFUL


def test_rocketmqs_own_timers_hold_in_the_faithful_profile() -> None:
    timers = timers_ms(FAITHFUL, "4.9.4", [("java", "4.9.4")])
    known = {
        "broker.hold-pull": 15_000,
        "broker.hold-check": 5_000,
        "broker.channel-expiry": 120_000,
        "broker.flush-offsets": 5_000,
        "broker.delay-level-3": 10_000,
        "broker.delay-level-18": 7_200_000,
        "java.rebalance": 20_000,
        "java.heartbeat": 30_000,
        "java.persist-offsets": 5_000,
        "java.first-persist": 10_000,
        "java.route-poll": 30_000,
    }
    assert {name: timers.get(name) for name in known} == known
    assert not any(name.startswith(("python.", "grpc.", "proxy.")) for name in timers)


def test_the_compressed_profile_shortens_what_has_a_knob_and_nothing_else() -> None:
    timers = timers_ms(COMPRESSED, "5.5.0", [("java", "5.5.0"), ("grpc", "5.1.2"), ("python", "2.0.0")])
    known = {
        "broker.hold-pull": 100,
        "broker.hold-check": 100,
        "broker.flush-offsets": 500,
        "broker.channel-expiry": 120_000,
        "java.rebalance": 1_000,
        "java.rebalance-min": 100,
        "java.heartbeat": 1_000,
        "java.persist-offsets": 500,
        "java.first-persist": 10_000,
        "java.pop-invisible": 5_000,
        "python.rebalance": 10_000,
        "python.heartbeat": 30_000,
        "grpc.heartbeat": 10_000,
        "proxy.hold-receive": 1_000,
    }
    assert {name: timers.get(name) for name in known} == known


@pytest.mark.parametrize(
    ("version", "rebalance_min", "first_pull"),
    [("4.9.7", None, None), ("5.1.4", None, 500), ("5.2.0", 1_000, 500), ("5.5.0", 1_000, 500)],
)
def test_timers_that_newer_clients_have(
    version: str, rebalance_min: int | None, first_pull: int | None
) -> None:
    timers = timers_ms(FAITHFUL, "5.5.0", [("java", version)])
    assert (timers.get("java.rebalance-min"), timers.get("java.first-pull")) == (rebalance_min, first_pull)


def test_of_several_versions_of_a_client_the_oldest_is_reported() -> None:
    timers = timers_ms(FAITHFUL, "5.5.0", [("java", "4.9.4"), ("java", "5.5.0")])
    assert "java.rebalance-min" not in timers


def test_the_brokers_own_lines_win_over_the_profile() -> None:
    lines = {"longPollingEnable": "true", "messageDelayLevel": "2s 3m", "channelExpiredTimeout": "7000"}
    timers = timers_ms(COMPRESSED, "5.3.3", [], lines)
    assert (timers["broker.hold-pull"], timers["broker.hold-check"]) == (15_000, 5_000)
    assert (timers["broker.delay-level-1"], timers["broker.delay-level-2"]) == (2_000, 180_000)
    assert "broker.delay-level-3" not in timers
    assert timers["broker.channel-expiry"] == 7_000


def test_brokers_before_5_1_drop_channels_when_they_will() -> None:
    timers = timers_ms(FAITHFUL, "4.9.4", [], {"channelExpiredTimeout": "7000"})
    assert timers["broker.channel-expiry"] == 120_000


def test_without_long_polling_a_second_is_the_brokers_own() -> None:
    assert timers_ms(FAITHFUL, "4.9.4", [], {"longPollingEnable": "false"})["broker.hold-pull"] == 1_000


def test_a_line_that_cannot_be_read_tells_no_timer() -> None:
    lines = {"messageDelayLevel": "1s soon", "flushConsumerOffsetInterval": "5s"}
    timers = timers_ms(FAITHFUL, "4.9.4", [], lines)
    assert timers["broker.delay-level-1"] == 1_000
    assert not {"broker.delay-level-2", "broker.flush-offsets"} & set(timers)


def test_a_new_kind_of_client_has_the_timers_that_it_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    heartbeat = ClientTimer("heartbeat", 30_000, "heartbeatBrokerInterval")
    settings = ClientTimer("settings", 60_000, clients=">=2.0")
    apis = by_api(Api("push", "PushConsumer"))
    kind = ClientKind("newest", "a client of tomorrow", "java", apis, (heartbeat, settings), needs_proxy=True)
    monkeypatch.setattr(timers_module, "CLIENT_KINDS", {**CLIENT_KINDS, kind.name: kind})

    old = timers_ms(COMPRESSED, "5.5.0", [("newest", "1.0.0")])
    new = timers_ms(COMPRESSED, "5.5.0", [("newest", "2.0.0")])

    assert {name: ms for name, ms in old.items() if name.startswith("newest.")} == {"newest.heartbeat": 1_000}
    assert (new["newest.settings"], new["proxy.hold-receive"]) == (60_000, 1_000)
