"""A run that is held open after its last step, so that others can look at the cluster as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext


@dataclass(frozen=True, slots=True)
class Held:
    """Where to look, by RocketMQ's own names; `held.json` in the run's folder while it is held."""

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


Hold = Callable[[Held], None]
"""Returns when the run is to go on."""


def held(context: RunContext) -> Held:
    """What the run shows now."""
    scenario, proxy = context.scenario, context.servers.cluster.proxy
    return Held(
        nameserver=context.servers.cluster.nameserver,
        groups={group: context.names.real(group) for group in scenario.groups},
        topics={topic: context.names.real(topic) for topic in scenario.topics},
        clients={
            name: consumer.client_id for name, consumer in context.consumers.items() if consumer.started
        },
        proxy="" if proxy is None else proxy.remoting_address,
    )
