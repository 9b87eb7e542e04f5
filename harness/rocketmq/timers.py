"""RocketMQ's timers that hold in a run: what the timing profile and the brokers' lines set, else its own defaults.

Read in RocketMQ 4.9.4, 5.2.0, 5.3.3 and 5.5.0, in the C++ client 2.x that `python` rests on, in
rocketmq-python-client 5.1.2, and in rocketmq-client-go 2.1.2. A name is whose timer it is, and what it does:

=============================  ================================================================================
`broker.hold-pull`             a pull that finds nothing waits so long (`brokerSuspendMaxTimeMillis` of the
                               clients, without a knob; the Go client asks for 20 s); with
                               `longPollingEnable=false` `shortPollingTimeMills`
`broker.hold-check`            how often `PullRequestHoldService` looks for waits that are over
`broker.channel-expiry`        a channel without heartbeats is dropped (`channelExpiredTimeout` from 5.1.0 on)
`broker.channel-scan`          how often `ClientHousekeepingService` looks for such
`broker.flush-offsets`         `flushConsumerOffsetInterval`
`broker.register`              `registerNameServerPeriod`
`broker.delay-level-N`         `messageDelayLevel`; the first retry of a concurrent listener is level 3
`<client>.rebalance`           `RebalanceService`, unless it is woken: `rocketmq.client.rebalance.waitInterval`
`<client>.rebalance-min`       not sooner than that (`rocketmq.client.rebalance.minInterval`, from 5.2.0 on)
`<client>.heartbeat`           `heartbeatBrokerInterval`
`<client>.persist-offsets`     `persistConsumerOffsetInterval`
`<client>.first-persist`       before the first of those
`<client>.route-poll`          `pollNameServerInterval`
`<client>.pull-retry`          after an exception (`pullTimeDelayMillsWhenException`)
`<client>.first-pull`          between a queue's allocation and its first pull (from 5.0 on)
`java.pop-invisible`           what nobody acknowledged comes again (`popInvisibleTime`, from 5.0 on)
`java.auto-commit`             of lite pull consumers (`autoCommitIntervalMillis`)
`grpc.settings`, `.assignment` what a gRPC client asks the proxy for, again and again
`proxy.hold-receive`           a receive that finds nothing waits so long at most
                               (`grpcClientConsumerMaxLongPollingTimeoutMillis`)
=============================  ================================================================================
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from rocketchaos.harness.rocketmq.client_traits import ClientTimer
from rocketchaos.harness.rocketmq.timing_profiles import TimingProfile
from rocketchaos.harness.rocketmq.version_range import contains

DELAY_LEVELS = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
"""`MessageStoreConfig.messageDelayLevel`."""
_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_HOLD_PULL_MS, _HOLD_CHECK_MS = 15_000, 5_000
"""`BROKER_SUSPEND_MAX_TIME_MILLIS` of the Java and the C++ client; the loop of `PullRequestHoldService`."""


def timers_ms(
    profile: TimingProfile,
    rocketmq: str,
    clients: Iterable[tuple[str, str]],
    broker_configuration: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, int]:
    """The timers by name, in milliseconds.

    Args:
        profile: of the run.
        rocketmq: the servers' version.
        clients: kind and version of each client; where versions of one kind differ, the oldest one's are given.
        broker_configuration: lines of broker.conf that win over the profile's.
    """
    kinds = dict(
        sorted(clients, key=lambda client: tuple(map(int, re.findall(r"\d+", client[1]))), reverse=True)
    )
    timers = _of_brokers({**profile.broker, **broker_configuration}, rocketmq)
    for kind, version in sorted(kinds.items()):
        own = (timer for timer in CLIENT_KINDS[kind].timers if contains(timer.clients, version))
        timers |= {f"{kind}.{timer.name}": _of_client(timer, profile) for timer in own}
    if any(CLIENT_KINDS[kind].needs_proxy for kind in kinds):
        name = "grpcClientConsumerMaxLongPollingTimeoutMillis"
        timers["proxy.hold-receive"] = profile.proxy.get(name, 20_000)
    return timers


def _of_brokers(settings: Mapping[str, str], rocketmq: str) -> dict[str, int]:
    """What the lines of broker.conf say; one that can't be read keeps brokers from starting, and is left out."""

    def configured_ms(name: str, default: int) -> int | None:
        return _whole_number(settings.get(name, str(default)))

    short = configured_ms("shortPollingTimeMills", 1_000)
    long_polling = settings.get("longPollingEnable", "true") == "true"
    levels = settings.get("messageDelayLevel", DELAY_LEVELS).split()
    timers = {
        "hold-pull": _HOLD_PULL_MS if long_polling else short,
        "hold-check": _HOLD_CHECK_MS if long_polling else short,
        "channel-expiry": configured_ms("channelExpiredTimeout", 120_000)
        if contains(">=5.1", rocketmq)
        else 120_000,
        "channel-scan": 10_000,
        "flush-offsets": configured_ms("flushConsumerOffsetInterval", 5_000),
        "register": configured_ms("registerNameServerPeriod", 30_000),
        **{f"delay-level-{number}": _delay_ms(level) for number, level in enumerate(levels, start=1)},
    }
    return {f"broker.{name}": value for name, value in timers.items() if value is not None}


def _whole_number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _delay_ms(level: str) -> int | None:
    count, unit = _whole_number(level[:-1]), _UNITS_MS.get(level[-1:])
    return None if count is None or unit is None else count * unit


def _of_client(timer: ClientTimer, profile: TimingProfile) -> int:
    settings = profile.client_settings if timer.api is None else profile.api_settings.get(timer.api, {})
    set_to: Mapping[str, str | int] = {**profile.client_system_properties, **settings}
    return int(set_to.get(timer.property, timer.default_ms))
