"""The two timing profiles: RocketMQ's own timers, and the same mechanisms in seconds.

What can be set, where, and to what it defaults was read in RocketMQ 4.9.4 and 5.3.3: `BrokerConfig`,
`ClientConfig`, `RebalanceService`. What has no knob (the 5 s loop of `PullRequestHoldService` with long
polling, the first persist of offsets after 10 s, the 120 s expiry of channels before 5.1.0) stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from rocketchaos.harness.rocketmq.client_kinds import ApiName
from rocketchaos.harness.rocketmq.version_range import VersionRange, contains


@dataclass(frozen=True, slots=True)
class TimingProfile:
    """Settings of brokers and Java clients that decide how long things take."""

    name: str
    broker: Mapping[str, str]
    """Lines of broker.conf."""
    client_system_properties: Mapping[str, str]
    """JVM system properties of Java clients."""
    client_settings: Mapping[str, int]
    """Properties of every consumer (`ClientConfig`, 4.9.4), named as there, set before its start; milliseconds."""
    api_settings: Mapping[ApiName, Mapping[str, int]] = field(default_factory=lambda: MappingProxyType({}))
    """More properties, for consumers of one way of consuming."""
    settings_since: Mapping[str, VersionRange] = field(default_factory=lambda: MappingProxyType({}))
    """The versions of the client that have a setting, where not all of them do; the others do without it."""
    proxy: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Entries of rmq-proxy.json (`ProxyConfig`, 5.3.3); milliseconds."""
    controller: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Lines of namesrv.conf and of broker.conf where there is a controller (`ControllerConfig`, `BrokerConfig`,
    5.0.0 to 5.3.3)."""

    def settings_of(self, api: ApiName, version: str) -> dict[str, int]:
        """A consumer's settings, by its way of consuming and the version of its client."""
        settings = {**self.client_settings, **self.api_settings.get(api, {})}
        return {
            name: value
            for name, value in settings.items()
            if contains(self.settings_since.get(name, ""), version)
        }

    def for_shared(self, version: str) -> TimingProfile:
        """The same for a cluster that runs share, whose brokers no step kills.

        From 5.0.0 on a broker compares its timer wheel with the file of it once a second, byte by byte, 37 MiB
        (`TimerFlushService` and `TimerWheel.flush`, 5.5.0). That takes a tenth or more of a processor, all the
        time. Only a broker that was killed, and is started again, reads what was flushed.
        """
        if not contains(_WITH_A_TIMER_WHEEL, version):
            return self
        return replace(self, broker={"timerFlushIntervalMs": "60000", **self.broker})


_WITH_A_TIMER_WHEEL = ">=5.0"
_AFTER_EXCEPTIONS = {"pullTimeDelayMillsWhenException": 100}

FAITHFUL = TimingProfile("faithful", {}, {}, {})

COMPRESSED = TimingProfile(
    "compressed",
    broker={
        # An empty pull is answered after 0.1 s instead of 15-20 s; arrivals don't wake it.
        "longPollingEnable": "false",
        "shortPollingTimeMills": "100",
        "flushConsumerOffsetInterval": "500",
        # How soon brokers come back to a name server that was restarted; less they don't take.
        "registerNameServerPeriod": "10000",
    },
    client_system_properties={
        "rocketmq.client.rebalance.waitInterval": "1000",
        # From 5.2.0 on; RocketMQ's own is 1000.
        "rocketmq.client.rebalance.minInterval": "100",
    },
    client_settings={
        "heartbeatBrokerInterval": 1000,
        "persistConsumerOffsetInterval": 500,
        "pollNameServerInterval": 1000,
        # RocketMQ's own is 3000, in which a machine that many runs share may not answer: start() fails then.
        "mqClientApiTimeout": 10_000,
    },
    api_settings={
        "push": _AFTER_EXCEPTIONS,
        # How soon what nobody acknowledged comes again. RocketMQ's own is 60000; less than 5000 it refuses.
        "pop": {**_AFTER_EXCEPTIONS, "popInvisibleTime": 5000},
        # RocketMQ's own is 5000; less than 1000 it ignores.
        "lite-pull": {**_AFTER_EXCEPTIONS, "autoCommitIntervalMillis": 1000},
    },
    # RocketMQ 4.9.0 and 4.9.1 have 3000 as a constant.
    settings_since={"mqClientApiTimeout": ">=4.9.2"},
    proxy={
        # How long gRPC clients' receives wait. RocketMQ's own are 5 s at least and 20 s at most: arrivals wake
        # them, but not where `longPollingEnable` is off (`DefaultMessageStore.ReputMessageService`). Clients
        # get whole seconds.
        "grpcClientConsumerMinLongPollingTimeoutMillis": 1000,
        "grpcClientConsumerMaxLongPollingTimeoutMillis": 1000,
    },
    controller={
        # How often the controller looks for masters that don't send heartbeats, and brokers who their master is.
        # RocketMQ's own is 5 s for each. It sees at once that a connection is closed. How long it waits for a
        # heartbeat stays 10 s: a busy machine is no reason to elect another master.
        "scanNotActiveBrokerInterval": "1000",
        "syncBrokerMetadataPeriod": "1000",
        "checkSyncStateSetPeriod": "1000",
    },
)

PROFILES: Mapping[str, TimingProfile] = {profile.name: profile for profile in (COMPRESSED, FAITHFUL)}
"""By name; a new profile is registered here."""
