"""Consumer groups that are there before anybody joins them, as clients of the proxy need it."""

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.rocketmq.properties import Value
from rocketchaos.harness.rocketmq.remoting import SUCCESS

_UPDATE_AND_CREATE_SUBSCRIPTIONGROUP = 200
_LIMIT_MS = 5_000


def create_group(
    admin: Admin,
    group: str,
    broker_addresses: Iterable[str],
    settings: Mapping[str, Value] = MappingProxyType({}),
) -> None:
    """Create a group on each of these brokers, or change it there: its SubscriptionGroupConfig.

    The proxy refuses groups that it doesn't find (`GrpcClientSettingsManager`, 5.3.3); brokers create those of
    remoting clients by themselves.

    Args:
        admin: of the cluster.
        group: its real name.
        broker_addresses: `host:port` of each master.
        settings: by RocketMQ's own names; all others are its own.

    Raises:
        EnvironmentNotReady: a broker refused it.
    """
    for address in broker_addresses:
        body = json.dumps({"groupName": group, **settings})
        answer = admin.raw(address, _UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, body, _LIMIT_MS)
        if answer.code != SUCCESS:
            raise EnvironmentNotReady(
                f"the broker at {address} refuses to create group {group}: code {answer.code}, "
                f"{answer.remark}"
            )
