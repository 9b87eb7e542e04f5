"""What the timing profiles set, by the version of the client."""

from __future__ import annotations

import pytest

from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED, FAITHFUL, TimingProfile


@pytest.mark.parametrize(
    ("version", "has_it"),
    [("4.9.0", False), ("4.9.1", False), ("4.9.2", True), ("5.0.0", True), ("5.5.0", True)],
)
def test_a_setting_is_left_out_where_the_client_lacks_it(version: str, has_it: bool) -> None:
    settings = COMPRESSED.settings_of("push", version)
    assert ("mqClientApiTimeout" in settings) is has_it
    assert settings["heartbeatBrokerInterval"] == 1000
    assert settings["pullTimeDelayMillsWhenException"] == 100


def test_rocketmq_s_own_timers_are_left_alone() -> None:
    assert FAITHFUL.settings_of("push", "5.5.0") == {}


@pytest.mark.parametrize("profile", [COMPRESSED, FAITHFUL])
def test_brokers_of_5_that_no_step_kills_flush_their_timer_wheel_rarely(profile: TimingProfile) -> None:
    assert profile.for_shared("4.9.7") == profile
    shared = profile.for_shared("5.0.0")
    assert dict(shared.broker) == {**profile.broker, "timerFlushIntervalMs": "60000"}
    assert shared.name == profile.name
