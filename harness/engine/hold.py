"""A run that is held open after its last step, so that others can look at the cluster as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketchaos.harness.cluster.base import Guarded

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext


@dataclass(frozen=True, slots=True)
class Held:
    """Addresses and names for a look from outside, in RocketMQ's own terms: `held.json` in the run's folder while
    the run is held."""

    nameserver: str
    """`host:port`, several with `;` between them."""
    groups: dict[str, str]
    """Real name by the scenario's."""
    topics: dict[str, str]
    """Real name by the scenario's."""
    clients: dict[str, str]
    """Client id by consumer, of those that have been started."""
    proxy: str = ""
    """`host:port` of the proxy for clients that speak remoting, for `diagnose --proxy`; empty: there is none."""
    access_key_file: str = ""
    """An administrator's access key, for `diagnose --access-key-file`; empty: there is no access control."""


Hold = Callable[[Held], None]
"""Waits, and returns when the run can go on."""


def held(context: RunContext) -> Held:
    """The present state of the run."""
    scenario, cluster = context.scenario, context.servers.cluster
    proxy = cluster.proxy
    key = cluster.access_key_file if isinstance(cluster, Guarded) else None
    return Held(
        nameserver=cluster.nameserver,
        groups={group: context.names.real(group) for group in scenario.groups},
        topics={topic: context.names.real(topic) for topic in scenario.topics},
        clients={
            name: consumer.client_id for name, consumer in context.consumers.items() if consumer.started
        },
        proxy="" if proxy is None else proxy.remoting_address,
        access_key_file="" if key is None else str(key),
    )
